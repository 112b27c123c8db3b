import { rmSync } from 'node:fs'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import type { Category, SeriesInfo } from '../connector.ts'
import { ConnectorError } from '../errors.ts'
import type { ConnectorEvent } from '../options.ts'

export interface FoundSeries extends SeriesInfo {
  readonly provider: string
}

export interface FoundCategory extends Category {
  readonly provider: string
}

export interface Found {
  /** How many there are; null if there are more than were looked through. */
  readonly total: number | null
  readonly series: readonly FoundSeries[]
  readonly categories: readonly FoundCategory[]
}

type Kind = 'series' | 'category'

interface Entry {
  readonly key: string
  readonly name: string
  readonly about: string
  readonly details: string
}

/**
 * The table of words of a kind. Each kind has its own: a word for the kind would be in every entry, and every query
 * would read all of them.
 */
function wordsTable(kind: Kind): string {
  return `CREATE VIRTUAL TABLE words_${kind} USING fts5 (
    name, key, about, provider, content='entries', content_rowid='id', prefix='2 3',
    tokenize='unicode61 remove_diacritics 2'
  );`
}

/** Increased whenever the tables change. The old content is then dropped and found again as it is browsed. */
const SCHEMA_VERSION = 2

const SCHEMA = `
  DROP TABLE IF EXISTS words_series;
  DROP TABLE IF EXISTS words_category;
  DROP TABLE IF EXISTS entries;
  DROP TABLE IF EXISTS catalogued;
  DROP TABLE IF EXISTS providers;
  CREATE TABLE providers (number INTEGER PRIMARY KEY, slug TEXT NOT NULL UNIQUE);
  CREATE TABLE entries (
    id INTEGER PRIMARY KEY, provider TEXT NOT NULL, kind TEXT NOT NULL, key TEXT NOT NULL,
    name TEXT NOT NULL COLLATE NOCASE, about TEXT NOT NULL, details TEXT NOT NULL, UNIQUE (provider, kind, key)
  );
  CREATE INDEX entries_by_key ON entries (key COLLATE NOCASE);
  CREATE INDEX entries_by_name ON entries (kind, name);
  ${wordsTable('series')}
  ${wordsTable('category')}
  CREATE TABLE catalogued (provider TEXT PRIMARY KEY, at INTEGER NOT NULL);
  PRAGMA user_version = ${SCHEMA_VERSION};
`

/**
 * The ids of one provider are in one range, because FTS5 can go straight to a range of ids in the list of each word. If
 * the slug were one more word, it would be in all the provider's entries, and every query would read them all.
 */
const IDS_PER_PROVIDER = 2 ** 32

/**
 * How many matches are compared with each other. Without this limit, a word that is in half of all series would make
 * the query read all of them.
 */
const CANDIDATES = 500
/** How far a client may page, since each page compares all matches up to its end. */
const MOST_MATCHES = 2000
/** Rows written without a break. A break after them lets other requests run. */
const BATCH = 250
/** Characters of a description that are indexed. */
const LONGEST_ABOUT = 300

/**
 * An index of everything that can be found without asking a provider: the categories, dataflows and series seen so far,
 * by their words (FTS5). It is a cache and may be deleted; several processes may use one file.
 */
export class SearchIndex {
  readonly #database: DatabaseSync
  readonly #ranges = new Map<string, Range>()
  readonly #known: StatementSync
  readonly #insert: StatementSync
  readonly #update: StatementSync
  readonly #words: Readonly<Record<Kind, Words>>
  readonly #byKey: StatementSync
  readonly #byName: StatementSync
  #isOpen = true

  /** `:memory:` stands for an index that ends with the process. */
  constructor(file: string) {
    const database = new DatabaseSync(file)
    try {
      database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA busy_timeout = 5000')
      createTables(database)
    } catch (error) {
      database.close()
      throw error
    }
    this.#database = database
    this.#known = database.prepare(
      'SELECT id, name, about, details FROM entries WHERE provider = ? AND kind = ? AND key = ?',
    )
    this.#insert = database.prepare(
      `INSERT INTO entries (id, provider, kind, key, name, about, details)
       SELECT coalesce(max(id), ?) + 1, ?, ?, ?, ?, ?, ? FROM entries WHERE id BETWEEN ? AND ?`,
    )
    this.#update = database.prepare('UPDATE entries SET name = ?, about = ?, details = ? WHERE id = ?')
    this.#words = { series: new Words(database, 'series'), category: new Words(database, 'category') }
    // The plus keeps the planner from using the index of names, where half of all entries are of one kind.
    this.#byKey = database.prepare(`${ROW} WHERE key = ? COLLATE NOCASE AND +kind = ?`)
    this.#byName = database.prepare(`${ROW} WHERE kind = ? AND name >= ? AND name < ? LIMIT ?`)
  }

  isCatalogued(provider: string): boolean {
    return this.#database.prepare('SELECT 1 FROM catalogued WHERE provider = ?').get(provider) !== undefined
  }

  setCatalogued(provider: string): void {
    this.#database.prepare('INSERT OR REPLACE INTO catalogued VALUES (?, ?)').run(provider, Date.now())
  }

  addSeries(provider: string, series: readonly SeriesInfo[]): Promise<void> {
    return this.#add(
      provider,
      'series',
      series.map(({ series_id, name, ...details }) => ({
        key: series_id,
        name,
        about: '',
        details: JSON.stringify(details),
      })),
    )
  }

  addCategories(provider: string, categories: readonly Category[]): Promise<void> {
    return this.#add(
      provider,
      'category',
      categories.map(({ path, name, description, series }) => ({
        key: path,
        name,
        about: description.slice(0, LONGEST_ABOUT),
        details: JSON.stringify({ series }),
      })),
    )
  }

  /**
   * Entries that contain all words of the question, of which the last may be unfinished. Best first. Throws
   * `invalid_option` beyond the first matches, which are the only ones looked through.
   */
  search(
    question: string,
    { limit, offset }: { readonly limit: number; readonly offset: number },
    provider?: string,
  ): Found {
    if (offset + limit > MOST_MATCHES) {
      const sentence = `A search gives the first ${MOST_MATCHES} matches: offset and limit together must not be more. Search for more words instead.`
      throw new ConnectorError('invalid_option', sentence)
    }
    const series = this.#find(question, 'series', provider, offset + limit)
    const categories = this.#find(question, 'category', provider, limit)
    return {
      total: series.isAll ? series.rows.length : null,
      series: series.rows.slice(offset, offset + limit).map((row) => ({
        provider: row.provider,
        series_id: row.key,
        name: row.name,
        ...(JSON.parse(row.details) as Omit<SeriesInfo, 'series_id' | 'name'>),
      })),
      categories: categories.rows.slice(0, limit).map((row) => ({
        provider: row.provider,
        path: row.key,
        name: row.name,
        description: row.about,
        ...(JSON.parse(row.details) as { series: boolean }),
      })),
    }
  }

  close(): void {
    this.#isOpen = false
    this.#database.close()
  }

  async #add(provider: string, kind: Kind, entries: readonly Entry[]): Promise<void> {
    for (let from = 0; from < entries.length && this.#isOpen; from += BATCH) {
      this.#database.exec('BEGIN IMMEDIATE')
      try {
        for (const entry of entries.slice(from, from + BATCH)) this.#put(provider, kind, entry)
        this.#database.exec('COMMIT')
      } catch (error) {
        this.#database.exec('ROLLBACK')
        throw error
      }
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  #put(provider: string, kind: Kind, { key, name, about, details }: Entry): void {
    const known = this.#known.get(provider, kind, key) as ({ id: number } & Omit<Entry, 'key'>) | undefined
    if (known?.name === name && known.about === about && known.details === details) return
    if (known === undefined) {
      const { first, last } = this.#rangeOf(provider)
      const entry = [provider, kind, key, name, about, details]
      const { lastInsertRowid: id } = this.#insert.run(first, ...entry, first, last)
      this.#words[kind].add(id, [name, key, about, provider])
      return
    }
    this.#words[kind].drop(known.id, [known.name, key, known.about, provider])
    this.#update.run(name, about, details, known.id)
    this.#words[kind].add(known.id, [name, key, about, provider])
  }

  /** The range of ids of a provider, which gets its number when the first of its entries is added. */
  #rangeOf(provider: string): Range {
    const known = this.#ranges.get(provider)
    if (known !== undefined) return known
    this.#database.prepare('INSERT OR IGNORE INTO providers (slug) VALUES (?)').run(provider)
    const row = this.#database.prepare('SELECT number FROM providers WHERE slug = ?').get(provider)
    const first = Number(row?.['number']) * IDS_PER_PROVIDER
    const range = { first, last: first + IDS_PER_PROVIDER - 1 }
    this.#ranges.set(provider, range)
    return range
  }

  #find(
    question: string,
    kind: Kind,
    provider: string | undefined,
    wanted: number,
  ): { rows: readonly Row[]; isAll: boolean } {
    const words = wordsOf(question)
    if (words.length === 0) return { rows: [], isAll: true }
    const most = Math.max(CANDIDATES, wanted)
    const range = provider === undefined ? EVERYTHING : this.#rangeOf(provider)
    const all = this.#words[kind].matching(words, range, most + 1)
    const isAll = all.length <= most
    const asked = question.trim()
    const isOurs = (row: Row) => provider === undefined || row.provider === provider
    // Among too many matches, entries whose name begins with the question or whose id is the question must not be lost.
    const begins = isAll ? [] : rowsOf(this.#byName.all(kind, asked, `${asked}\u{10FFFF}`, CANDIDATES))
    const first = [...rowsOf(this.#byKey.all(asked, kind)), ...begins].filter(isOurs)
    const rows = new Map([...first, ...all.slice(0, most)].map((row) => [row.id, row]))
    return { rows: ranked([...rows.values()], question, words), isAll }
  }
}

interface Range {
  readonly first: number
  readonly last: number
}

const EVERYTHING: Range = { first: 0, last: Number.MAX_SAFE_INTEGER }

/** Creates the tables in one transaction, since another process may open the same file. */
function createTables(database: DatabaseSync): void {
  const isCurrent = () => database.prepare('PRAGMA user_version').get()?.['user_version'] === SCHEMA_VERSION
  if (isCurrent()) return
  database.exec('BEGIN IMMEDIATE')
  if (!isCurrent()) database.exec(SCHEMA)
  database.exec('COMMIT')
}

const ROW = 'SELECT id, provider, key, name, about, details FROM entries'

/** The indexed words of all entries of one kind. */
class Words {
  readonly #add: StatementSync
  readonly #drop: StatementSync
  readonly #matching: StatementSync

  constructor(database: DatabaseSync, kind: Kind) {
    const table = `words_${kind}`
    const columns = 'rowid, name, key, about, provider'
    this.#add = database.prepare(`INSERT INTO ${table} (${columns}) VALUES (?, ?, ?, ?, ?)`)
    // How FTS5 deletes an entry from a table that keeps no copy of its text (section 4.4.3 of its documentation).
    this.#drop = database.prepare(
      `INSERT INTO ${table} (${table}, ${columns}) VALUES ('delete', ?, ?, ?, ?, ?)`,
    )
    // CROSS JOIN keeps the planner from reading all entries to find the few that match.
    this.#matching = database.prepare(
      `SELECT id, provider, key, name, about, details
       FROM (SELECT rowid AS found FROM ${table} WHERE ${table} MATCH ? AND rowid BETWEEN ? AND ? LIMIT ?)
       CROSS JOIN entries ON id = found`,
    )
  }

  add(id: number | bigint, words: readonly string[]): void {
    this.#add.run(id, ...words)
  }

  drop(id: number, words: readonly string[]): void {
    this.#drop.run(id, ...words)
  }

  /** Entries with all the words; if there are few, also entries with a word that begins with the last one. */
  matching(words: readonly string[], { first, last: end }: Range, most: number): readonly Row[] {
    const find = (all: readonly string[], limit: number) =>
      // FTS5 uses only integers as bounds of a range, and Node binds numbers beyond 2^31 as doubles unless they are
      // BigInts.
      rowsOf(this.#matching.all(all.join(' AND '), BigInt(first), BigInt(end), limit))
    const before = words.slice(0, -1).map((word) => `"${word}"`)
    const last = words.at(-1)!
    const whole = find([...before, `"${last}"`], most)
    if (whole.length >= most || last.length < 2) return whole
    // For a prefix, FTS5 first merges the lists of all words that begin with it, which takes long if they are frequent.
    if (before.length > 0 && whole.length === 0 && find(before, 1).length === 0) return []
    return find([...before, `"${last}"*`], most)
  }
}

function rowsOf(rows: readonly unknown[]): readonly Row[] {
  return rows as readonly Row[]
}

interface Row extends Entry {
  readonly id: number
  readonly provider: string
}

function wordsOf(question: string): readonly string[] {
  return question.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
}

/**
 * First the entry whose id equals the question, then names that equal it, begin with it, contain all words. Among
 * equals the shorter name comes first, since it has the fewest other words.
 */
function ranked(rows: readonly Row[], question: string, words: readonly string[]): readonly Row[] {
  const asked = question.trim().toLowerCase()
  const score = ({ key, name }: Row) => {
    const lower = name.toLowerCase()
    if (key.toLowerCase() === asked) return 0
    if (lower === asked) return 1
    if (lower.startsWith(asked)) return 2
    return words.every((word) => lower.includes(word)) ? 3 : 4
  }
  return rows
    .map((row) => ({ row, score: score(row) }))
    .sort(
      (a, b) =>
        a.score - b.score || a.row.name.length - b.row.name.length || (a.row.key < b.row.key ? -1 : 1),
    )
    .map(({ row }) => row)
}

/** SQLite's CORRUPT and NOTADB (https://sqlite.org/rescode.html). */
const DAMAGED: readonly unknown[] = [11, 26]
/** A database and what SQLite keeps beside it. */
const FILES = ['', '-wal', '-shm']

/**
 * Opens the index in a file. It is a cache, so nobody who asks a provider notices that something is wrong with it: an
 * empty file takes the place of a damaged one, and where there is no place for a file, the index is in memory.
 */
export function openSearchIndex(file: string, log: (event: ConnectorEvent) => void): SearchIndex {
  const tell = (message: string, cause: unknown) => log({ level: 'warn', provider: 'all', message, cause })
  try {
    return openAnew(file, tell)
  } catch (cause) {
    tell(`The search index ${file} can't be opened, so it is in memory until the process ends.`, cause)
    return new SearchIndex(':memory:')
  }
}

function openAnew(file: string, tell: (message: string, cause: unknown) => void): SearchIndex {
  try {
    return new SearchIndex(file)
  } catch (cause) {
    if (!DAMAGED.includes((cause as { errcode?: number }).errcode)) throw cause
    tell(`The search index ${file} is damaged, so it begins anew.`, cause)
    for (const ending of FILES) rmSync(file + ending, { force: true })
    return new SearchIndex(file)
  }
}

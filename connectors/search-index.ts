import { rmSync } from 'node:fs'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import type { Category, Page, SeriesInfo } from './connector.ts'
import { invalid } from './errors.ts'
import type { ConnectorEvent } from './options.ts'

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

interface Entry {
  readonly key: string
  readonly name: string
  readonly about: string
  readonly details: string
}

interface Row extends Entry {
  readonly id: number
  readonly provider: string
}

type Kind = 'series' | 'category'

/**
 * The entries of a kind and the table of their words, which the triggers keep up to date. How FTS5 deletes an entry from
 * a table that keeps no copy of its text: section 4.4.3 of its documentation. Each kind has its own tables: a word for
 * the kind would be in every entry, and every query would read all of them.
 */
function tablesOf(kind: Kind): string {
  const words = `words_${kind}`
  const columns = ['name', 'key', 'about', 'provider']
  const add = `INSERT INTO ${words} (rowid, ${columns}) VALUES (new.id, ${columns.map((each) => `new.${each}`)});`
  const drop = `INSERT INTO ${words} (${words}, rowid, ${columns})
    VALUES ('delete', old.id, ${columns.map((each) => `old.${each}`)});`
  return `
    CREATE TABLE ${kind} (
      id INTEGER PRIMARY KEY, provider TEXT NOT NULL, key TEXT NOT NULL, name TEXT NOT NULL COLLATE NOCASE,
      about TEXT NOT NULL, details TEXT NOT NULL, UNIQUE (provider, key)
    );
    CREATE INDEX ${kind}_by_key ON ${kind} (key COLLATE NOCASE);
    CREATE INDEX ${kind}_by_name ON ${kind} (name);
    CREATE VIRTUAL TABLE ${words} USING fts5 (
      ${columns}, content='${kind}', content_rowid='id', prefix='2 3', tokenize='unicode61 remove_diacritics 2'
    );
    CREATE TRIGGER ${kind}_added AFTER INSERT ON ${kind} BEGIN ${add} END;
    CREATE TRIGGER ${kind}_changed AFTER UPDATE ON ${kind} BEGIN ${drop} ${add} END;
  `
}

/** Increased whenever the tables change. The old content is then dropped and found again as it is browsed. */
const SCHEMA_VERSION = 3
/** Those of earlier versions as well. */
const TABLES = ['words_series', 'words_category', 'series', 'category', 'providers', 'entries', 'catalogued']

const SCHEMA = `
  ${TABLES.map((each) => `DROP TABLE IF EXISTS ${each};`).join(' ')}
  CREATE TABLE providers (number INTEGER PRIMARY KEY, slug TEXT NOT NULL UNIQUE, is_catalogued INTEGER NOT NULL DEFAULT 0);
  ${tablesOf('series')}
  ${tablesOf('category')}
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
  readonly #series: Entries
  readonly #categories: Entries
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
    this.#series = new Entries(database, 'series')
    this.#categories = new Entries(database, 'category')
  }

  isCatalogued(provider: string): boolean {
    const known = this.#database.prepare('SELECT 1 FROM providers WHERE slug = ? AND is_catalogued')
    return known.get(provider) !== undefined
  }

  setCatalogued(provider: string): void {
    this.#rangeOf(provider)
    this.#database.prepare('UPDATE providers SET is_catalogued = 1 WHERE slug = ?').run(provider)
  }

  addSeries(provider: string, series: readonly SeriesInfo[]): Promise<void> {
    const entries = series.map(({ series_id, name, ...details }) => {
      return { key: series_id, name, about: '', details: JSON.stringify(details) }
    })
    return this.#add(this.#series, provider, entries)
  }

  addCategories(provider: string, categories: readonly Category[]): Promise<void> {
    const entries = categories.map(({ path, name, description, series }) => {
      const about = description.slice(0, LONGEST_ABOUT)
      return { key: path, name, about, details: JSON.stringify({ series }) }
    })
    return this.#add(this.#categories, provider, entries)
  }

  /**
   * Entries that contain all words of the question, of which the last may be unfinished. Best first. Throws
   * `invalid_option` beyond the first matches, which are the only ones looked through.
   */
  search(question: string, { limit, offset }: Page, provider?: string): Found {
    if (offset + limit > MOST_MATCHES) {
      throw invalid(
        `A search gives the first ${MOST_MATCHES} matches: offset and limit together must not be more. Search for more words instead.`,
      )
    }
    const range = provider === undefined ? EVERYTHING : this.#rangeOf(provider)
    const series = this.#series.find(question, range, offset + limit)
    const categories = this.#categories.find(question, range, limit)
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

  async #add(to: Entries, provider: string, entries: readonly Entry[]): Promise<void> {
    for (let from = 0; from < entries.length && this.#isOpen; from += BATCH) {
      this.#database.exec('BEGIN IMMEDIATE')
      try {
        const range = this.#rangeOf(provider)
        for (const entry of entries.slice(from, from + BATCH)) to.put(provider, range, entry)
        this.#database.exec('COMMIT')
      } catch (error) {
        this.#database.exec('ROLLBACK')
        throw error
      }
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  /** The range of ids of a provider, which gets its number when it is first asked for. */
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

/** All entries of one kind, with their words. */
class Entries {
  readonly #put: StatementSync
  readonly #matching: StatementSync
  readonly #byKey: StatementSync
  readonly #byName: StatementSync

  constructor(database: DatabaseSync, kind: Kind) {
    const row = 'SELECT id, provider, key, name, about, details'
    this.#put = database.prepare(
      `INSERT INTO ${kind} (id, provider, key, name, about, details)
       SELECT coalesce(max(id), :first) + 1, :provider, :key, :name, :about, :details
       FROM ${kind} WHERE id BETWEEN :first AND :last
       ON CONFLICT (provider, key) DO UPDATE SET name = :name, about = :about, details = :details
       WHERE (name COLLATE BINARY, about, details) <> (:name, :about, :details)`,
    )
    // CROSS JOIN keeps the planner from reading all entries to find the few that match.
    this.#matching = database.prepare(
      `${row} FROM (SELECT rowid AS found FROM words_${kind} WHERE words_${kind} MATCH ? AND rowid BETWEEN ? AND ? LIMIT ?)
       CROSS JOIN ${kind} ON id = found`,
    )
    this.#byKey = database.prepare(`${row} FROM ${kind} WHERE key = ? COLLATE NOCASE`)
    this.#byName = database.prepare(`${row} FROM ${kind} WHERE name >= ? AND name < ? LIMIT ?`)
  }

  /** Adds an entry, or changes the one with its key. */
  put(provider: string, { first, last }: Range, { key, name, about, details }: Entry): void {
    this.#put.run({ first, last, provider, key, name, about, details })
  }

  find(question: string, range: Range, wanted: number): { rows: readonly Row[]; isAll: boolean } {
    const words = wordsOf(question)
    if (words.length === 0) return { rows: [], isAll: true }
    const most = Math.max(CANDIDATES, wanted)
    const all = this.#withWords(words, range, most + 1)
    const isAll = all.length <= most
    const asked = question.trim()
    const isOurs = ({ id }: Row) => id >= range.first && id <= range.last
    // Among too many matches, entries whose name begins with the question or whose id is the question must not be lost.
    const begins = isAll ? [] : rowsOf(this.#byName.all(asked, `${asked}\u{10FFFF}`, CANDIDATES))
    const first = [...rowsOf(this.#byKey.all(asked)), ...begins].filter(isOurs)
    const rows = new Map([...first, ...all.slice(0, most)].map((row) => [row.id, row]))
    return { rows: ranked([...rows.values()], question, words), isAll }
  }

  /** Entries with all the words; if there are few, also entries with a word that begins with the last one. */
  #withWords(words: readonly string[], { first, last: end }: Range, most: number): readonly Row[] {
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

function wordsOf(question: string): readonly string[] {
  return (
    question
      .normalize('NFC')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  )
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

import { createHash, randomUUID } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { PastVersion } from '../catalog/history.ts'
import type { DatasetRecord, QueryDefinition, SavedQuery } from '../catalog/records.ts'
import type { HttpOptions } from '../duckdb/instance.ts'
import { EngineError } from '../errors.ts'
import type { ReadersOptions } from '../ingest/process/reader-pool.ts'
import type { Counts } from '../plan/counts.ts'
import type { Plan, QueryOptions } from '../plan/plan.ts'
import { LIGHT_ROWS } from '../plan/statements.ts'
import { Query } from '../query.ts'
import type { Snapshot } from '../snapshot.ts'
import { Lazy } from '../util/shared.ts'
import { type Checked, checkTree, type TableReference } from './check.ts'
import {
  type Described,
  describe,
  type StatementSql,
  statementRelation,
  statementSource,
} from './described.ts'
import { explainer, sqlError } from './errors.ts'
import { growthOf, mergedGroups, readOf, refreshOf, shapeOf, unmergeable, VOLATILE } from './growth.ts'
import type { TreeNode } from './nodes.ts'
import { SqlParser } from './parser.ts'
import type { DescribedColumn } from './process/jobs.ts'
import { sqlExecutor } from './process/sql-executor.ts'
import { type Borrower, type Lend, SqlPool, type StatementStats } from './process/sql-pool.ts'
import { holdConstants, SqlParameters, type SqlValues, withConstants } from './rewrite.ts'
import {
  checkDefinition,
  MOST_DEPTH,
  type ReadRows,
  type Refreshed,
  type RefreshOptions,
  type SavedOptions,
  type SavedStatement,
  type StatementRows,
  savedStatement,
  unreadableTable,
} from './saved.ts'
import { Session, SqlReading, type SqlReadingContext } from './sql-reading.ts'
import { findTables, type NamedTable, pastOf, rewriteTables, type SqlTable } from './tables.ts'
import { tablesIn, withQuotes } from './unquoted.ts'

export interface SqlOptions extends QueryOptions, Pick<SavedOptions, 'signal' | 'by' | 'mayRead'> {
  /**
   * Lists the datasets that may be read; by default all. It is called when the statement has been read and again before
   * its rows are, in case a right was taken meanwhile.
   */
  readonly tables?: () => Promise<readonly SqlTable[]>
}

export interface SqlContext {
  readonly readers: ReadersOptions
  /** The longest wait for a process, in milliseconds. */
  readonly wait: number | undefined
  /** How the processes read parts by ranges; undefined if they can't. */
  readonly http: () => Promise<HttpOptions | undefined>
  readonly counts: Counts
  readonly tables: () => Promise<readonly SqlTable[]>
  readonly record: (id: number) => Promise<DatasetRecord>
  readonly saved: (id: number) => Promise<SavedQuery | undefined>
  /** Whether an account may read repositories. */
  readonly mayRead: (by: string, repositoryIds: ReadonlySet<number>) => Promise<boolean>
  readonly snapshot: (id: number, past: PastVersion | undefined, reading: SavedOptions) => Promise<Snapshot>
}

/** Finds the datasets that a statement names, and whether they may be read. It is called again before rows are read. */
type Resolve = (references: readonly TableReference[]) => Promise<readonly NamedTable[]>

export type DefineOptions = Pick<SqlOptions, 'signal' | 'tables' | 'by'>

/** Is thrown where rows were not only appended. */
const CHANGED = Symbol('changed')

interface RowsOptions extends SavedOptions, Borrower {
  readonly values?: SqlValues | undefined
  /** Whether the text is another one each time. */
  readonly volatile?: boolean
  /** Of the last table, only rows are read that were appended since. */
  readonly since?: ReadRows
}

/** What a statement names, and how it was read. */
interface Found {
  readonly named: readonly NamedTable[]
  readonly snapshots: readonly Snapshot[]
  readonly resolve: Resolve
  readonly options: RowsOptions
}

/** Users' SQL: one SELECT over datasets, read and run in processes of its own. */
export class Sql {
  readonly #context: SqlContext
  readonly #pool: Lazy<SqlPool>
  readonly #parser = new SqlParser()
  readonly #described = new LRUCache<string, Described>({ max: 1_000 })

  constructor(context: SqlContext) {
    this.#context = context
    this.#pool = new Lazy(async () => {
      const { readers, wait } = context
      return new SqlPool({ ...readers, wait, http: await context.http() })
    })
  }

  /**
   * A statement as a query.
   * @throws EngineError `invalid_sql`, `sql_not_allowed`, `unknown_table`, `version_gone`, `overloaded`, `cancelled`
   */
  async query(
    text: string,
    values: SqlValues | undefined,
    { signal, by, tables = this.#context.tables, mayRead = readableAmong(tables), ...options }: SqlOptions,
  ): Promise<Query> {
    const resolve: Resolve = async (references) => findTables(references, await tables())
    return openQuery(await this.#rows(text, resolve, { values, signal, by, mayRead }), options)
  }

  /**
   * A query that is saved elsewhere than in a dataset, and for whose rows nobody waits.
   * @throws EngineError as `query` does, `saved_query`
   */
  async run(saved: SavedQuery, { signal, last, ...background }: RefreshOptions = {}): Promise<Refreshed> {
    const mayRead = (datasetIds: readonly number[]) => this.#mayRead(saved, datasetIds)
    const options = { signal, by: saved.by, mayRead, background }
    const grown = last ? await this.#grown(saved, last, options) : 'there are no rows of a last time'
    if (typeof grown !== 'string') return grown
    const rows = await this.#savedRows(saved, options)
    const because = (rows.read === undefined && rows.refresh?.because) || grown
    return { query: openQuery(rows, {}), isAdded: false, because, read: rows.read }
  }

  /** The rows of a saved query by what was appended since the last time; or why they must be read as a whole. */
  async #grown(
    saved: SavedQuery,
    { read: since, into }: NonNullable<RefreshOptions['last']>,
    options: RowsOptions,
  ): Promise<Refreshed | string> {
    const { sql, volatile } = await this.#statementOf(saved)
    const tree = await this.#parser.parse(sql, this.#lend(options), options.signal)
    const growth = volatile ? VOLATILE : growthOf(checkTree(tree, new SqlParameters(undefined)))
    if ('because' in growth) return growth.because
    let rows: StatementRows | undefined
    try {
      rows = await this.#savedRows(saved, { ...options, since })
      if (growth.adds === 'groups') {
        const { stored } = rows
        rows[Symbol.dispose]()
        const wrong = unmergeable(growth.merges, stored)
        if (wrong) return wrong
        const ids = [into.id, ...saved.tables]
        const text = mergedGroups(`dataset_${into.id}`, into.columns, growth.merges, sql)
        const resolve: Resolve = async () => {
          await this.requireReadable(saved)
          return ids.map((id) => ({ id, past: undefined }))
        }
        rows = await this.#rows(text, resolve, { ...options, depth: 1, since })
      }
    } catch (error) {
      if (error === CHANGED) return 'rows of its table were changed, and not only appended'
      throw error
    }
    const { columns, read } = rows
    if (shapeOf(columns) === shapeOf(into.columns))
      return { query: openQuery(rows, {}), isAdded: growth.adds === 'rows', because: null, read }
    rows[Symbol.dispose]()
    return 'it has other columns than the last time'
  }

  /**
   * The rows of a saved query, read with the rights of who saved it; undefined for a dataset with rows of its own.
   * @throws EngineError as `query` does, `saved_query`
   */
  async saved(id: number, options: SavedOptions): Promise<StatementRows | undefined> {
    const saved = await this.#context.saved(id)
    return saved && this.#savedRows(saved, options)
  }

  /**
   * A query that is to be saved, with its columns.
   * @param by who saves it, as the engine's caller names accounts
   * @throws EngineError as `query` does, `saved_query`, `invalid_option`
   */
  async define(
    given: QueryDefinition,
    { signal, tables = this.#context.tables, by }: DefineOptions,
  ): Promise<Pick<StatementRows, 'columns' | 'volatile'> & { readonly saved: SavedQuery }> {
    checkDefinition(given)
    const resolve: Resolve = async (references) => findTables(references, await tables())
    const mayRead = readableAmong(tables)
    if (given.dataset === undefined) {
      using rows = await this.#rows(given.sql, resolve, { signal, by, depth: 1, mayRead })
      const { columns, tables, volatile } = rows
      return { saved: { given, tables, by }, columns, volatile }
    }
    const isReadable = (await tables()).some(({ id }) => id === given.dataset)
    if (!isReadable) throw sqlError('unknown_table', `There is no dataset ${given.dataset}.`)
    const saved = { given, tables: [given.dataset], by }
    using rows = await this.#savedRows(saved, { signal, by, mayRead })
    return { saved, columns: rows.columns, volatile: rows.volatile }
  }

  /** Requires that who saved a query may still read its tables. @throws EngineError `saved_query` */
  async requireReadable(saved: SavedQuery): Promise<void> {
    const readable = await this.#mayRead(saved, saved.tables).catch((error: unknown) => {
      if (error instanceof EngineError && error.code === 'not_found') return false
      throw error
    })
    if (!readable) throw unreadableTable(saved)
  }

  async #savedRows(saved: SavedQuery, options: RowsOptions): Promise<StatementRows> {
    const { depth = 1 } = options
    if (depth > MOST_DEPTH) {
      throw new EngineError('saved_query', `Saved queries read each other at most ${MOST_DEPTH} deep.`)
    }
    const { tables } = saved
    await this.requireReadable(saved)
    const resolve: Resolve = async (references) => {
      await this.requireReadable(saved)
      return references.map((reference, index) => ({ id: tables[index]!, past: pastOf(reference) }))
    }
    const { sql, volatile } = await this.#statementOf(saved)
    return this.#rows(sql, resolve, { ...options, depth, volatile })
  }

  async #statementOf({ given, tables }: SavedQuery): Promise<SavedStatement> {
    const columns = tables.length > 0 ? (await this.#context.record(tables[0]!)).columns : []
    return savedStatement(given, columns)
  }

  /** Whether whoever saved a query may read datasets. @throws EngineError `not_found` if one is gone */
  async #mayRead({ by }: SavedQuery, datasetIds: readonly number[]): Promise<boolean> {
    const records = await Promise.all(datasetIds.map(this.#context.record))
    const repositories = new Set(records.map(({ repositoryId }) => repositoryId))
    return by === undefined || this.#context.mayRead(by, repositories)
  }

  /** Parses a statement, finds its tables and its columns. */
  async #rows(text: string, resolve: Resolve, options: RowsOptions): Promise<StatementRows> {
    const { values, signal, by, mayRead, depth = 0 } = options
    const tree = await this.#parse(text, resolve, options)
    const checked = checkTree(tree, new SqlParameters(values))
    const named = await resolve(checked.tables)
    const snapshots: Snapshot[] = []
    try {
      const reading = { depth: depth + 1, signal, by, mayRead }
      for (const { id, past } of named) snapshots.push(await this.#context.snapshot(id, past, reading))
      if (options.since && !snapshots.at(-1)!.keepAppended(options.since)) throw CHANGED
      return await this.#prepared(text, checked, { named, snapshots, resolve, options })
    } catch (error) {
      for (const snapshot of snapshots) snapshot[Symbol.dispose]()
      throw error
    }
  }

  /** The tree of a statement; an error names a column that needs quotes. */
  async #parse(text: string, resolve: Resolve, options: RowsOptions): Promise<TreeNode> {
    const parse = (one: string) => this.#parser.parse(one, this.#lend(options), options.signal)
    const columns = async () => {
      const tree = await parse(`FROM ${tablesIn(text).join(', ')}`)
      const named = await resolve(checkTree(tree, new SqlParameters(undefined)).tables)
      const records = await Promise.all(named.map(({ id }) => this.#context.record(id)))
      return records.flatMap((record) => record.columns.map(({ name }) => name))
    }
    return parse(text).catch(async (error: unknown) => {
      throw await withQuotes(error, text, columns, parse)
    })
  }

  async stats(): Promise<StatementStats> {
    return (await this.#pool.present())?.stats ?? { running: 0, waiting: 0, background: 0 }
  }

  #lend(borrower: Borrower): Lend {
    return async (signal) => (await this.#pool.get()).lend(borrower)(signal)
  }

  async close(): Promise<void> {
    await (await this.#pool.present())?.close()
  }

  async #prepared(
    text: string,
    checked: Checked,
    { named, snapshots, resolve, options }: Found,
  ): Promise<StatementRows> {
    const { values, signal, mayRead, depth = 0 } = options
    const identities = snapshots.map(({ identity }) => identity)
    const key = JSON.stringify([text, identities, values], (_, value) =>
      typeof value === 'bigint' ? `${value}n` : value,
    )
    const scanned = rewriteTables(checked, snapshots)
    const below = snapshots.flatMap(({ derived }) => derived ?? [])
    const ids = named.map(({ id }) => id)
    const borrowed = [...(depth > 0 ? ids : []), ...below.flatMap((one) => one.borrowed)]
    const hiding = borrowed.length > 0 && !(await mayRead?.(borrowed))
    const fenced = hiding && depth > 0
    const growth = growthOf(checked)
    const session = new Session(this.#lend(options))
    const authorise = async () => {
      const now = await resolve(checked.tables)
      if (now.every(({ id }, index) => id === named[index]!.id)) return
      throw sqlError('unknown_table', 'A table of the statement can no longer be read.')
    }
    const explain = explainer(text, checked.statement, scanned, { hiding, saved: depth > 0 })
    const most = statementLimit(checked.statement)
    const light = isLight(checked, snapshots)
    const context = { tables: scanned, session, authorise, explain, light, hiding, fenced }
    const described = await this.#describe(checked.statement, identities, context, signal)
    const casts = checked.casts || [...below, ...described.columns].some(isCast)
    // Above a saved query, anything may be sorted.
    const safe = casts && (checked.sorts || depth > 0 || below.length > 0)
    const volatile = [options, checked, ...below].some((one) => one.volatile)
    const { source, columns } = statementSource(described)
    const read = readOf(snapshots.at(-1))
    return {
      source: { ...source, most },
      light,
      columns,
      casts,
      volatile,
      tables: ids,
      borrowed,
      refresh: refreshOf(growth, described.columns, read),
      read,
      stored: described.columns,
      version: named.reduce((sum, { past }, index) => sum + (past ? 0 : snapshots[index]!.version), 0),
      // Readings for others may fail differently, so nothing is shared with them.
      identity: sha256(key + fenced + (volatile ? randomUUID() : '')),
      counts: this.#context.counts,
      executor: async () => sqlExecutor((await session.lent).process, safe),
      reading: (plan: Plan) =>
        new SqlReading(plan, {
          ...context,
          relation: (all) => statementRelation(described, all, fenced),
        }),
      [Symbol.dispose]() {
        for (const snapshot of snapshots) snapshot[Symbol.dispose]()
      },
    }
  }

  /** The SQL of a statement and its columns. Statements that differ only by constants are described once. */
  async #describe(
    statement: TreeNode,
    identities: readonly string[],
    context: Omit<SqlReadingContext, 'relation'>,
    signal: AbortSignal | undefined,
  ): Promise<StatementSql> {
    const held = holdConstants(statement)
    const tree = JSON.stringify(statement, (name, value) => (name === 'query_location' ? undefined : value))
    const shape = sha256(JSON.stringify([tree, identities]))
    const described = this.#described.get(shape) ?? (await describe({ tree, held }, context, signal))
    this.#described.set(shape, described)
    return { sql: withConstants(described.sql, held), columns: described.columns }
  }
}

function openQuery(rows: StatementRows, options: QueryOptions): Query {
  const release = () => rows[Symbol.dispose]()
  try {
    return new Query({ ...rows, release }, options)
  } catch (error) {
    release()
    throw error
  }
}

/** Whether sorting by a column may sort by a cast. */
function isCast(one: StatementRows | DescribedColumn): boolean {
  return 'casts' in one ? one.casts : one.sql.includes('CAST')
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}

function statementLimit({ node }: TreeNode): number | undefined {
  const modifiers = ((node as TreeNode)['modifiers'] ?? []) as readonly TreeNode[]
  const limit = modifiers.find(({ type }) => type === 'LIMIT_MODIFIER')?.['limit'] as TreeNode | undefined
  const value = (limit?.['value'] as TreeNode | undefined)?.['value']
  return limit?.['class'] === 'CONSTANT' && Number.isSafeInteger(value) ? Number(value) : undefined
}

/** Whether a statement reads one small table once, so that one thread is enough. */
function isLight({ sources, tables }: Checked, snapshots: readonly Snapshot[]): boolean {
  if (sources > 1 || tables.length !== sources) return false
  return snapshots.every(({ derived, rowCount = 0 }) => derived?.light ?? rowCount <= LIGHT_ROWS)
}

/** Tells of datasets whether they all are among those that may be read. */
function readableAmong(tables: () => Promise<readonly SqlTable[]>): SavedOptions['mayRead'] {
  return async (datasetIds) => {
    const readable = new Set((await tables()).map(({ id }) => id))
    return datasetIds.every((id) => readable.has(id))
  }
}

import type { DatasetRecord, QueryDefinition, SavedQuery } from '../catalog/records.ts'
import { EngineError, invalidOption } from '../errors.ts'
import { duckdbWithValues } from '../filter/index.ts'
import { fromPlain, plainName, QUERY } from '../options.ts'
import { planQuery, type QueryOptions } from '../plan/plan.ts'
import { rowsStatement } from '../plan/statements.ts'
import type { Query } from '../query.ts'
import type { QueryContext } from '../reading/runs.ts'
import { type Column, type ColumnType, quoteIdentifier } from '../types/index.ts'
import type { BackgroundLimits } from './process/sql-pool.ts'

/** The rows of a statement, for queries or a snapshot of them. They may be read until this is disposed. */
export interface StatementRows
  extends Pick<
      QueryContext,
      'source' | 'identity' | 'volatile' | 'counts' | 'executor' | 'reading' | 'refresh'
    >,
    Disposable {
  readonly columns: readonly Column[]
  /** The ids of the datasets that the statement names, in the order of its text. */
  readonly tables: readonly number[]
  /** The ids of the datasets that are read with the rights of others, because saved queries read them. */
  readonly borrowed: readonly number[]
  /** Grows with each change of these datasets. */
  readonly version: number
  /** What is read of the last of these datasets, if it has rows of its own. */
  readonly read: ReadRows | undefined
  /** How its values are stored: `r0` for those of the first column as they are. */
  readonly stored: readonly { readonly type: ColumnType; readonly sql: string }[]
  /** Whether values are cast, so that sorting them may meet duckdb#25158. */
  readonly casts: boolean
  /** Whether so little is read that one thread is enough. */
  readonly light: boolean
}

/** A version of a dataset, and how many rows it has. */
export interface ReadRows {
  readonly version: number
  readonly rows: number
}

export interface RefreshOptions extends BackgroundLimits {
  readonly signal?: AbortSignal
  /** What was read the last time, and the dataset that has the rows of that time. */
  readonly last?:
    | { readonly read: ReadRows; readonly into: Pick<DatasetRecord, 'id' | 'columns'> }
    | undefined
}

/** The rows of a saved query, or what takes less time to find out. */
export interface Refreshed {
  readonly query: Query
  /** Whether the rows are those that come after the ones of the last time. */
  readonly isAdded: boolean
  /** Why all rows were read; null where only those were that had been appended since the last time. */
  readonly because: string | null
  readonly read: ReadRows | undefined
}

/** How a saved query is read. */
export interface SavedOptions {
  /** How many saved queries are read by each other, this one included; 1 where nobody says so. */
  readonly depth?: number
  /** Ends finding out which columns it has. */
  readonly signal?: AbortSignal | undefined
  /** Who reads, as the engine's caller names accounts: they take turns with statements of SQL. */
  readonly by?: string | undefined
  /**
   * Whether the reader may read all of these datasets directly. Where this is not given or false, expressions of the
   * reader see no row that the query leaves out, which takes longer.
   */
  readonly mayRead?: ((datasetIds: readonly number[]) => Promise<boolean>) | undefined
}

export interface SavedStatement {
  readonly sql: string
  /** Whether a moment in it, of now(), is another one each time. */
  readonly volatile: boolean
}

/** The most saved queries of which each reads the next. */
export const MOST_DEPTH = 8

/** The options that a saved query may have. How many rows there are before the last ones is not known. */
const { last: _, ...OPTIONS } = QUERY

/** @throws EngineError `invalid_option` */
export function checkDefinition(given: QueryDefinition): void {
  const { sql, dataset, ...options } = given as Readonly<Record<string, unknown>>
  const names = Object.entries(OPTIONS).map(([name, row]) => plainName(name, row))
  const unknown = Object.keys(options).find((name) => sql !== undefined || !names.includes(name))
  if (typeof (sql ?? '') === 'string' && (sql === undefined) === Number.isSafeInteger(dataset) && !unknown)
    return
  throw invalidOption(
    `query is {"sql"}, or {"dataset"} with ${names.join(', ')}${unknown ? `; ${unknown} is none of them` : ''}.`,
  )
}

export function unreadableTable({ by }: SavedQuery): EngineError {
  const rights = by === undefined ? '' : ', or the account that saved it may no longer read it'
  return new EngineError('saved_query', `A table that this saved query reads is gone${rights}.`)
}

/** Names that our SQL gives to columns. */
const OURS = /^(o|position|row_number_|[a-z]\d+(_\d+)?)$/i

/**
 * A SELECT that gives the same rows as options of a query.
 * @param table what stands after FROM
 * @throws EngineError as `Query` does
 */
export function writeStatement(
  options: QueryOptions,
  columns: readonly Column[],
  table: string,
): SavedStatement {
  if (options.last !== undefined)
    throw invalidOption('last can not be said in SQL: order the rows the other way round.')
  const named = columns.map(({ name }, index) => (OURS.test(name) ? `c${index}` : quoteIdentifier(name)))
  const renamed = columns.map(({ name }, index) => `${quoteIdentifier(name)} AS ${named[index]}`)
  const isRenamed = columns.some(({ name }) => OURS.test(name))
  const source = {
    columns: columns.map(({ name, type }, index) => ({ name, type, sql: named[index]! })),
    rows: undefined,
    rowBytes: 0,
    scan: () =>
      ({ kind: 'query', sql: isRenamed ? `(SELECT ${renamed.join(', ')} FROM ${table})` : table }) as const,
  }
  const plan = planQuery(source, options, { dialect: duckdbWithValues })
  const { sql } = rowsStatement(plan, undefined)
  const names = plan.columns.map(({ name }) => quoteIdentifier(name))
  const isNamed = plan.columns.every((column, index) => column.sql === names[index])
  const whole = isNamed ? sql : `SELECT * FROM (${sql}) AS result (${names.join(', ')})`
  return { sql: whole, volatile: plan.volatile }
}

/** The statement of a saved query. */
export function savedStatement(given: QueryDefinition, columns: readonly Column[]): SavedStatement {
  if (given.sql !== undefined) return { sql: given.sql, volatile: false }
  return writeStatement(fromPlain(given, OPTIONS), columns, `dataset_${given.dataset}`)
}

import { createHash } from 'node:crypto'
import { hint, invalidOption } from '../errors.ts'
import {
  Aliases,
  Building,
  type Expression,
  readNames,
  readOrderBy,
  readPipeline,
  type SortKey,
  type SqlColumn,
  type SqlDialect,
  type Step,
  sortKey,
  THE_FILTER,
  unknownColumns,
} from '../filter/index.ts'
import { valueType } from '../filter/values.ts'
import { type OptionsOf, type OrderKey, QUERY } from '../options.ts'
import type { Column, ColumnType } from '../types/index.ts'
import { checkOptions } from '../types/known-options.ts'
import { afterSteps, POSITION, startOf } from './steps-sql.ts'

/** What a query may ask for. All options are optional; without any, the result is the whole dataset in upload order. */
export interface QueryOptions extends OptionsOf<typeof QUERY> {}

/** Rows `from` (inclusive) to `to` (exclusive) of one Parquet file, or those named; the whole file without them. */
export interface Slice {
  readonly file: string
  /** How many rows of the source come before the file's. */
  readonly first: number
  readonly from?: number
  readonly to?: number
  /** Numbers of rows in the file. */
  readonly rows?: readonly number[]
  /** The place of each of these rows in a sorted result. */
  readonly places?: readonly number[]
  /** The columns of the file, in their order, if others wrote it; they have their own names there. */
  readonly attached?: readonly Column[]
}

/** Where rows come from. */
export type Scan =
  /**
   * Those of the dataset's `of` files that may hold wanted rows, in the order of the rows; columns are `c0`, `c1` … All
   * wanted rows meet `condition`.
   */
  | {
      readonly kind: 'slices'
      readonly slices: readonly Slice[]
      readonly of: number
      readonly condition?: string | undefined
    }
  /** Rows as a JSON array of arrays, for rows in memory. */
  | { readonly kind: 'inline'; readonly json: string }
  /** Parquet files that the engine did not write: a subquery that names the columns and gives each row's position. */
  | { readonly kind: 'foreign'; readonly sql: string }
  /** The rows of a user's statement: a subquery that names the columns, and the tables whose parts it reads. */
  | {
      readonly kind: 'query'
      readonly sql: string
      readonly light?: boolean
      readonly tables?: readonly TableScan[]
    }

/** The parts of a table in a user's statement, and its columns with the names under which users know them. */
export interface TableScan {
  readonly slices: readonly Slice[]
  readonly of: number
  readonly columns: readonly SqlColumn[]
}

/** Parts that are read by ranges are named by addresses. */
export function isRanged({ file }: Slice): boolean {
  return file.startsWith('http:')
}

/**
 * A query as plain data: what is read, which rows are kept, which columns are in the result. All of it has been
 * checked, so making SQL of it can't fail.
 */
export interface Plan {
  readonly scan: Scan
  /** The steps of `$apply`, `$compute` and `$search`, which are applied to the rows of the scan one after the other. */
  readonly steps: readonly Step[]
  /** The parameters of the steps. They are numbered first; the filter's follow, then those of the order. */
  readonly stepParameters: readonly string[]
  /** The columns of the result, in order. */
  readonly columns: readonly SqlColumn[]
  /** Applied to the rows that the steps give. */
  readonly filter?: { readonly sql: string; readonly parameters: readonly string[] }
  /** The filter, where it is on stored columns, whose statistics may rule out parts and row groups. */
  readonly pruning?: Expression | undefined
  readonly order: readonly SortKey[]
  readonly orderParameters: readonly string[]
  /** Applied after filter and order. If there is neither, the slices of the scan already contain only these rows. */
  readonly window: {
    readonly skip: number
    readonly top?: number | undefined
    readonly last?: number | undefined
  }
  /** What may fail on a value of the data, as the beginning of a sentence: `The filter or $orderby`. */
  readonly fallible?: string | undefined
  /** Whether the moment that now() returns is in the SQL. */
  readonly volatile: boolean
  /** All columns of the source. */
  readonly source: readonly SqlColumn[]
  /** The positions of the stored columns that are read if the matching rows are counted, and if they are given. */
  readonly reads: { readonly counted: readonly number[]; readonly rows: readonly number[] }
  /** The number of rows that match the filter; undefined if rows must be read to know. */
  readonly matches: number | undefined
  /** The number of rows in the result; undefined if rows must be read to know. */
  readonly result: number | undefined
  /** The steps can't give more rows than this; undefined if the number of rows in the source is not known. */
  readonly most: number | undefined
  /** Average bytes of a row, uncompressed; the sizes of buffers depend on it. */
  readonly rowBytes: number
  /** The same of the columns in the result alone, as far as that is known: of a wide table, some columns may be narrow. */
  readonly resultBytes: number
}

/** Which of the matching rows are in the result. */
type Window = Plan['window']

/** The rows that a plan is made for. */
export interface PlanSource {
  readonly columns: readonly SqlColumn[]
  readonly rows: number | undefined
  /** There can't be more rows than this, if that is known where `rows` is not. */
  readonly most?: number | undefined
  readonly rowBytes: number
  /** The share of a row's bytes that columns have, by their positions. */
  readonly shareOf?: (columns: readonly number[]) => number
  /** The scan of rows `from` to `to`. It leaves out parts that are known to have none of the wanted rows. */
  readonly scan: (from: number, to: number, sought?: SoughtRows) => Scan
}

/** Which rows of a source are wanted: all, those that match a filter, or the first ones of an order. */
export interface SoughtRows {
  readonly filter?: Expression | undefined
  readonly first?: FirstRows | undefined
}

/** The first rows of a sorted table: how many, and the key that decides first. */
export interface FirstRows {
  readonly rows: number
  /** The position of the column by which the rows are sorted. */
  readonly column: number
  readonly type: ColumnType
  readonly descending: boolean
}

export interface PlanOptions {
  /** The database that will run it; DuckDB if not given. */
  readonly dialect?: SqlDialect | undefined
  /** What now() returns. */
  readonly now?: Date | undefined
}

/**
 * Plans a query: checks options and filter, and decides what must be read.
 * @throws EngineError every error of a query that does not depend on the data
 * @throws NotTranslatable where a dialect other than DuckDB's can't express it
 */
export function planQuery(
  source: PlanSource,
  options: QueryOptions,
  { dialect, now = new Date() }: PlanOptions = {},
): Plan {
  const mostRows = source.rows ?? source.most
  checkOptions(options, QUERY)
  const { skip = 0, top, last } = options
  const window: Window = { skip, top, last }
  const aliases = new Aliases(options.aliases)
  let volatile = false
  const moment = () => {
    volatile = true
    return now
  }
  const building = new Building({ aliases, now: moment, dialect })
  const { steps, columns } = readPipeline(options, source.columns, building)
  if (steps.length > 0) building.requireShort(afterSteps(NOTHING, steps).sql.length)
  const stepParameters = building.parameters.slice()
  const filter = options.filter === undefined ? undefined : building.filter(options.filter, columns)
  const counted = [...building.reads]
  const ordered = building.parameters.length
  const order = checkOrder(options.orderBy, columns, building)
  const selected = checkSelection(options.select, columns)
  building.noteColumns(selected)
  const common = {
    steps,
    stepParameters,
    columns: selected,
    reads: { counted, rows: [...building.reads] },
    order,
    orderParameters: building.parameters.slice(ordered),
    fallible: fallible(options, order, columns),
    volatile,
    source: source.columns,
    most: mostRows === undefined ? undefined : mostAfter(steps, mostRows),
    rowBytes: source.rowBytes,
    resultBytes: source.rowBytes * (source.shareOf?.(selected.flatMap(({ stored }) => stored ?? [])) ?? 1),
  }
  aliases.requireAllUsed()
  const rows = steps.every(({ kind }) => kind === 'compute') ? source.rows : undefined
  if (filter || rows === undefined || order.length > 0) {
    // After a step, a column may hold other values than the parts, so nothing can rule out parts.
    const pruning = steps.length > 0 ? undefined : filter?.tree
    const first = steps.length > 0 || filter ? undefined : firstRows(order, window, source.columns)
    return {
      ...common,
      pruning,
      scan: source.scan(0, source.rows ?? Number.MAX_SAFE_INTEGER, { filter: pruning, first }),
      ...(filter && { filter: { sql: filter.sql, parameters: filter.parameters } }),
      window,
      matches: filter ? undefined : rows,
      result: filter || rows === undefined ? undefined : resultRows(window, rows),
    }
  }
  // No row is left out or moved, so the window is a range of row numbers, and only the parts in it are opened.
  const [from, to] = rangeOf(window, rows)
  return { ...common, scan: source.scan(from, to), window: { skip: 0 }, matches: rows, result: to - from }
}

/** A relation by which the length of the SQL of steps is known before there is any scan. */
const NOTHING = startOf('', [POSITION])

/** The options that calculate something. A column to sort by is no calculation. */
function fallible(
  { filter, apply, compute }: QueryOptions,
  order: readonly SortKey[],
  columns: readonly SqlColumn[],
): string | undefined {
  const isCalculated = ({ sql }: SortKey) => columns.every((column) => column.sql !== sql)
  const found = [
    filter !== undefined && THE_FILTER,
    apply !== undefined && '$apply',
    compute !== undefined && '$compute',
    order.some(isCalculated) && '$orderby',
  ].filter((subject) => subject !== false)
  return found.length > 0 ? found.join(' or ') : undefined
}

/**
 * The most rows that steps can give. Only concat() can give more rows than it gets, and an aggregate without keys gives
 * one row even for none.
 */
function mostAfter(steps: readonly Step[], rows: number): number {
  return steps.reduce((most, step) => {
    if (step.kind === 'group' && step.keys.length === 0) return 1
    if (step.kind !== 'concat') return most
    return step.branches.reduce((sum, branch) => sum + mostAfter(branch.steps, most), 0)
  }, rows)
}

/**
 * The first rows that an order gives, where it begins with a column itself; undefined where it begins with something
 * that is calculated, about which the statistics of parts say nothing.
 */
function firstRows(
  [key]: readonly SortKey[],
  { skip, top = 0 }: Pick<Window, 'skip' | 'top'>,
  columns: readonly SqlColumn[],
): FirstRows | undefined {
  const column = columns.find(({ sql }) => sql === key?.sql)
  if (!key || column?.stored === undefined || top === 0) return undefined
  return { rows: skip + top, column: column.stored, type: column.type, descending: key.descending }
}

/** How many rows are in the result when `matches` rows match the filter. */
export function resultRows(window: Window, matches: number): number {
  const [from, to] = rangeOf(window, matches)
  return to - from
}

function rangeOf({ skip, top, last }: Window, rows: number): [from: number, to: number] {
  if (last !== undefined) return [Math.max(rows - last, 0), rows]
  const from = Math.min(skip, rows)
  return [from, Math.min(from + (top ?? rows), rows)]
}

export function physicalColumns(columns: readonly Column[]): SqlColumn[] {
  return columns.map(({ name, type }, index) => ({ name, type, sql: `c${index}`, stored: index }))
}

/** The beginning of the tags of all queries of the same rows. */
export function rowsTag(identity: string): string {
  return createHash('sha256').update(identity).digest('base64url').slice(0, 11)
}

/** A text that changes with the rows, which `identity` identifies, and with the query, and reveals nothing about them. */
export function etagOf(identity: string, options: QueryOptions, plan: Plan): string {
  // What was compiled is part of it, because now() is another moment each time.
  const compiled = [plan.steps, plan.stepParameters, plan.filter, plan.order, plan.orderParameters]
  const query = createHash('sha256').update(JSON.stringify([identity, options, ...compiled]))
  return rowsTag(identity) + query.digest('base64url').slice(0, 22)
}

/**
 * The columns of the result: all of them if none were selected.
 * @throws EngineError `invalid_option`, `invalid_columns`
 */
function checkSelection(select: QueryOptions['select'], columns: readonly SqlColumn[]): readonly SqlColumn[] {
  if (select === undefined) return columns
  const names = typeof select === 'string' ? parseSelect(select, columns) : select
  // For a dataset without columns, `*` names none, which is no mistake.
  if (names.length === 0 && columns.length > 0)
    throw invalidOption(`${hint('$select')} names no column.`, '$select')
  const selected = lookUp('Select', names, columns)
  const seen = new Set<string>()
  for (const name of names) {
    if (seen.has(name))
      throw invalidOption(`${hint('$select')} names column ${JSON.stringify(name)} twice.`, '$select')
    seen.add(name)
  }
  return selected
}

/**
 * The keys that rows are sorted by.
 * @throws EngineError `invalid_option`, `invalid_columns`, `filter_type_error`, `filter_too_complex`
 */
function checkOrder(
  orderBy: QueryOptions['orderBy'],
  columns: readonly SqlColumn[],
  building: Building,
): readonly SortKey[] {
  const keys = typeof orderBy === 'string' ? plainOrder(orderBy, columns) : (orderBy ?? [])
  if (!keys) return readOrderBy(orderBy as string, columns, building)
  const sorted = lookUp(
    'Orderby',
    keys.map((key) => key.column),
    columns,
  )
  building.noteColumns(sorted)
  return keys.map(({ descending = false }, index) => {
    const { sql, type } = sorted[index]!
    return sortKey(sql, valueType(type), descending, building)
  })
}

/**
 * Reads an order that is only a list of columns; their names need no quotes, whatever characters they have. Undefined
 * if it may contain expressions.
 */
function plainOrder(text: string, columns: readonly SqlColumn[]): OrderKey[] | undefined {
  const names = new Set(columns.map((column) => column.name))
  let items: ReturnType<typeof readNames>
  try {
    items = readNames('$orderby', text)
  } catch {
    return undefined
  }
  if (!items.every(({ name }) => names.has(name) || isIdentifier(name))) return undefined
  return items.map(({ name, direction }) => ({
    column: name,
    descending: direction?.toLowerCase() === 'desc',
  }))
}

function isIdentifier(name: string): boolean {
  return /^[\p{L}\p{Nl}_][\p{L}\p{Nl}\p{Nd}\p{Mn}\p{Mc}\p{Pc}\p{Cf}]*$/u.test(name)
}

/** Finds columns by their names. The error lists all names that don't exist, each once, in the order of `names`. */
function lookUp(option: string, names: readonly string[], columns: readonly SqlColumn[]): SqlColumn[] {
  const byName = new Map(columns.map((column) => [column.name, column]))
  const unknown = new Set(names.filter((name) => !byName.has(name)))
  if (unknown.size > 0) {
    throw unknownColumns(new Map([...unknown].map((name) => [name, -1])), '', columns, option)
  }
  return names.map((name) => byName.get(name)!)
}

/** `a,"Unit price"`; `*` stands for every column (OData 4.01 part 2, 5.1.4). */
function parseSelect(text: string, columns: readonly SqlColumn[]): string[] {
  return readNames('$select', text).flatMap(({ name, quoted, direction }) => {
    if (name === '*' && !quoted) return columns.map((column) => column.name)
    return direction === undefined ? name : `${name} ${direction}`
  })
}

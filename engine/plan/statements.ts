import type { SortKey, SqlColumn } from '../filter/index.ts'
import type { JoinedColumn } from '../parquet/joined.ts'
import { readParts } from '../parquet/read-parts.ts'
import { VECTOR_ROWS } from '../parquet/row-groups.ts'
import { type ColumnType, limitOf, quoteLiteral, type Statement, sqlType } from '../types/index.ts'
import { isRanged, type Plan, type Scan, type Slice } from './plan.ts'
import { afterSteps, orderTerms, POSITION, type RelationSql, startOf } from './steps-sql.ts'
import { ROW_NUMBER, rowNumberOf } from './view.ts'

/** The columns in which DuckDB's Parquet reader gives a row's position, and that as one number. No file has 2^40 rows. */
const IN_FILES = {
  keys: ['file_index', 'file_row_number'],
  number: `CAST(file_index AS BIGINT) * ${2 ** 40} + file_row_number`,
} as const

/** The position of a row as columns to sort by, and as one number. */
const POSITIONS = {
  slices: IN_FILES,
  foreign: IN_FILES,
  inline: { keys: ['position'], number: 'CAST(position AS BIGINT)' },
  query: { keys: ['position'], number: 'position' },
} as const satisfies Record<Scan['kind'], { keys: readonly string[]; number: string }>

/** The place of a row in the result, where rows were found by a statement before. */
const PLACE: SortKey = { sql: 'place_', descending: false }

/**
 * The SQL of a plan's rows.
 * @param matches how many rows match the filter; needed for `last` alone
 */
export function rowsStatement(plan: Plan, matches: number | undefined): Statement {
  const parameters = [...plan.stepParameters, ...(plan.filter?.parameters ?? []), ...plan.orderParameters]
  const relation = relationOf(plan, parameters)
  let sql = `SELECT ${plan.columns.map((column) => column.sql).join(', ')} FROM ${relation.sql}`
  sql += whereOf(plan)
  // Ties keep the order that the rows have already.
  if (plan.order.length > 0 || !relation.inOrder) {
    sql += ` ORDER BY ${orderTerms([...plan.order, ...relation.order])}`
  }
  sql += limit(plan, matches)
  const columns = plan.columns.map(({ name, type }) => ({ name, type }))
  return { sql, parameters, columns, light: isLight(plan) }
}

/** The condition of a plan's rows, and perhaps another one. */
export function whereOf({ scan, filter }: Plan, other?: string): string {
  const condition = filter?.sql ?? (scan.kind === 'slices' ? scan.condition : undefined)
  const all = [condition && other ? `(${condition})` : condition, other].filter((one) => one !== undefined)
  return all.length === 0 ? '' : ` WHERE ${all.join(' AND ')}`
}

/** The rows of a plan's files, with where each of them is. */
export function fileRows({ scan, source }: Plan): string {
  if (scan.kind !== 'slices') throw new TypeError('only rows in files have positions')
  return from(scan, source, [], true)
}

/** The SQL that counts the rows which match the filter. */
export function countStatement(plan: Plan): Statement {
  const parameters = [...plan.stepParameters, ...(plan.filter?.parameters ?? [])]
  const where = plan.filter ? ` WHERE ${plan.filter.sql}` : ''
  return {
    sql: `SELECT count(*) FROM ${relationOf(plan, parameters).sql}${where}`,
    parameters,
    columns: [{ name: 'count', type: 'integer' }],
    light: isLight(plan),
  }
}

/** Each thread of DuckDB reads row groups of its own; a table of this many rows has only a few. */
export const LIGHT_ROWS = 122_880

/**
 * Whether a plan reads so little that it takes less time with one thread than with several: some rows by their numbers,
 * the rows that a filter leaves in one file of several, which probably are in one of its row groups, or a small table.
 * The files must be there, because light statements are not read over HTTP.
 */
function isLight({ scan, steps, order, filter, most }: Plan): boolean {
  if (scan.kind === 'query') return scan.light ?? false
  if (scan.kind !== 'slices' || steps.length > 0 || order.length > 0) return false
  if (scan.slices.some(isRanged)) return false
  if (!filter) return true
  return scan.slices.length <= 1 && (scan.of > 1 || (most !== undefined && most <= LIGHT_ROWS))
}

/** Where a row is: the file's place among the scan's slices, and the row's number in it. */
export type Position = readonly [file: number, row: number]

/** The most sorted rows that are found first: more make a long statement. */
const MOST_SORTED = 256
/** To read a row by its number costs about as much as to scan so many bytes of values for the keys. */
const BYTES_OF_ROW = 2 << 20

/**
 * Whether it pays to find first where rows are. False where rows have no positions, and where the files that are read
 * have few row groups for so many sorted rows. Without an order, false also where the statistics leave a single file:
 * then one row group probably has all matches, and to read it twice takes longer.
 */
export function hasPositions({ scan, steps, order, filter, window, rowBytes, most = 0 }: Plan): boolean {
  if (scan.kind !== 'slices' || scan.slices.length === 0 || steps.length > 0) return false
  if (order.length === 0) return !!filter && scan.slices.length > 1
  const rows = window.top ?? window.last ?? Number.POSITIVE_INFINITY
  const read = (most * rowBytes * scan.slices.length) / scan.of
  return rows <= MOST_SORTED && rows * BYTES_OF_ROW < read
}

/**
 * The SQL that finds where the first rows which match the filter are, for a plan that has positions. It reads only the
 * columns of the filter and of the order, while `rowsStatement` reads all columns of each row group with a match. The
 * last rows are found as the first ones of the reverse order, and given in it.
 */
export function positionsStatement(plan: Plan): Statement {
  const { filter, order, orderParameters, window } = plan
  const { last, top = last, skip } = window
  const ties = IN_FILES.keys.map((sql) => ({ sql, descending: false }))
  const keys = order.length === 0 ? [] : [...order, ...ties]
  const terms = last === undefined ? keys : keys.map((key) => ({ ...key, descending: !key.descending }))
  return {
    sql:
      `SELECT CAST(file_index AS BIGINT), file_row_number FROM ${fileRows(plan)}` +
      whereOf(plan) +
      (terms.length > 0 ? ` ORDER BY ${orderTerms(terms)}` : '') +
      limitOf(skip, top),
    parameters: [...(filter?.parameters ?? []), ...orderParameters],
    columns: [
      { name: 'file', type: 'integer' },
      { name: 'row', type: 'integer' },
    ],
  }
}

/** Positions as `positionsStatement` finds them, in the order of the result. */
export function inResultOrder({ window }: Plan, found: readonly Position[]): readonly Position[] {
  return window.last === undefined ? found : found.toReversed()
}

/** DuckDB sorts whole rows and gives them in vectors, each of which takes more than 256 MiB where rows are wider. */
const WIDE_ROW = 2 ** 28 / VECTOR_ROWS
/** The bytes of the wide rows that are read at once. */
const WIDE_ROWS_AT_ONCE = 64 << 20

/** Whether rows are sorted that are so wide that their places are sorted first, and some rows read at a time. */
export function sortsWideRows({ scan, steps, order, resultBytes }: Plan): boolean {
  return scan.kind === 'slices' && steps.length === 0 && order.length > 0 && resultBytes > WIDE_ROW
}

/** The positions in the order of the result, as one statement after the other reads their rows. */
export function turnsOf(
  { resultBytes }: Plan,
  positions: readonly Position[],
): readonly (readonly Position[])[] {
  const rows = Math.ceil(WIDE_ROWS_AT_ONCE / resultBytes)
  const turns = Math.max(1, Math.ceil(positions.length / rows))
  return Array.from({ length: turns }, (_, turn) => positions.slice(turn * rows, (turn + 1) * rows))
}

/** The plan of the rows at these positions, in their order. */
export function planAt(plan: Plan, positions: readonly Position[]): Plan {
  if (plan.scan.kind !== 'slices') throw new TypeError('only rows in files have positions')
  const { slices, of } = plan.scan
  const sorted = plan.order.length > 0
  const found = Map.groupBy(positions.entries(), ([, [file]]) => file)
  const at = [...found].map(([file, ofFile]) => ({
    ...slices[file]!,
    rows: ofFile.map(([, [, row]]) => row),
    ...(sorted && { places: ofFile.map(([position]) => position) }),
  }))
  const scan = { kind: 'slices', slices: at, of } as const
  return { ...plan, scan, filter: undefined, order: [], orderParameters: [], window: { skip: 0 } }
}

/** The relation after the steps; without steps the scan itself, because DuckDB optimises it better than a subquery. */
function relationOf(plan: Plan, parameters: string[]): RelationSql {
  const { scan, source, steps } = plan
  if (scan.kind === 'slices' && scan.slices[0]?.places) {
    return { ...startOf(slicesSql(scan.slices, source), [PLACE]), inOrder: false }
  }
  const position = POSITIONS[scan.kind]
  const positioned = plan.order.length > 0 || needsPosition(steps)
  const sql = from(scan, source, parameters, positioned)
  if (steps.length === 0) {
    return startOf(
      sql,
      position.keys.map((key) => ({ sql: key, descending: false })),
    )
  }
  const columns = uniqueNames(source)
  if (positioned) columns.push(`${position.number} AS ${POSITION.sql}`)
  const base = `(SELECT ${columns.length > 0 ? columns.join(', ') : 'NULL'} FROM ${sql})`
  return afterSteps(startOf(base, [POSITION]), steps)
}

/** Whether a step needs the positions of rows, which a scan of row ranges of files doesn't give. */
function needsPosition(steps: Plan['steps']): boolean {
  return steps.some(({ kind }) => kind !== 'filter' && kind !== 'compute')
}

function limit(plan: Plan, matches: number | undefined): string {
  const { skip, top, last } = plan.window
  if (last !== undefined) {
    if (matches === undefined)
      throw new TypeError('the last rows can be told only when their number is known')
    return limitOf(Math.max(matches - last, 0), last)
  }
  return limitOf(skip, top)
}

function from(scan: Scan, source: readonly SqlColumn[], parameters: string[], positioned: boolean): string {
  switch (scan.kind) {
    case 'slices':
      return scan.slices.length === 0 ? empty(source) : slicesSql(scan.slices, source)
    case 'inline':
      parameters.push(scan.json)
      return inline(source, parameters.length)
    case 'foreign':
      return scan.sql
    case 'query':
      if (!positioned && !source.some(({ sql }) => sql === ROW_NUMBER)) return scan.sql
      return `(SELECT *, row_number() OVER () AS position, row_number() OVER () AS ${ROW_NUMBER} FROM ${scan.sql})`
    default:
      return scan satisfies never
  }
}

/**
 * Whole files are read together. Of others only some row numbers are read, by which DuckDB skips row groups; in one
 * condition about several files, it would not.
 */
function slicesSql(slices: readonly Slice[], source: readonly SqlColumn[]): string {
  const whole = slices.every(({ from, to, rows }) => (from ?? to ?? rows) === undefined)
  const numbered = source.some((column) => column.sql === ROW_NUMBER)
  if (whole && !numbered) return readParquet(slices)
  const groups: { slices: Slice[]; where: string }[] = []
  for (const slice of slices) {
    const where = [
      slice.from !== undefined && `file_row_number >= ${slice.from}`,
      slice.to !== undefined && `file_row_number < ${slice.to}`,
      // DuckDB searches a longer list with a join, after which rows are in any order. Those with places are sorted by them.
      slice.rows &&
        `file_row_number IN (${slice.rows.join(', ')})${slice.places ? '' : ' ORDER BY file_row_number'}`,
    ].filter(Boolean)
    const last = groups.at(-1)
    if (where.length === 0 && last?.where === '') last.slices.push(slice)
    else groups.push({ slices: [slice], where: where.length > 0 ? ` WHERE ${where.join(' AND ')}` : '' })
  }
  const names = uniqueNames(source)
  const selects = groups.map((group) => {
    const columns = names.map((sql) => (sql === ROW_NUMBER ? `${rowNumberOf(group.slices)} AS ${sql}` : sql))
    const [{ rows, places }] = group.slices as [Slice]
    if (places) columns.push(`[${places}][list_position([${rows}], file_row_number)] AS ${PLACE.sql}`)
    // If all files are read together, `file_index` and `file_row_number` still give the order of the rows.
    if (whole) columns.push(...IN_FILES.keys)
    return `(SELECT ${columns.join(', ')} FROM ${readParquet(group.slices)}${group.where})`
  })
  return `(${selects.join(' UNION ALL ')})`
}

/** The columns' names in SQL, each once: columns that show the same values share one name. */
function uniqueNames(source: readonly SqlColumn[]): string[] {
  return [...new Set(source.map((column) => column.sql))]
}

function readParquet(slices: readonly Slice[]): string {
  const files = slices.map(({ file }) => file)
  const attached = slices[0]?.attached
  return attached ? readParts(files, attached) : `read_parquet([${files.map(quoteLiteral).join(', ')}])`
}

function empty(source: readonly SqlColumn[]): string {
  const columns = source.map((column) => `NULL::${sqlType(column.type)} AS ${column.sql}`)
  return `(SELECT ${[...new Set(columns), '0 AS file_index', '0::BIGINT AS file_row_number'].join(', ')} WHERE false)`
}

function inline(source: readonly SqlColumn[], parameter: number): string {
  const columns = source.map(
    ({ type, sql }, index) => `${inlineValue(type, `json_extract_string(r, '$[${index}]')`)} AS ${sql}`,
  )
  return (
    `(SELECT ${columns.join(', ')}, position FROM (SELECT unnest(CAST($${parameter} AS JSON[])) AS r, ` +
    `generate_subscripts(CAST($${parameter} AS JSON[]), 1) AS position))`
  )
}

export function inlineValue(type: ColumnType, text: string): string {
  if (type === 'binary') return `from_base64(${text})`
  // A cast from text to TIMESTAMP would drop the offset. Without one, a text is in UTC.
  if (type === 'timestamp') return `CAST(CAST(${text} AS TIMESTAMPTZ) AS TIMESTAMP)`
  return `CAST(${text} AS ${sqlType(type)})`
}

/** A result that consists of columns of files, unchanged and in order. */
export interface Copies {
  readonly slices: readonly Slice[]
  readonly columns: readonly JoinedColumn[]
  /** The statement of some rows of a slice, for those that can't be copied. */
  readonly statement: (slice: Slice) => Statement
}

/** What to copy for a plan whose result is a range of rows of some files; undefined for every other plan. */
export function copies(plan: Plan): Copies | undefined {
  const { scan, steps, columns, filter, order, window } = plan
  const { skip, top, last } = window
  const narrowed = filter || steps.length > 0 || order.length > 0 || skip > 0
  if (scan.kind !== 'slices' || narrowed || top !== undefined || last !== undefined) return undefined
  // Others may have written the same values in other ways, such as whole numbers of 32 bits.
  if (scan.slices.length === 0 || scan.slices[0]!.attached) return undefined
  const copied: JoinedColumn[] = []
  for (const { name, type, stored } of columns) {
    if (stored === undefined) return undefined
    copied.push({ name, type, stored })
  }
  return {
    slices: scan.slices,
    columns: copied,
    statement: (slice) => rowsStatement({ ...plan, scan: { ...scan, slices: [slice] } }, undefined),
  }
}

import { type ColumnType, quoteLiteral, type Statement, sqlType } from '../types/index.ts'
import { isLight } from './light.ts'
import type { Plan, PlanColumn, Scan, Slice } from './plan.ts'
import { afterSteps, limitOf, needsPosition, orderTerms, POSITION, type RelationSql } from './steps-sql.ts'
import { ROW_NUMBER, rowNumberOf } from './view.ts'

/** The columns in which DuckDB's Parquet reader gives a row's position in the order of upload. */
const ROW_POSITION = 'file_index, file_row_number'

/** The position of a row as columns to sort by, and as one number. No file has 2^40 rows. */
const IN_FILES = {
  keys: ['file_index', 'file_row_number'],
  number: `CAST(file_index AS BIGINT) * ${2 ** 40} + file_row_number`,
} as const

const POSITIONS = {
  slices: IN_FILES,
  foreign: IN_FILES,
  inline: { keys: ['position'], number: 'CAST(position AS BIGINT)' },
} as const satisfies Record<Scan['kind'], { keys: readonly string[]; number: string }>

/**
 * The SQL of a plan's rows.
 * @param matches how many rows match the filter; needed for `last` alone
 */
export function rowsStatement(plan: Plan, matches: number | undefined): Statement {
  const parameters = [...plan.stepParameters, ...(plan.filter?.parameters ?? []), ...plan.orderParameters]
  const relation = relationOf(plan, parameters)
  let sql = `SELECT ${plan.columns.map((column) => column.sql).join(', ')} FROM ${relation.sql}`
  if (plan.filter) sql += ` WHERE ${plan.filter.sql}`
  // Ties keep the order that the rows have already.
  if (plan.order.length > 0 || !relation.inOrder) {
    sql += ` ORDER BY ${orderTerms([...plan.order, ...relation.order])}`
  }
  sql += limit(plan, matches)
  const columns = plan.columns.map(({ name, type }) => ({ name, type }))
  return { sql, parameters, columns, light: isLight(plan) }
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

/** Where a row is: the file's place among the scan's slices, and the row's number in it. */
export type Position = readonly [file: number, row: number]

/**
 * The SQL that finds where the first rows which match the filter are. It reads only the columns of the filter, while
 * `rowsStatement` reads all columns of each row group with a match. Undefined where rows have no positions or must be
 * sorted, and where the statistics leave a single file: then one row group probably has all matches, and to read it
 * twice takes longer.
 */
export function positionsStatement(plan: Plan): Statement | undefined {
  const { scan, steps, order, source, filter } = plan
  if (!filter || scan.kind !== 'slices' || scan.slices.length < 2) return undefined
  if (steps.length > 0 || order.length > 0) return undefined
  const where = ` WHERE ${filter.sql}${limit(plan, undefined)}`
  return {
    sql: `SELECT CAST(file_index AS BIGINT), file_row_number FROM ${slicesSql(scan.slices, source)}${where}`,
    parameters: filter.parameters,
    columns: [
      { name: 'file', type: 'integer' },
      { name: 'row', type: 'integer' },
    ],
  }
}

/** The plan of the rows at these positions, which the statement of `positionsStatement` found, in their order. */
export function planAt(plan: Plan, positions: readonly Position[]): Plan {
  if (plan.scan.kind !== 'slices') throw new TypeError('only rows in files have positions')
  const { slices, of } = plan.scan
  const rows = Map.groupBy(positions, ([file]) => file)
  const found = [...rows].map(([file, ofFile]) => ({ ...slices[file]!, rows: ofFile.map(([, row]) => row) }))
  return { ...plan, scan: { kind: 'slices', slices: found, of }, filter: undefined, window: { skip: 0 } }
}

/** The relation after the steps; without steps the scan itself, because DuckDB optimises it better than a subquery. */
function relationOf(plan: Plan, parameters: string[]): RelationSql {
  const { scan, source, steps } = plan
  const position = POSITIONS[scan.kind]
  const sql = from(scan, source, parameters)
  if (steps.length === 0) {
    return { sql, order: position.keys.map((key) => ({ sql: key, descending: false })), inOrder: true }
  }
  const columns = uniqueNames(source)
  if (plan.order.length > 0 || needsPosition(steps)) columns.push(`${position.number} AS o`)
  const base = `(SELECT ${columns.length > 0 ? columns.join(', ') : 'NULL'} FROM ${sql})`
  return afterSteps({ sql: base, order: [POSITION], inOrder: true }, steps)
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

function from(scan: Scan, source: readonly PlanColumn[], parameters: string[]): string {
  switch (scan.kind) {
    case 'slices':
      return scan.slices.length === 0 ? empty(source) : slicesSql(scan.slices, source)
    case 'inline':
      parameters.push(scan.json)
      return inline(source, parameters.length)
    case 'foreign':
      return scan.sql
    default:
      return scan satisfies never
  }
}

/**
 * Whole files are read together. Of others only some row numbers are read, by which DuckDB skips row groups; in one
 * condition about several files, it would not.
 */
function slicesSql(slices: readonly Slice[], source: readonly PlanColumn[]): string {
  const whole = slices.every(({ from, to, rows }) => (from ?? to ?? rows) === undefined)
  const numbered = source.some((column) => column.sql === ROW_NUMBER)
  if (whole && !numbered) return readParquet(slices)
  const groups: { slices: Slice[]; where: string }[] = []
  for (const slice of slices) {
    const where = [
      slice.from !== undefined && `file_row_number >= ${slice.from}`,
      slice.to !== undefined && `file_row_number < ${slice.to}`,
      // DuckDB searches a longer list with a join, after which rows are in any order.
      slice.rows && `file_row_number IN (${slice.rows.join(', ')}) ORDER BY file_row_number`,
    ].filter(Boolean)
    const last = groups.at(-1)
    if (where.length === 0 && last?.where === '') last.slices.push(slice)
    else groups.push({ slices: [slice], where: where.length > 0 ? ` WHERE ${where.join(' AND ')}` : '' })
  }
  const names = uniqueNames(source)
  const selects = groups.map((group) => {
    const columns = names.map((sql) => (sql === ROW_NUMBER ? `${rowNumberOf(group.slices)} AS ${sql}` : sql))
    // If all files are read together, `file_index` and `file_row_number` still give the order of the rows.
    if (whole) columns.push(ROW_POSITION)
    return `(SELECT ${columns.join(', ')} FROM ${readParquet(group.slices)}${group.where})`
  })
  return `(${selects.join(' UNION ALL ')})`
}

/** The columns' names in SQL, each once: columns that show the same values share one name. */
function uniqueNames(source: readonly PlanColumn[]): string[] {
  return [...new Set(source.map((column) => column.sql))]
}

function readParquet(slices: readonly Slice[]): string {
  return `read_parquet([${slices.map(({ file }) => quoteLiteral(file)).join(', ')}])`
}

function empty(source: readonly PlanColumn[]): string {
  const columns = source.map((column) => `NULL::${sqlType(column.type)} AS ${column.sql}`)
  return `(SELECT ${[...new Set(columns), '0 AS file_index', '0 AS file_row_number'].join(', ')} WHERE false)`
}

function inline(source: readonly PlanColumn[], parameter: number): string {
  const columns = source.map(
    ({ type, sql }, index) => `${inlineValue(type, `json_extract_string(r, '$[${index}]')`)} AS ${sql}`,
  )
  return (
    `(SELECT ${columns.join(', ')}, position FROM (SELECT unnest(CAST($${parameter} AS JSON[])) AS r, ` +
    `generate_subscripts(CAST($${parameter} AS JSON[]), 1) AS position))`
  )
}

function inlineValue(type: ColumnType, text: string): string {
  if (type === 'binary') return `from_base64(${text})`
  // A cast from text to TIMESTAMP would drop the offset. Without one, a text is in UTC.
  if (type === 'timestamp') return `CAST(CAST(${text} AS TIMESTAMPTZ) AS TIMESTAMP)`
  return `CAST(${text} AS ${sqlType(type)})`
}

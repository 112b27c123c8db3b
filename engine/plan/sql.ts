import { quoteLiteral, type Statement, sqlType } from '../types/index.ts'
import type { Plan, PlanColumn, Scan, Slice } from './plan.ts'
import { ROW_NUMBER, rowNumberOf } from './view.ts'

/** Position of a row in the order of upload, as DuckDB's Parquet reader gives it. */
const ROW_POSITION = 'file_index, file_row_number'

/**
 * The SQL of a plan's rows.
 * @param matches how many rows match the filter; needed for `last` alone
 */
export function rowsStatement(plan: Plan, matches: number | undefined): Statement {
  const parameters = [...(plan.filter?.parameters ?? [])]
  let sql = `SELECT ${plan.columns.map((column) => column.sql).join(', ')} FROM ${from(plan.scan, plan.source, parameters)}`
  if (plan.filter) sql += ` WHERE ${plan.filter.sql}`
  if (plan.order.length > 0) {
    // OData puts null before every value (4.01 part 1, 11.2.6.2); ties keep the order of upload.
    const keys = plan.order.map(
      (key) => `${key.sql} ${key.descending ? 'DESC NULLS LAST' : 'ASC NULLS FIRST'}`,
    )
    keys.push(plan.scan.kind === 'inline' ? 'position' : ROW_POSITION)
    sql += ` ORDER BY ${keys.join(', ')}`
  }
  sql += limit(plan, matches)
  return { sql, parameters, columns: plan.columns.map(({ name, type }) => ({ name, type })) }
}

/** The SQL that counts the rows which match the filter. */
export function countStatement(plan: Plan): Statement {
  const parameters = [...(plan.filter?.parameters ?? [])]
  const where = plan.filter ? ` WHERE ${plan.filter.sql}` : ''
  return {
    sql: `SELECT count(*) FROM ${from(plan.scan, plan.source, parameters)}${where}`,
    parameters,
    columns: [{ name: 'count', type: 'integer' }],
  }
}

function limit(plan: Plan, matches: number | undefined): string {
  const { skip, top, last } = plan.window
  if (last !== undefined) {
    if (matches === undefined)
      throw new TypeError('the last rows can be told only when their number is known')
    return ` LIMIT ${last} OFFSET ${Math.max(matches - last, 0)}`
  }
  return (top === undefined ? '' : ` LIMIT ${top}`) + (skip > 0 ? ` OFFSET ${skip}` : '')
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

/** Whole files are read together; a file of which only a range is wanted is read by row number, which prunes. */
function slicesSql(slices: readonly Slice[], source: readonly PlanColumn[]): string {
  const whole = slices.every((slice) => slice.from === undefined && slice.to === undefined)
  const numbered = source.some((column) => column.sql === ROW_NUMBER)
  if (whole && !numbered) return readParquet(slices)
  const groups: { slices: Slice[]; where: string }[] = []
  for (const slice of slices) {
    const where = [
      slice.from !== undefined && `file_row_number >= ${slice.from}`,
      slice.to !== undefined && `file_row_number < ${slice.to}`,
    ].filter(Boolean)
    const last = groups.at(-1)
    if (where.length === 0 && last?.where === '') last.slices.push(slice)
    else groups.push({ slices: [slice], where: where.length > 0 ? ` WHERE ${where.join(' AND ')}` : '' })
  }
  const names = uniqueNames(source)
  const selects = groups.map((group) => {
    const columns = names.map((sql) => (sql === ROW_NUMBER ? `${rowNumberOf(group.slices)} AS ${sql}` : sql))
    // Read together, the files keep the numbers by which rows are put in order.
    if (whole) columns.push(ROW_POSITION)
    return `SELECT ${columns.join(', ')} FROM ${readParquet(group.slices)}${group.where}`
  })
  return `(${selects.join(' UNION ALL ')})`
}

/** What columns are called in SQL; those that show the same share one name. */
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
    ({ type, sql }, index) => `CAST(json_extract_string(r, '$[${index}]') AS ${sqlType(type)}) AS ${sql}`,
  )
  return (
    `(SELECT ${columns.join(', ')}, position FROM (SELECT unnest(CAST($${parameter} AS JSON[])) AS r, ` +
    `generate_subscripts(CAST($${parameter} AS JSON[]), 1) AS position))`
  )
}

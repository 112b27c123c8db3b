import { EngineError, hint } from '../../../errors.ts'
import { type ColumnType, decimalParts, type Statement, sqlType, typeName } from '../../../types/index.ts'
import type { EncodedColumn, EncodeOptions } from '../encoder.ts'

/** Limits of a sheet (Excel's specifications and limits). */
const XLSX_COLUMNS = 16_384
export const XLSX_CHARACTERS = 32_767
/** Excel keeps 15 digits of a number. */
export const MAX_DIGITS = 15
export const MAX_EXACT = 999_999_999_999_999
/** The first day on which Excel's calendar is right, and its last. */
const DAYS = ['1900-03-01', '9999-12-31'] as const
/** The same in days since 1970. */
export const [FIRST_DAY, LAST_DAY] = DAYS.map((day) => Date.parse(day) / 86_400_000) as [number, number]

/**
 * Finds out before the first byte is sent whether a sheet can hold a result. Gives the positions of the columns in which
 * a value is only exact as text: all their cells are to be text, because programs round numbers next to texts.
 * @param rows runs a statement
 * @throws EngineError `not_representable` if it can't
 */
export async function requireSheet(
  statement: Statement,
  overlong: EncodeOptions['overlong'],
  rows: (check: Statement) => Promise<readonly (readonly unknown[])[]>,
): Promise<ReadonlySet<number>> {
  const { columns } = statement
  requireColumns(columns)
  const checks = columns.flatMap(({ type }, index) => {
    const check = checkOf(type, `k${index}`)
    return !check || (check.length && overlong === 'cut') ? [] : { ...check, index }
  })
  if (checks.length === 0) return new Set()
  const [row] = await rows({
    sql: `SELECT ${checks.map(({ holds }) => `bool_or(${holds})`).join(', ')} FROM ${resultOf(statement)}`,
    parameters: statement.parameters,
    columns: checks.map(({ index }) => ({ name: `k${index}`, type: 'boolean' })),
  })
  const found = checks.filter((_, at) => row![at] === true)
  const long = found.filter(({ length }) => length)
  const [first] = long.length > 0 ? await rows(firstTooLong(statement, long)) : []
  if (!first) return new Set(found.map(({ index }) => index))
  const [number, column, length] = first.map(Number)
  throw textTooLong(columns[column!]!.name, length!, number)
}

/** @throws EngineError `not_representable` for more columns than a sheet has */
export function requireColumns({ length }: readonly EncodedColumn[]): void {
  if (length <= XLSX_COLUMNS) return
  throw new EngineError(
    'not_representable',
    `A sheet has room for ${grouped(XLSX_COLUMNS)} columns, the result has ${grouped(length)}. Select fewer columns, or choose another format.`,
  )
}

/** @param row counted from one; undefined where only the column is known */
function textTooLong(column: string, length: number, row?: number): EngineError {
  const where = row === undefined ? '' : `row ${grouped(row)}, `
  return new EngineError(
    'not_representable',
    `A cell of a sheet holds ${grouped(XLSX_CHARACTERS)} characters, but ${where}column '${column}' has ` +
      `${grouped(length)}. Leave the column out, choose another format, or have long texts cut with ${hint('$overlong=cut')}.`,
  )
}

function grouped(count: number): string {
  return count.toLocaleString('en-US')
}

/** Throws if a text is too long; characters are counted as Excel does, in UTF-16 units. */
export function checkText(column: EncodedColumn, bytes: Uint8Array, start: number, end: number): void {
  const length = lengthOf(column, bytes, start, end)
  if (length > XLSX_CHARACTERS) throw textTooLong(column.name, length)
}

/** The beginning of a text that fits a cell, with a mark at the end that it was cut; undefined if all of it fits. */
export function cutText(
  column: EncodedColumn,
  bytes: Uint8Array,
  start: number,
  end: number,
): Uint8Array | undefined {
  const length = lengthOf(column, bytes, start, end)
  if (length <= XLSX_CHARACTERS) return undefined
  const mark = `… [cut: ${grouped(length)} characters]`
  // A character has at most three bytes for each of its UTF-16 units.
  const text = shownText(column, bytes, start, Math.min(end, start + 3 * XLSX_CHARACTERS))
  // If the cut divides a surrogate pair, its first half is removed, too.
  const shortened = text.slice(0, XLSX_CHARACTERS - mark.length).replace(/[\ud800-\udbff]$/, '')
  return Buffer.from(shortened + mark)
}

/** The length of a text in UTF-16 units. The text itself may be longer than a string can be. */
function lengthOf({ type }: EncodedColumn, bytes: Uint8Array, start: number, end: number): number {
  if (type === 'binary') return Math.ceil((end - start) / 3) * 4
  let length = 0
  for (let at = start; at < end; at++) {
    const byte = bytes[at]!
    // All bytes begin a character but those of the form 10xxxxxx; characters of four bytes have two units.
    if ((byte & 0xc0) !== 0x80) length += byte >= 0xf0 ? 2 : 1
  }
  return length
}

function shownText({ type }: EncodedColumn, bytes: Uint8Array, start: number, end: number): string {
  const own = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start)
  return own.toString(type === 'binary' ? 'base64' : 'utf8')
}

/** What is looked for in a column, as SQL. */
interface Check {
  /** Whether a value is only exact as text, or for texts, whether it may be too long: it has too many bytes. */
  readonly holds: string
  /** For texts, the number of characters in a cell. */
  readonly length?: string
}

function checkOf(type: ColumnType, sql: string): Check | undefined {
  const name = typeName(type)
  const between = (first: string, last: string) => ({
    holds: `${sql} NOT BETWEEN CAST('${first}' AS ${name}) AND CAST('${last}' AS ${name})`,
  })
  switch (name) {
    case 'integer':
      return { holds: `${sql} NOT BETWEEN -${MAX_EXACT} AND ${MAX_EXACT}` }
    case 'double':
      return { holds: `NOT isfinite(${sql})` }
    case 'decimal':
      return manyDigits(type, sql)
    case 'date':
      return between(...DAYS)
    case 'timestamp':
    case 'timestamptz':
      return between(`${DAYS[0]} 00:00:00+00`, `${DAYS[1]} 23:59:59.999999+00`)
    case 'binary': {
      const most = Math.floor(XLSX_CHARACTERS / 4) * 3
      return { holds: `octet_length(${sql}) > ${most}`, length: `(octet_length(${sql}) + 2) // 3 * 4` }
    }
    case 'string':
    case 'json': {
      // A character above U+FFFF counts as two in UTF-16.
      const pairs = `length(regexp_replace(${sql}, '[^\\x{10000}-\\x{10FFFF}]', '', 'g'))`
      return { holds: `strlen(${sql}) > ${XLSX_CHARACTERS}`, length: `length(${sql}) + ${pairs}` }
    }
    default:
      return undefined
  }
}

/** Zeros at both ends of a decimal are not counted as digits. */
function manyDigits(type: ColumnType, sql: string): Check | undefined {
  const { precision, scale } = decimalParts(type)!
  if (precision <= MAX_DIGITS) return undefined
  const nines = '9'.repeat(MAX_DIGITS).padStart(scale + 1, '0')
  const most = `${nines.slice(0, -scale || undefined)}.${scale > 0 ? nines.slice(-scale) : ''}`
  const digits = `trim(replace(replace(CAST(${sql} AS VARCHAR), '.', ''), '-', ''), '0')`
  // Few values are so large that their digits must be counted.
  return {
    holds: `CASE WHEN abs(${sql}) > CAST('${most}' AS ${sqlType(type)}) THEN length(${digits}) > ${MAX_DIGITS} END`,
  }
}

/** Finds the first row with a text that is too long: its number, the position of the column, and the length. */
function firstTooLong(statement: Statement, long: readonly (Check & { index: number })[]): Statement {
  const cases = long.map(
    ({ index, holds, length }) =>
      `WHEN ${holds} AND ${length} > ${XLSX_CHARACTERS} THEN [${index}, ${length}]`,
  )
  const numbered = `SELECT row_number() OVER () AS number, * FROM ${resultOf(statement)}`
  return {
    sql:
      'SELECT number, CAST(found[1] AS BIGINT), CAST(found[2] AS BIGINT) FROM ' +
      `(SELECT number, CASE ${cases.join(' ')} END AS found FROM (${numbered})) ` +
      'WHERE found IS NOT NULL ORDER BY number LIMIT 1',
    parameters: statement.parameters,
    columns: [
      { name: 'row', type: 'integer' },
      { name: 'column', type: 'integer' },
      { name: 'length', type: 'integer' },
    ],
  }
}

function resultOf({ sql, columns }: Statement): string {
  return `(${sql}) AS result(${columns.map((_, index) => `k${index}`).join(', ')})`
}

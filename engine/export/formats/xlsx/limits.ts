import { EngineError } from '../../../errors.ts'
import type { Statement } from '../../../types/index.ts'
import type { EncodedColumn, EncodeOptions } from '../encoder.ts'

/** Limits of a sheet (Excel's specifications and limits). */
const XLSX_COLUMNS = 16_384
export const XLSX_CHARACTERS = 32_767

/**
 * Finds out before the first byte is sent whether a sheet can hold a result.
 * @param rows runs a statement
 * @throws EngineError `not_representable` if it can't
 */
export async function requireSheet(
  statement: Statement,
  overlong: EncodeOptions['overlong'],
  rows: (check: Statement) => Promise<readonly (readonly unknown[])[]>,
): Promise<void> {
  const { columns } = statement
  requireColumns(columns)
  const check = overlong === 'cut' ? undefined : xlsxCheck(statement)
  if (!check || (await rows(check.some)).length === 0) return
  const [found] = await rows(check.first)
  if (!found) return
  const [row, column, length] = found.map(Number)
  throw textTooLong(columns[column!]!.name, length!, row)
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
      `${grouped(length)}. Leave the column out, choose another format, or have long texts cut with $overlong=cut.`,
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

/**
 * SQL that finds texts that a cell can't hold, to be run before the first byte is sent. `some` returns a row if there
 * may be such a text; it is quick because it compares the number of bytes, which is never less than that of characters.
 * `first` then returns the number of the first row with such a text, the position of the column, and the length; no row
 * if there is none. Undefined if no column holds texts.
 */
function xlsxCheck(
  statement: Statement,
): { readonly some: Statement; readonly first: Statement } | undefined {
  const aliases = statement.columns.map((_, index) => `k${index}`)
  const texts = statement.columns.flatMap(({ type }, index) => {
    const name = `k${index}`
    if (type === 'binary')
      return [{ index, bytes: `octet_length(${name})`, length: `(octet_length(${name}) + 2) // 3 * 4` }]
    if (type !== 'string' && type !== 'json') return []
    // A character above U+FFFF counts as two in UTF-16.
    const pairs = `length(regexp_replace(${name}, '[^\\x{10000}-\\x{10FFFF}]', '', 'g'))`
    return [{ index, bytes: `strlen(${name})`, length: `length(${name}) + ${pairs}` }]
  })
  if (texts.length === 0) return undefined
  const result = `(${statement.sql}) AS result(${aliases.join(', ')})`
  const { parameters } = statement
  const suspects = texts.map(({ index, bytes }) => {
    const limit =
      statement.columns[index]!.type === 'binary' ? Math.floor(XLSX_CHARACTERS / 4) * 3 : XLSX_CHARACTERS
    return `${bytes} > ${limit}`
  })
  const numbered = `SELECT row_number() OVER () AS number, * FROM ${result}`
  const cases = texts.map(
    ({ index, length }, position) =>
      `WHEN ${suspects[position]} AND ${length} > ${XLSX_CHARACTERS} THEN [${index}, ${length}]`,
  )
  const found = `SELECT number, CASE ${cases.join(' ')} END AS found FROM (${numbered})`
  return {
    some: {
      sql: `SELECT CAST(1 AS BIGINT) FROM ${result} WHERE ${suspects.join(' OR ')} LIMIT 1`,
      parameters,
      columns: [{ name: 'some', type: 'integer' }],
    },
    first: {
      sql:
        'SELECT number, CAST(found[1] AS BIGINT), CAST(found[2] AS BIGINT) ' +
        `FROM (${found}) WHERE found IS NOT NULL ORDER BY number LIMIT 1`,
      parameters,
      columns: [
        { name: 'row', type: 'integer' },
        { name: 'column', type: 'integer' },
        { name: 'length', type: 'integer' },
      ],
    },
  }
}

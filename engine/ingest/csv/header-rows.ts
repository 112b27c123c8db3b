import type { UploadOptions } from '../request.ts'
import { joinedHeader, needsNumbers } from '../targets.ts'
import { kindOf, TEXT_KIND } from '../text/text-kinds.ts'
import { readColumns } from './columns.ts'
import { isValues, type Layout, rowsOf } from './records.ts'
import type { Field } from './tokenizer.ts'
import { isUsualNull } from './words.ts'

const MOST_HEADER_ROWS = 3

/** A layout whose first record has the names of all rows of the header. */
export interface Headed extends Layout {
  /** How many rows these are. */
  readonly headerRows: number
}

/** The layout with its header, of which `dialect=auto` may have taken the upper rows for titles, or the lower for rows. */
export function withHeaderRows(layout: Layout, { headerRows, header }: UploadOptions): Headed {
  if (headerRows !== undefined || header !== undefined) return joined(layout, headerRows ?? 1)
  for (let above = Math.min(layout.above.length, MOST_HEADER_ROWS - 1); above >= 0; above--) {
    const records = [...layout.above.slice(layout.above.length - above), ...layout.records]
    const count = headerRowsIn(records, above + 1)
    if (count > 1) return joined({ ...layout, skip: layout.skip - above, records }, count)
  }
  return { ...layout, headerRows: 1 }
}

/** Whether texts may be names of columns although they are numbers. */
export function mayBeNames([first = '', ...others]: readonly string[]): boolean {
  if (others.length > 0 && others.every(isYear)) return true
  if (!others.every((text) => /^\d+$/.test(text))) return false
  if ((kindOf(first) & TEXT_KIND.text) !== 0) return others.length > 0
  const all = [first, ...others].map(Number)
  const period = all.findIndex((value, at) => at > 0 && value === all[0])
  const length = period < 0 ? all.length : period
  return length > 2 && all.every((value, at) => value === all[0]! + (at % length))
}

const textsOf = (record: readonly Field[]) => record.map(({ text }) => text)

function joined(layout: Layout, headerRows: number): Headed {
  const { records } = layout
  if (headerRows === 1) return { ...layout, headerRows }
  const names = joinedHeader(records.slice(0, headerRows).map(textsOf))
  const heading = names.map((text) => ({ text, quoted: false }))
  return { ...layout, records: [heading, ...records.slice(headerRows)], headerRows }
}

/** How many records the header has, if it has several; otherwise 1. @param least how many it has at least */
export function headerRowsIn(records: readonly (readonly Field[])[], least = 1): number {
  for (let count = Math.max(2, least); count <= MOST_HEADER_ROWS; count++)
    if (isHeader(records, count)) return count
  return 1
}

/**
 * Whether the first records are a header of so many rows: none of them names all columns, but together they do, and the
 * last one has words over columns of numbers or dates.
 */
function isHeader(records: readonly (readonly Field[])[], count: number): boolean {
  const rows = records.slice(0, count).map(textsOf)
  const below = rowsOf(records.slice(count))
  const width = below[0]?.fields.length ?? 0
  if (width === 0 || !rows.every((row) => row.length === width && needsNumbers(row) && areNames(row)))
    return false
  const typed = readColumns(below, width, { delimiter: ',', given: {} })
  const names = joinedHeader(rows).filter((name, at) => name !== '' || typed[at]!.is !== 'open')
  // A single text at the beginning is a title.
  if (needsNumbers(names) || rows.some((row) => row[0] !== '' && isAlone(row))) return false
  const last = rows.at(-1)!
  const filled = last.filter((text) => text !== '')
  const hasRepeatedYears = filled.every(isNumber) && new Set(filled).size < filled.length
  const words = typed.filter((reading, at) => isValues(reading) && isWord(last[at]!))
  return words.length > 1 || (hasRepeatedYears && typed.some(isValues))
}

const isYear = (text: string) => /^(?:19|20)\d\d$/.test(text)
const isNumber = (text: string) => /^\d+$/.test(text)
const isAlone = (row: readonly string[]) => row.filter((text) => text !== '').length === 1
const isWord = (text: string) => (kindOf(text) & TEXT_KIND.text) !== 0 && !isUsualNull(text)

function areNames(row: readonly string[]): boolean {
  const filled = row.filter((text) => text !== '')
  return filled.length > 0 && (filled.every((text) => isWord(text) || isYear(text)) || mayBeNames(filled))
}

import type { UploadOptions } from '../request.ts'
import { needsNumbers } from '../targets.ts'
import { kindOf, TEXT_KIND } from '../text/text-kinds.ts'
import { readColumns, type SampledRow } from './columns.ts'
import { headerRowsIn } from './header-rows.ts'
import { isSentence, isSpaced, mayBeNote } from './notes.ts'
import { isValues, type Layout, recordsOf, rowsOf } from './records.ts'
import type { Rule } from './rules.ts'
import type { Field } from './tokenizer.ts'

const DELIMITERS = [',', ';', '|', '\t'] as const
/** So many lines above the header are looked at for titles. */
const MOST_TITLES = 20

/** By which evidence `dialect=auto` finds the table in a text. */
export const LAYOUT_RULES: readonly Rule[] = [
  {
    option: 'encoding',
    about:
      'The bytes have a byte order mark, have a zero in every second place, or are not UTF-8 but Japanese kana in Shift ' +
      'JIS, or words of Western languages in windows-1252. Of other bytes, such as Cyrillic, nothing shows the encoding.',
  },
  {
    option: 'skip',
    about:
      'The lines above the header are blank, begin with `# ` or `sep=`, fill less than half of the fields, or have ' +
      'fewer fields than all that follow, or are sentences whose commas have a space after them. A title needs a blank ' +
      'line after it, or a next row that can be a header: words over columns of numbers or dates.',
  },
  {
    option: 'delimiter',
    about:
      'It splits all rows into equally many fields, and into more columns of numbers and dates, or more fields, than ' +
      'others do. A header without a delimiter over rows in which each comma is followed by a space is one column of text.',
  },
  {
    option: 'quotes',
    about: "Rows have as many fields as the header only if single quotes are around fields: `'x, y'` is one.",
  },
  {
    option: 'escape',
    about:
      'With `\\`, quotes within quotes have a backslash before them, and the rows can be read only so. With ' +
      '`backslash`, some field is `\\N`, each backslash is before a character that PostgreSQL or MySQL escape, and one ' +
      'is before another, a delimiter or a quote.',
  },
  {
    option: 'header',
    about:
      'The first row holds values like those below it, which makes it a row. Numbers may be names if the first name is ' +
      'a word, or if they are years or count up, once or again and again. A file for a dataset that has columns always names them.',
  },
  {
    option: 'headerRows',
    about:
      'None of the first two or three rows names all columns, but together they name each differently, as years over ' +
      'quarters do, and the last of them has words over at least two columns of numbers or dates, or years that repeat. ' +
      'In a workbook, it is also two rows if merged cells of the first are over names of text in the second.',
  },
  {
    option: 'names',
    about:
      'The header has no name over the first column, or lacks one that R leaves out, with a text in quotes at the ' +
      'start of each row that occurs once. Names that are missing or occur twice are numbered, and columns at both ends ' +
      'without a name and a value left out. Rows that are wider than the header for another reason are an error.',
  },
  {
    option: 'footer',
    about:
      'The last lines fill a single field, or are sentences whose commas have a space after them, and stand after a ' +
      'blank line or begin with a word such as `Source:`. If they have as many fields as a row, they have words where ' +
      'the rows have numbers or dates. Or the last row is called `Total` and its numbers are the sums of the rows above ' +
      'it, or no other value makes its column text.',
  },
]

export const delimitersFor = (usual: string, known: UploadOptions): readonly string[] =>
  known.delimiter ? [known.delimiter] : [usual, ...DELIMITERS.filter((one) => one !== usual)]

/** Whether there are rows, and all have as many fields as the header. */
export function isEven({ records }: Layout): boolean {
  return records.length > 1 && records.every(({ length }) => length === records[0]!.length)
}

/** Whether every backslash is one that PostgreSQL or MySQL write, and one of them would make no sense otherwise. */
function isEscaped(text: string): boolean {
  const found = text.match(/\\[\s\S]?/g) ?? []
  return (
    found.every((one) => /^\\[\\0bfnrtvNZ"',;|\t\n]$/.test(one)) &&
    found.some((one) => /^\\[\\"',;|\t]$/.test(one))
  )
}

/** How fields may be quoted or escaped in other ways than RFC 4180 has it, with the pattern that shows it. */
export const QUOTINGS: readonly {
  readonly options: UploadOptions
  readonly pattern: RegExp
  /** Whether it is looked for in a text, too, that can be read otherwise. */
  readonly isAlways?: true
  readonly fits?: (text: string) => boolean
}[] = [
  {
    options: { escape: 'backslash' },
    pattern: /(?<=^|[,;|\t])\\N(?=$|[,;|\t\r])/m,
    isAlways: true,
    fits: isEscaped,
  },
  { options: { escape: '\\' }, pattern: /\\"/ },
  { options: { quotes: "'" }, pattern: /(?<=^|[,;|\t])'[^'\n]*[,;|\t]/m },
]

/** Where the header is, and the delimiter that splits the records below it, by the rules. */
export function layoutOf(text: string, usual: string, known: UploadOptions): Layout {
  const delimiters = delimitersFor(usual, known)
  const lines = text.split('\n').map((line) => line.replace(/\r$/, ''))
  const from = (skip: number) => text.split('\n').slice(skip).join('\n')
  const filled = lines.findIndex((line) => line !== '')
  const first = known.skip ?? Math.max(0, filled)
  const last = known.skip ?? Math.min(MOST_TITLES, lines.length) - 1
  for (let skip = first; skip <= last; skip++) {
    if (skip > first && lines[skip] === '') continue
    const below = from(skip)
    const above = lines.slice(lines.lastIndexOf('', skip - 1) + 1, skip)
    const layouts = delimiters.map((delimiter) => ({
      skip,
      delimiter,
      records: recordsOf(below, delimiter),
      above: skip > first ? above.map((line) => recordsOf(line, delimiter)[0] ?? []) : [],
    }))
    const best = bestOf(layouts)
    const width = widthOf(best.records)
    const isTitle =
      best.records.length > 1 &&
      (isNote(best.records[0]!, usedIn(best.records.slice(1))) ||
        isSentenceAbove(best.records, lines[skip + 1] === ''))
    // Lines above a single record are no titles of it: more likely they are the table.
    const isTable = skip === first || best.records.length > 1
    if (width > 1 && isTable && !isTitle && areTitles(lines.slice(first, skip), best)) return best
    // A header is no title because a row is too short: that row is the error.
    const ragged = skip === first && layouts.find(({ records }) => isRagged(records))
    if (ragged) return ragged
  }
  const [delimiter = usual] = delimiters
  const plain = { skip: first, delimiter, records: recordsOf(from(first), delimiter), above: [] }
  const other =
    known.delimiter === undefined &&
    isProse(plain.records) &&
    DELIMITERS.findLast((one) => !text.includes(one))
  return other ? { ...plain, delimiter: other, records: recordsOf(from(first), other) } : plain
}

/** The layout with the most columns of numbers and dates, and of these the one with the most fields. */
function bestOf(layouts: readonly Layout[]): Layout {
  const even = layouts.filter(({ records }) => widthOf(records) > 1)
  if (even.length < 2) return even[0] ?? layouts[0]!
  const typed = even.map(({ records, delimiter }) => {
    const rows = rowsOf(records.slice(1))
    return readColumns(rows, widthOf(records), { delimiter, given: {} }).filter(isValues).length
  })
  return even.reduce((best, one, at) => {
    const [a, b] = [typed[even.indexOf(best)]!, typed[at]!]
    return b > a || (b === a && widthOf(one.records) > widthOf(best.records)) ? one : best
  })
}

/** A record that is not among the titles and notes of a table. */
const middleOf = (records: readonly (readonly Field[])[]) => records[records.length >> 1]

/** Whether a header without a delimiter is over texts in which a space follows each delimiter. */
function isProse([heading = [], ...rows]: readonly (readonly Field[])[]): boolean {
  return heading.length === 1 && rows.some(({ length }) => length > 1) && rows.every(isSpaced)
}

/** Whether a sentence is over rows that have another length, or with words over columns of numbers below a blank line. */
function isSentenceAbove(records: readonly (readonly Field[])[], isBlankBelow: boolean): boolean {
  const [first = [], second = []] = records
  if (!isSentence(first, middleOf(records))) return false
  return first.length !== second.length || (isBlankBelow && canBeHeader(records.slice(1)))
}

/** Whether lines above a table are titles. */
function areTitles(lines: readonly string[], { records, delimiter }: Layout): boolean {
  if (lines.length === 0) return true
  const [width, used] = [widthOf(records), usedIn(records.slice(1))]
  const fields = lines.map((line) => recordsOf(line, delimiter)[0] ?? [])
  const [row] = records.slice(1)
  const isTitle = (record: readonly Field[]) => isNote(record, used) || isSentence(record, row)
  if (!lines.every((line, at) => line.trim() === '' || isTitle(fields[at]!))) return false
  if (canBeHeader(records) || headerRowsIn(records) > 1) return true
  // Names with a space before them may be a header with a blank line below it.
  if (fields.some((record) => record.length === width && isSentence(record, row))) return false
  const isBlank = (line: string, at: number) => line === '' || fields[at]!.every(({ text }) => text === '')
  return lines.some(isBlank) || lines.every((line) => /^(# |sep=)/.test(line))
}

/** Whether the first record has a word over each column with values but perhaps the first, and some have numbers or dates. */
function canBeHeader([heading = [], ...rows]: readonly (readonly Field[])[]): boolean {
  const isWord = ({ text }: Field, at: number) =>
    text.trim() === '' ? at === 0 || isUnused(rows, at) : (kindOf(text) & TEXT_KIND.text) !== 0
  if (!heading.every(isWord)) return false
  return readColumns(rowsOf(rows), heading.length, { delimiter: ',', given: {} }).some(isValues)
}

const isUnused = (records: readonly (readonly Field[])[], at: number) =>
  records.every((record) => (record[at]?.text ?? '').trim() === '')

/** The positions of the columns that have a value. */
const usedIn = (records: readonly (readonly Field[])[]) =>
  (records[0] ?? []).flatMap((_, at) => (isUnused(records, at) ? [] : at))

/** Whether a record above a table with values in these columns may be a title or a comment, and no header. */
function isNote(record: readonly Field[], columns: readonly number[]): boolean {
  const filled = record.filter(({ text }) => text.trim() !== '').length
  const isFirst = filled === 1 && record[columns[0] ?? 0]?.text !== ''
  return filled < columns.length / 2 || isFirst || record[0]?.text.startsWith('# ') === true
}

/**
 * The number of fields that all records have; 0 if they have different ones. Rows may have one field more than the
 * header, and notes may follow them.
 */
function widthOf(records: readonly (readonly Field[])[]): number {
  const [first = [], second = first] = records
  const isRow = (record: readonly Field[]) => record.length > 1 && !mayBeNote(record, second)
  const table = records.slice(1, 1 + records.findLastIndex(isRow))
  const isEven = second.length - first.length <= 1 && table.every(({ length }) => length === second.length)
  return isEven && second.length >= first.length ? first.length : 0
}

/**
 * Whether records of different lengths may be a table whose first one is the header: more than half have as many fields
 * as it, or all are split, and it has not much fewer fields than the others.
 */
function isRagged(records: readonly (readonly Field[])[]): boolean {
  const [first = []] = records
  if (isSentence(first, middleOf(records))) return false
  const same = records.filter(({ length }) => length === first.length)
  if (same.length > records.length / 2) return first.length > 1 && !isNote(first, [...first.keys()])
  const widest = Math.max(0, ...records.map(({ length }) => length))
  return (
    records.length > 2 &&
    records.every(({ length }) => length > 1) &&
    !isNote(first, [...Array(widest).keys()])
  )
}

/** How columns are called that have no name, or the same one. */
export function namesFor(heading: readonly Field[], rows: readonly SampledRow[]): UploadOptions['names'] {
  const texts = heading.map(({ text }) => text)
  if (rows.length > 0 && rows.every(({ fields }) => fields.length > heading.length)) {
    if (rows.every(({ fields }) => fields.at(-1)!.text === '')) return 'number'
    const first = rows.map(({ fields }) => fields[0]!)
    const areNames =
      first.every(({ quoted }) => quoted) && new Set(first.map(({ text }) => text)).size === first.length
    return areNames ? 'index' : undefined
  }
  if (texts.length < 2 || !needsNumbers(texts)) return undefined
  const isUnused = rows.length > 0 && rows.every(({ fields }) => fields[0]?.text === '')
  return texts[0] === '' && !isUnused && !needsNumbers(texts.slice(1)) ? 'index' : 'number'
}

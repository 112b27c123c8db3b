import { typeName } from '../../types/index.ts'
import type { Detected } from '../dialect.ts'
import { readEnd, readStart } from '../file.ts'
import type { Choice, ColumnReading, ReadRequest, UploadFormat, UploadOptions } from '../request.ts'
import { type KnownColumns, namesOfColumns } from '../targets.ts'
import { isNumeric } from '../text/text-kinds.ts'
import { choiceOf, type Declared, optionsOf, readColumns, type SampledRow } from './columns.ts'
import { mayBeNames, withHeaderRows } from './header-rows.ts'
import { delimitersFor, isEven, layoutOf, namesFor, QUOTINGS } from './layout.ts'
import { endOf, isNamedNote, isSentence, isTotal, mayBeNote } from './notes.ts'
import { ambiguousValue } from './open.ts'
import { hasOnlyReturns, requoted } from './quoting.ts'
import { isValues, rowsOf, SAMPLE_RECORDS } from './records.ts'
import type { FileFacts } from './rules.ts'
import { decoderOf, encodingOf, fieldReader } from './syntax.ts'
import type { Field } from './tokenizer.ts'

const SAMPLE_BYTES = 256 * 1024
const END_BYTES = 16 * 1024

/**
 * Finds the options with which a csv file is read, by the rules of `VALUE_RULES` and `LAYOUT_RULES`. What can't be told,
 * such as the month of 01/02/2024, stays text.
 * @throws EngineError `invalid_upload` if a column of the dataset holds numbers or dates, and those of the file can't be told
 */
export async function detectDialect(
  { file, format, options = {}, beginning = false }: ReadRequest,
  declared: KnownColumns,
): Promise<Detected> {
  const bytes = await readStart(file, SAMPLE_BYTES)
  const { dialect: _, ...known } = options
  const encoding = known.encoding ?? encodingOf(bytes)
  const isWhole = bytes.length < SAMPLE_BYTES && !beginning
  const decode = (some: Buffer, whole: boolean) =>
    decoderOf({ encoding }, bytes, { fatal: false }).decode(some, { stream: !whole })
  const text = decode(bytes, isWhole)
  const end = beginning
    ? ''
    : isWhole
      ? text
      : decode(await readEnd(file, END_BYTES), true).replace(/^[^\n]*\n/, '')
  const given = format === 'html' ? ({ ...known, delimiter: ',', quotes: '"' } as const) : known
  const found = findTable({ text, end, isWhole }, format, given, declared)
  const values = optionsOf(found.columns)
  const isOther = encoding !== 'utf-8'
  const why = isOther && !known.encoding ? [{ option: 'encoding', ...found.header }] : []
  return {
    options: { ...known, ...(isOther && { encoding }), ...found.options, ...values.options },
    why: [...why, ...found.why, ...values.why],
    columns: found.columns,
  }
}

/** The beginning of a table as csv, with as many of its last lines as may be notes. */
export interface TableSample {
  readonly text: string
  readonly end: string
  /** Whether the beginning is all of it. */
  readonly isWhole: boolean
}

/**
 * Finds the table in a text: its delimiter and header, what is above and below it, and how its columns are read.
 * @throws EngineError as `detectDialect`
 */
export function findTable(
  { text, end: below, isWhole }: TableSample,
  format: UploadFormat,
  known: UploadOptions,
  declared: KnownColumns,
): Pick<Detected, 'options' | 'why' | 'columns'> & { readonly header: Omit<Choice, 'option'> } {
  const usual = format === 'tsv' ? '\t' : ','
  const { quoting, layout, end, shownBy } = quotedLayout({ text, end: below, isWhole }, usual, known)
  const { skip, delimiter, records, headerRows } = withHeaderRows(layout, known)
  const facts: FileFacts = { delimiter, given: known }
  const table = tableIn(records, known, facts, declared.ofDataset)
  const types = declaredTypes(table, known, declared)
  const isSampled = isWhole && records.length < SAMPLE_RECORDS
  const { rows, columns, footer } = withoutFooter(table, end, facts, types, isSampled)
  refuseAmbiguous(columns, types, table, known)
  const names = table.header === 'absent' ? undefined : (known.names ?? namesFor(table.heading, rows))
  const options: UploadOptions = {
    ...quoting,
    ...(delimiter !== usual && { delimiter }),
    ...(skip > 0 && { skip }),
    ...(headerRows > 1 && { headerRows }),
    ...(table.header === 'absent' ? { header: table.header } : names && { names }),
    ...(footer && { footer: footer.count }),
  }
  const first = records[0]?.map((field) => field.text).join(delimiter) ?? ''
  const header = choiceOf({ row: 0, text: first })
  const shown: Partial<Record<keyof UploadOptions, Omit<Choice, 'option'>>> = {
    skip: choiceOf({ row: 0, text: /\S.*/.exec(text)?.[0].trimEnd() ?? '' }),
    header: choiceOf({ row: 1, text: first }),
    footer: footer?.shownBy,
    ...(shownBy !== undefined && { escape: shownBy, quote: shownBy }),
  }
  const why = Object.keys(options)
    .filter((option) => !(option in known))
    .map((option) => ({ option, ...(shown[option as keyof UploadOptions] ?? header) }))
  return { options, why, columns, header }
}

/** A text's layout in RFC 4180, and how it is quoted and escaped otherwise, with a line that shows it. */
function quotedLayout({ text, end, isWhole }: TableSample, usual: string, known: UploadOptions) {
  const whole = isWhole && !/[\r\n]$/.test(text) ? `${text}\n` : text
  const formOf = (quoting: UploadOptions) => {
    const forms = delimitersFor(usual, known).map((delimiter) => ({
      layout: layoutOf(requoted(whole, quoting, delimiter), usual, { ...known, delimiter }),
      end: requoted(end, quoting, delimiter),
    }))
    const even = forms.filter(({ layout }) => isEven(layout))
    return { form: even.find(({ layout }) => layout.records[0]!.length > 1) ?? even[0], any: forms[0]! }
  }
  const { quotes: quote, escape: escaped } = known
  if (quote !== undefined || escaped !== undefined) {
    const { form, any } = formOf(known)
    return { quoting: {}, ...(form ?? any), shownBy: undefined }
  }
  const hasReturns = hasOnlyReturns(whole)
  const [lines, below] = [whole, end].map((one) => (hasReturns ? one.replaceAll('\r', '\n') : one)) as [
    string,
    string,
  ]
  const layout = layoutOf(lines, usual, known)
  for (const { options, pattern, isAlways, fits } of QUOTINGS) {
    const found = pattern.exec(lines)
    if (!found || (!isAlways && isEven(layout)) || fits?.(lines) === false) continue
    const { form } = formOf(options)
    const line = lines.slice(lines.lastIndexOf('\n', found.index) + 1).split('\n', 1)[0]!
    if (form) return { quoting: options, ...form, shownBy: choiceOf({ row: 0, text: line }) }
  }
  return { quoting: {}, layout, end: below, shownBy: undefined }
}

interface Table {
  readonly header: NonNullable<UploadOptions['header']>
  readonly heading: readonly Field[]
  readonly width: number
  readonly rows: readonly SampledRow[]
}

/** The header and the rows of a sample. Rows of another length are errors, which the reading of the file reports. */
function tableIn(
  records: readonly (readonly Field[])[],
  known: UploadOptions,
  facts: FileFacts,
  isNamed: boolean,
): Table {
  const heading = records[0] ?? []
  const width = Math.max(heading.length, records[1]?.length ?? 0)
  const even = (rows: readonly SampledRow[]) => rows.filter(({ fields }) => fields.length === width)
  const below = even(rowsOf(records.slice(1)))
  // Without names, values could end up in other columns of a dataset than they are meant for.
  const header =
    known.header ??
    (!isNamed && !known.headerRows && isRow(heading, below, width, facts) ? 'absent' : 'present')
  return { header, heading, width, rows: header === 'absent' ? even(rowsOf(records)) : below }
}

/** Whether the first record is a row like those below it. */
function isRow(
  heading: readonly Field[],
  below: readonly SampledRow[],
  width: number,
  facts: FileFacts,
): boolean {
  if (below.length === 0 || heading.length < width || mayBeNames(heading.map(({ text }) => text)))
    return false
  const isValuesIn = (rows: readonly SampledRow[]) => readColumns(rows, width, facts).map(isValues)
  const some = below.slice(0, 100)
  const types = isValuesIn(some)
  return types.includes(true) && isValuesIn([{ row: 0, fields: heading }, ...some]).join() === types.join()
}

/** The names in a header. Where rows begin with a name of their own, that has none. */
function headingNames(heading: readonly Field[], width: number): string[] {
  const names = heading.map(({ text }) => text)
  return width > names.length ? ['', ...names] : names
}

/** What the dataset or the request declares of the columns of a file, by their positions. */
function declaredTypes(
  { header, heading, width }: Table,
  known: UploadOptions,
  { columns }: KnownColumns,
): Declared[] {
  const names = header === 'absent' ? [] : namesOfColumns(headingNames(heading, width), known)
  return Array.from({ length: width }, (_, at) => {
    const isInOrder = header === 'absent' && columns.length === width
    const column = isInOrder ? columns[at] : columns.find(({ name }) => name === names[at])
    if (!column) return undefined
    const type = typeName(column.type)
    if (isNumeric(column.type)) return 'number'
    return ['date', 'timestamp', 'timestamptz', 'boolean'].includes(type) ? 'other' : 'text'
  })
}

/** A column that has to hold numbers or dates can't stay text. */
function refuseAmbiguous(
  columns: readonly ColumnReading[],
  types: readonly Declared[],
  { heading }: Table,
  given: UploadOptions,
): void {
  columns.forEach(({ because }, at) => {
    if (!because || types[at] === undefined || types[at] === 'text') return
    if (because.try === undefined) return
    throw ambiguousValue(heading[at]?.text || (given.names ?? `column${at + 1}`), because, given)
  })
}

interface Footer {
  readonly count: number
  readonly shownBy: Omit<Choice, 'option'>
}

/** The rows of the table without notes and totals below it, and how its columns are read. */
function withoutFooter(
  { rows: all, width, header, heading }: Table,
  end: string,
  known: FileFacts,
  types: readonly Declared[],
  isWhole: boolean,
): { rows: readonly SampledRow[]; columns: readonly ColumnReading[]; footer?: Footer | undefined } {
  const facts = header === 'absent' ? known : { ...known, names: headingNames(heading, width) }
  if (facts.given.footer !== undefined) {
    const rows = isWhole ? all.slice(0, Math.max(0, all.length - facts.given.footer)) : all
    return { rows, columns: readColumns(rows, width, facts, types) }
  }
  const row = all[0]?.fields
  const isRow = (record: readonly Field[]) => {
    const above = all.slice(0, all.findLastIndex(({ fields }) => !mayBeNote(fields, row)) + 1)
    return fitsBelow(record, above, isSentence(record, row), (some) => readColumns(some, width, facts, types))
  }
  const { notes, wide, note, last, padding = 0 } = endOf(end, facts.delimiter, width, row, isRow)
  const cut = isWhole ? all.length - wide : all.length
  const rows = all.slice(0, cut)
  const footer =
    notes > 0 ? { count: notes, shownBy: choiceOf({ row: isWhole ? cut + 1 : 0, text: note }) } : undefined
  if (last?.length === width && isTotal(last)) {
    const above = isWhole ? rows.slice(0, -1 - padding) : rows
    const columns = readColumns(above, width, facts, types)
    const word = last.findIndex(({ text }) => text !== '')
    if (
      above.length > 1 &&
      (columns[word]!.is === 'typed' || (isWhole && areSums(last, above, columns, facts.given)))
    ) {
      const shownBy = choiceOf({ row: isWhole ? rows.length : 0, text: last[word]!.text })
      return { rows: above, columns, footer: { count: notes + 1 + padding, shownBy } }
    }
  }
  return { rows, columns: readColumns(rows, width, facts, types), footer }
}

/** Whether a record that may be a note is another row, because its values are like those of some column of numbers or dates. */
function fitsBelow(
  fields: readonly Field[],
  rows: readonly SampledRow[],
  isSentence: boolean,
  read: (rows: readonly SampledRow[]) => readonly ColumnReading[],
): boolean {
  const together = read([...rows, { row: 0, fields }])
  const typed = read(rows).flatMap(({ is }, at) => (is === 'typed' ? at : []))
  const others = typed.filter((at) => fields[at]!.text !== '' && together[at]!.is !== 'typed')
  if (typed.length === 0) return !isSentence || !isNamedNote(fields)
  return others.length === 0 || (!isSentence && others.length < typed.length)
}

/** Whether the numbers of a record are the sums of those in the rows above it, with several that are not zero in some column. */
function areSums(
  last: readonly Field[],
  rows: readonly SampledRow[],
  columns: readonly ColumnReading[],
  given: UploadOptions,
): boolean {
  const sums = columns.flatMap(({ is, options }, at) => {
    const total = last[at]!.text
    if (is !== 'typed' || total === '') return []
    const { value } = fieldReader({ ...given, ...options })
    const numberOf = (text: string) => Number(value(text, true) ?? text)
    const numbers = rows
      .map(({ fields }) => numberOf(fields[at]!.text))
      .filter((number) => !Number.isNaN(number))
    const sum = numbers.reduce((a, b) => a + b, 0)
    const isSum = Math.abs(sum - numberOf(total)) <= 1e-6 * Math.max(1, Math.abs(sum))
    return [{ isSum, tells: numbers.filter((number) => number !== 0).length > 1 }]
  })
  return sums.every(({ isSum }) => isSum) && sums.some(({ tells }) => tells)
}

import { rm } from 'node:fs/promises'
import { isDeepStrictEqual } from 'node:util'
import type { Duck } from '../../duckdb/duck.ts'
import { hint } from '../../errors.ts'
import { columnLetters } from '../../util/column-letters.ts'
import { ingestRewritten } from '../csv/ingest.ts'
import { withOptions } from '../csv/suggestions.ts'
import { isUsualNull } from '../csv/words.ts'
import { type Detected, inDialect } from '../dialect.ts'
import { FileSink, unpacksTooLarge } from '../file.ts'
import type { IngestResult, ReadRequest, UploadOptions } from '../request.ts'
import {
  joinedHeader,
  type KnownColumns,
  layHeader,
  namesOfColumns,
  shortHeader,
  type Target,
} from '../targets.ts'
import { Blanks } from '../text/blanks.ts'
import { badCell, countedFooter, malformed, quoteValue, type TextReason } from '../text/errors.ts'
import { type Rewritten, TypedRows } from '../text/rewritten.ts'
import {
  type Book,
  listed,
  MOST_ROWS,
  type OnRow,
  type OpenBook,
  PERCENT,
  percentages,
  type SheetCell,
  severalCurrencies,
} from './book.ts'
import { type SheetRow, SheetSample } from './detect.ts'
import { Marks } from './marks.ts'

/**
 * Reads a sheet of a workbook, the first visible one by default; its first row is the header. If the sheet is full and the
 * next one has the same header, as in our own exports, the rows of that one follow. Rows without any value count as rows of
 * nulls, except at the end.
 * @throws EngineError `invalid_upload`, `column_conflict`, `upload_too_large`, `storage_full`
 */
export function ingestWorkbook(
  open: OpenBook,
  duck: Duck,
  known: KnownColumns,
  request: ReadRequest,
): Promise<IngestResult> {
  return inDialect(
    request,
    () => detect(open, request, known),
    (given) => ingestRewritten((...upload) => toCsv(open, ...upload), duck, known, given),
  )
}

/** Finds the table in a sheet. */
async function detect(open: OpenBook, request: ReadRequest, known: KnownColumns): Promise<Detected> {
  const { options = {}, signal } = request
  await using book = await open(request)
  const sample = new SheetSample()
  const [sheet] = sheetsFrom(book, options.sheet)
  for await (const _ of sheet!.read((row, cells) => sample.add({ row, cells }))) signal?.throwIfAborted()
  return sample.detect(options, known, sheet!.merged)
}

/** @param target where the csv is to be written */
async function toCsv(
  open: OpenBook,
  request: ReadRequest,
  target: string,
  known: KnownColumns,
): Promise<Rewritten> {
  const learned: Learned = { width: 0, texts: new Set() }
  for (;;) {
    try {
      return await rewrite(open, request, target, known, learned)
    } catch (error) {
      if (error !== AGAIN) throw error
      await rm(target)
    }
  }
}

/** What a pass over the workbook has learned for the next one. */
interface Learned {
  /** How many columns there are at least: rows may have more values than the header names to number. */
  width: number
  /** The positions of columns of text, in which words for nothing stay as they are. */
  readonly texts: Set<number>
}

/** Is thrown where the workbook has to be read again with what was learned. */
const AGAIN = Symbol('again')

async function rewrite(
  open: OpenBook,
  request: ReadRequest,
  target: string,
  known: KnownColumns,
  learned: Learned,
) {
  const { options = {}, signal, onProgress, limits } = request
  const { unpackedBytes } = limits
  await using book = await open(request)
  await using sink = await FileSink.create(target)
  let table: SheetTable | undefined
  const { sheet: requested, skip = 0 } = options
  let header: readonly string[] | undefined
  const sheets = sheetsFrom(book, requested)
  const zeroFormulas: string[] = []
  const marks = new Marks()
  for (const sheet of sheets) {
    let names: readonly string[] | undefined
    const headerRows: string[][] = []
    let headerRow = 0
    let before = 0
    let continues = true
    const onRow: OnRow = (row, cells) => {
      if (!continues) return
      if (names) table!.add({ row, cells }, before)
      else {
        if (row <= skip) return
        headerRows.push(headerOf(row, cells, learned.width))
        if (headerRows.length < (options.headerRows ?? 1)) return
        const texts = joinedHeader(headerRows)
        names = namesOfColumns(texts, options)
        headerRow = row
        header ??= names
        continues = isDeepStrictEqual(header, names)
        table ??= new SheetTable(layHeader(known, texts, options), options, learned)
      }
      before = row
    }
    for await (const bytes of sheet.read(onRow)) {
      signal?.throwIfAborted()
      if (table) await sink.write(table.take())
      if (sink.written > unpackedBytes) throw unpacksTooLarge(unpackedBytes)
      onProgress?.({ bytes, rows: table?.rows ?? 0 })
      if (!continues) break
    }
    for (const cell of sheet.zeroFormulas) zeroFormulas.push(cell)
    const end = table?.footerRow ?? before + 1
    marks.add(sheet, (row) => row > headerRow && row < end)
    if (sheet.exactIntegers) table?.rounded.clear()
    if (!table && headerRows.length > 0) throw shortHeader(options)
    if (before < MOST_ROWS) break
  }
  if (!table)
    throw malformed(
      `${emptySheet(book, requested)}: its first row has to be a header with the names of the columns.`,
      { sheets: book.sheets.map(({ name }) => name) },
    )
  const result = table.result(target)
  const others = requested === undefined && table.rows === 0 ? sheets.slice(1) : []
  const warnings = [
    ...table.warnings,
    ...(zeroFormulas.length > 0 ? [uncalculated(zeroFormulas)] : []),
    ...marks.warnings(result.targets),
    ...table.unitsIn(result.targets),
    ...(others.length > 0 ? [noRows(sheets[0]!.name, others)] : []),
  ]
  return {
    ...result,
    sheets: book.sheets.map(({ name }) => name),
    sheet: sheets[0]!.name,
    ...(warnings.length > 0 && { warnings }),
  }
}

/** A warning for a first sheet, such as a cover, that has no table. */
function noRows(name: string, others: Book['sheets']): string {
  return `The sheet ${quoteValue(name)} has no rows below its header, and ${hint('sheet=')} does not name another, such as ${quoteValue(others[0]!.name)}.`
}

function uncalculated(cells: readonly string[]): string {
  return (
    `The formulas of this workbook are to be calculated when it is opened, and some hold 0 or nothing until then: ${listed(cells)}. ` +
    'Unless these are their values, open it in a spreadsheet program, save it, and upload that.'
  )
}

/** A row that may be left out. */
interface HeldRow extends SheetRow {
  /** The number of rows without a value above it. */
  readonly blank: number
}

/** The characters of a unit that a warning shows. */
const LONGEST_UNIT = 8

/** The rows of a sheet below its header. */
class SheetTable {
  /** Whole numbers that may have lost digits. */
  readonly rounded: Rounded = new Map()
  /** The first number of each column that is shown with a unit, by that and the number of the column. */
  readonly #units = new Map<number, Map<string, string>>()
  /** The columns with a fault whose remedy was said. */
  readonly #remedied = new Set<number>()
  readonly #table: TypedRows
  readonly #blanks = new Blanks()
  readonly #isNumbered: boolean
  /** The number of rows at the end that are left out. */
  readonly #footer: number
  /** The last rows, which may be those. */
  readonly #held: HeldRow[] = []
  readonly #words: ReadonlySet<string>
  readonly #keepsWords: boolean
  /** The columns in which words were taken for missing values. */
  readonly #missing = new Set<number>()
  readonly #learned: Learned
  /** How many columns have a value. */
  #widest = 0

  constructor(targets: readonly Target[], options: UploadOptions, learned: Learned) {
    this.#table = new TypedRows(targets, options)
    this.#words = new Set(options.nulls)
    this.#keepsWords = options.textNulls === 'keep'
    this.#learned = learned
    this.#isNumbered = options.names === 'number'
    this.#footer = options.footer ?? 0
  }

  get rows(): number {
    return this.#table.rows
  }

  /** The first row that is left out at the end; undefined if none is. */
  get footerRow(): number | undefined {
    return this.#held[0]?.row
  }

  get warnings(): readonly string[] {
    const [first, ...others] = this.#held
    if (!others.some(({ blank }) => blank > 0)) return []
    return [countedFooter(this.#footer, first!.cells.map(({ text }) => text).join('; '))]
  }

  /** Warnings for columns whose numbers are not what the sheet shows. */
  unitsIn(targets: Rewritten['targets']): readonly string[] {
    return targets.flatMap(({ name, source }) => {
      const { [PERCENT]: percent, ...currencies } = Object.fromEntries(this.#units.get(source ?? -1) ?? [])
      return [
        ...(percent === undefined ? [] : [percentages(name, percent)]),
        ...(Object.keys(currencies).length > 1 ? [severalCurrencies(name, currencies)] : []),
      ]
    })
  }

  /** The csv that has been written since the last call. */
  take(): Buffer {
    return this.#table.out.take()
  }

  /** @param before the last row above it that has a value */
  add({ row, cells }: SheetRow, before: number): void {
    this.#held.push({ row, cells, blank: row - before - 1 })
    if (this.#held.length > this.#footer) this.#write(this.#held.shift()!)
  }

  #write({ row, cells, blank }: HeldRow): void {
    const table = this.#table
    if (this.#isNumbered) this.#widest = Math.max(this.#widest, (cells.at(-1)?.column ?? 0) + 1)
    if (this.#widest > table.width) return
    this.#blanks.add(row, table.width * (blank + 1), cells.length)
    for (let count = 0; count < blank; count++) table.endRow()
    this.#cells(row, cells)
  }

  /** @throws EngineError `invalid_upload`; `AGAIN` */
  result(target: string): Rewritten {
    if (this.#held.length < this.#footer) {
      throw malformed(`The sheet has fewer rows than the ${this.#footer} of footer.`, { option: 'footer' })
    }
    if (this.#widest > this.#table.width) {
      this.#learned.width = this.#widest
      throw AGAIN
    }
    const result = this.#table.result(target)
    refuseRounded(this.rounded, result.targets)
    const texts = result.targets.flatMap(({ type, source }) => (type === 'string' ? (source ?? []) : []))
    if (this.#keepsWords && texts.some((at) => this.#missing.has(at))) {
      for (const at of texts) this.#learned.texts.add(at)
      throw AGAIN
    }
    const { source } = result
    return { ...result, source: { ...source, reasons: source.reasons.map(withNulls) } }
  }

  #cells(row: number, cells: readonly SheetCell[]): void {
    const table = this.#table
    let next = 0
    for (const { column, text, kind, isText, rounded, unit, fault, remedy = '' } of cells) {
      if (column >= table.width) {
        throw malformed(
          `Sheet row ${row} has a value in column ${column + 1}, but the header names only ${table.width}.`,
          { row: table.rows + 1 },
        )
      }
      if (column < next) throw malformed(`Sheet row ${row} has two values in column ${column + 1}.`)
      for (; next < column; next++) table.null()
      next++
      if (this.#words.has(text) && !this.#learned.texts.has(column)) {
        this.#missing.add(column)
        table.null()
        continue
      }
      if (fault !== undefined) {
        table.refuse(
          `${fault}${this.#remedied.has(column) ? '' : remedy} (cell ${columnLetters(column)}${row}).`,
        )
        if (remedy) this.#remedied.add(column)
        continue
      }
      if (rounded && !this.rounded.has(column)) this.rounded.set(column, { row: table.rows + 1, text })
      if (unit !== undefined) this.#noteUnit(column, unit, text)
      table.value(text, kind, isText)
    }
    table.endRow()
  }

  #noteUnit(column: number, shown: string, text: string): void {
    const unit = shown.slice(0, LONGEST_UNIT)
    const units = this.#units.get(column)
    if (!units) this.#units.set(column, new Map([[unit, text]]))
    else if (!units.has(unit)) units.set(unit, text)
  }
}

/** Whole numbers that may have lost digits before they were written: the first of each column, by its number. */
type Rounded = Map<number, { readonly row: number; readonly text: string }>

/** In a column of doubles, nothing is lost by them. @throws EngineError `invalid_upload` if one is in another column */
function refuseRounded(rounded: Rounded, targets: Rewritten['targets']): void {
  for (const { name, type, source } of targets) {
    const found = source === undefined ? undefined : rounded.get(source)
    if (found && (type === 'integer' || type?.startsWith('decimal'))) {
      throw badCell(
        found.row,
        name,
        `${found.text} may have lost its last digits. A sheet holds numbers as doubles, and programs write 15 to 17 ` +
          'digits of them. Write such numbers as text.',
      )
    }
  }
}

/** The visible sheets, or those from the requested one on. @throws EngineError `invalid_upload` if there are none */
function sheetsFrom({ sheets }: Book, requested: string | undefined): Book['sheets'] {
  const visible = sheets.filter(({ isHidden }) => !isHidden)
  if (requested === undefined) {
    if (visible.length > 0) return visible
    throw malformed(
      `All sheets of the workbook are hidden: name one of ${namesOf(sheets)} with ${hint('sheet=')}.`,
      { option: 'sheet', sheets: sheets.map(({ name }) => name) },
    )
  }
  const at = sheets.findIndex(({ name }) => name === requested)
  if (at < 0) {
    throw malformed(`The workbook has no sheet ${quoteValue(requested)}; it has ${namesOf(sheets)}.`)
  }
  return sheets.filter(({ isHidden }, index) => index === at || (index > at && !isHidden))
}

function emptySheet({ sheets }: Book, requested: string | undefined): string {
  if (requested !== undefined) return `The sheet ${quoteValue(requested)} is empty`
  if (sheets.length === 1) return 'The first sheet is empty'
  return `The first sheet is empty, and ${hint('sheet=')} does not say which of ${namesOf(sheets)} to read`
}

function namesOf(sheets: Book['sheets']): string {
  return sheets.map(({ name }) => quoteValue(name)).join(', ')
}

/** @param width how many names it has at least @throws EngineError `invalid_upload` */
function headerOf(row: number, cells: readonly SheetCell[], width: number): string[] {
  const names: string[] = []
  names.length = width
  for (const { column, text, fault, remedy = '' } of cells) {
    // A number names a column also where it is no day.
    if (fault !== undefined && Number.isNaN(Number(text)))
      throw malformed(`The header: ${fault}${remedy} (cell ${columnLetters(column)}${row}).`)
    names[column] = text
  }
  return Array.from(names, (name) => name ?? '')
}

/** The reason why a column is text, with the option that may help: a word for nothing. */
function withNulls(reason: TextReason | undefined): TextReason | undefined {
  const isWord = reason && isUsualNull(reason.value)
  return isWord ? withOptions({ reason, looked: [reason.value] }) : reason
}

import { rm } from 'node:fs/promises'
import { isDeepStrictEqual } from 'node:util'
import { hint } from '../../errors.ts'
import { FileSink, unpacksTooLarge } from '../file.ts'
import type { ReadRequest } from '../request.ts'
import { type KnownColumns, layColumns, namesOfColumns } from '../targets.ts'
import { badCell, malformed, quoteValue } from '../text/errors.ts'
import { Blanks, type Rewritten, TypedRows } from '../text/rewritten.ts'
import { readWorkbook, type Workbook } from './book.ts'
import { MOST_ROWS, type SheetCell, SheetParser } from './sheet.ts'
import { ZipReader } from './unzip.ts'
import { XmlReader } from './xml.ts'

/**
 * Rewrites a sheet of a workbook, the first visible one by default, as csv; its first row is the header. If the sheet is full
 * and the next one has the same header, as in our own exports, the rows of that one follow. Rows without any value count
 * as rows of nulls, except at the end.
 * @param target where the csv is to be written
 * @throws EngineError `invalid_upload`, `column_conflict`, `upload_too_large`, `storage_full`
 */
export async function toCsv(request: ReadRequest, target: string, known: KnownColumns): Promise<Rewritten> {
  try {
    return await rewrite(request, target, known)
  } catch (error) {
    if (!(error instanceof Wider)) throw error
    await rm(target)
    return rewrite(request, target, known, error.width)
  }
}

/** Is thrown where a workbook has to be read again, because rows have more values than the header names to number. */
class Wider {
  readonly width: number

  constructor(width: number) {
    this.width = width
  }
}

/** @param width how many columns there are at least */
async function rewrite(request: ReadRequest, target: string, known: KnownColumns, width = 0) {
  const { options = {}, signal, onProgress, limits } = request
  const { unpackedBytes } = limits
  await using zip = await ZipReader.open(request.file, unpackedBytes)
  const workbook = await readWorkbook(zip)
  await using sink = await FileSink.create(target)
  let table: TypedRows | undefined
  const blanks = new Blanks()
  const { sheet: wanted, skip = 0 } = options
  let header: readonly string[] | undefined
  let widest = 0
  const rounded: Rounded = new Map()
  const sheets = sheetsFrom(workbook, wanted)
  for (const sheet of sheets) {
    let names: readonly string[] | undefined
    let before = 0
    let continues = true
    const parser = new SheetParser(workbook, (row, cells) => {
      if (!continues) return
      if (!names) {
        if (row <= skip) return
        names = namesOfColumns(headerOf(cells, width), options)
        header ??= names
        continues = isDeepStrictEqual(header, names)
        table ??= new TypedRows(layColumns(known, names), options)
      } else {
        if (options.names === 'number') widest = Math.max(widest, (cells.at(-1)?.column ?? 0) + 1)
        if (widest <= table!.width) {
          blanks.add(row, table!.width * (row - before), cells.length)
          for (let blank = before + 1; blank < row; blank++) table!.endRow()
          writeRow(table!, row, cells, rounded)
        }
      }
      before = row
    })
    const xml = new XmlReader(parser)
    for await (const chunk of zip.read(sheet.entry)) {
      signal?.throwIfAborted()
      xml.push(chunk)
      if (table) await sink.write(table.out.take())
      if (sink.written > unpackedBytes) throw unpacksTooLarge(unpackedBytes)
      onProgress?.({ bytes: zip.bytesRead, rows: table?.rows ?? 0 })
      if (!continues) break
    }
    if (continues) xml.end()
    if (parser.exactIntegers) rounded.clear()
    if (before < MOST_ROWS) break
  }
  if (!table)
    throw malformed(
      `${emptySheet(workbook, wanted)}: its first row has to be a header with the names of the columns.`,
      { sheets: workbook.sheets.map(({ name }) => name) },
    )
  if (widest > table.width) throw new Wider(widest)
  const result = table.result(target)
  refuseRounded(rounded, result.targets)
  return { ...result, sheets: workbook.sheets.map(({ name }) => name), sheet: sheets[0]!.name }
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

/** The visible sheets, or those from the wanted one on. @throws EngineError `invalid_upload` if there are none */
function sheetsFrom({ sheets }: Workbook, wanted: string | undefined): Workbook['sheets'] {
  const visible = sheets.filter(({ isHidden }) => !isHidden)
  if (wanted === undefined) {
    if (visible.length > 0) return visible
    throw malformed(
      `All sheets of the workbook are hidden: name one of ${namesOf(sheets)} with ${hint('sheet=')}.`,
      { option: 'sheet', sheets: sheets.map(({ name }) => name) },
    )
  }
  const at = sheets.findIndex(({ name }) => name === wanted)
  if (at < 0) {
    throw malformed(`The workbook has no sheet ${quoteValue(wanted)}; it has ${namesOf(sheets)}.`)
  }
  return sheets.filter(({ isHidden }, index) => index === at || (index > at && !isHidden))
}

function emptySheet({ sheets }: Workbook, wanted: string | undefined): string {
  if (wanted !== undefined) return `The sheet ${quoteValue(wanted)} is empty`
  if (sheets.length === 1) return 'The first sheet is empty'
  return `The first sheet is empty, and ${hint('sheet=')} does not say which of ${namesOf(sheets)} to read`
}

function namesOf(sheets: Workbook['sheets']): string {
  return sheets.map(({ name }) => quoteValue(name)).join(', ')
}

/** @param width how many names it has at least */
function headerOf(cells: readonly SheetCell[], width: number): string[] {
  const names: string[] = []
  names.length = width
  for (const { column, text } of cells) names[column] = text
  return Array.from(names, (name) => name ?? '')
}

function writeRow(table: TypedRows, row: number, cells: readonly SheetCell[], found: Rounded): void {
  let next = 0
  for (const { column, text, kind, isText, rounded } of cells) {
    if (column >= table.width) {
      throw malformed(
        `Sheet row ${row} has a value in column ${column + 1}, but the header has ${table.width} names.`,
        { row: table.rows + 1 },
      )
    }
    if (column < next) throw malformed(`Sheet row ${row} has two values in column ${column + 1}.`)
    for (; next < column; next++) table.null()
    if (rounded && !found.has(column)) found.set(column, { row: table.rows + 1, text })
    table.value(text, kind, isText)
    next++
  }
  table.endRow()
}

import type { Column } from '../../types/index.ts'
import { FileSink } from '../file.ts'
import { unpacksTooLarge } from '../gunzip.ts'
import type { DeclaredColumn, UploadOptions } from '../request.ts'
import { knownColumns, layColumns } from '../targets.ts'
import { Blanks } from '../text/blanks.ts'
import { type Rewritten, TypedRows } from '../text/typed-rows.ts'
import { malformed, quoteValue } from '../text/value-errors.ts'
import type { Hooks } from '../threads/hooks.ts'
import { readWorkbook, type Workbook } from './book.ts'
import { type SheetCell, SheetParser } from './sheet.ts'
import { ZipReader } from './unzip.ts'
import { XmlReader } from './xml.ts'

export interface XlsxTask {
  readonly file: string
  readonly existing?: readonly Column[]
  readonly declared?: readonly DeclaredColumn[]
  readonly options?: UploadOptions | undefined
  readonly unpackedBytes: number
  /** Where the csv is to be written. */
  readonly target: string
}

/** The number of Excel's last row. Our exports continue longer tables on the next sheet. */
const LAST_ROW = 1_048_576

/**
 * Rewrites a sheet of a workbook, the first one by default, as csv; its first row is the header. If the sheet is full
 * and the next one has the same header, as in our own exports, the rows of that one follow. Rows without any value count
 * as rows of nulls, except at the end.
 * @throws EngineError `invalid_upload`, `column_conflict`, `upload_too_large`, `storage_full`
 */
export async function xlsxToCsv(task: XlsxTask, { signal, onProgress }: Hooks): Promise<Rewritten> {
  await using zip = await ZipReader.open(task.file, task.unpackedBytes)
  const workbook = await readWorkbook(zip)
  const known = knownColumns(task.existing, task.declared)
  const sink = await FileSink.create(task.target)
  let table: TypedRows | undefined
  const blanks = new Blanks()
  let header: readonly string[] | undefined
  try {
    for (const sheet of sheetsFrom(workbook, task.options?.sheet)) {
      let names: readonly string[] | undefined
      let before = 0
      let continues = true
      const parser = new SheetParser(workbook, (row, cells) => {
        if (!continues) return
        if (!names) {
          names = headerOf(cells)
          header ??= names
          continues = sameNames(header, names)
          table ??= new TypedRows(layColumns(names, known))
        } else {
          blanks.add(row, table!.width * (row - before), cells.length)
          writeBlankRows(table!, before, row)
          writeRow(table!, row, cells)
        }
        before = row
      })
      const xml = new XmlReader(parser)
      for await (const chunk of zip.read(sheet.entry)) {
        signal?.throwIfAborted()
        xml.push(chunk)
        if (table) await sink.write(table.out.take())
        if (sink.written > task.unpackedBytes) throw unpacksTooLarge(task.unpackedBytes)
        onProgress?.({ bytes: zip.bytesRead, rows: table?.rows ?? 0 })
        if (!continues) break
      }
      if (continues) xml.end()
      if (before < LAST_ROW) break
    }
    if (!table)
      throw malformed(
        `${emptySheet(workbook, task.options?.sheet)}: its first row has to be a header with the names of the columns.`,
      )
    return table.result(task.target)
  } finally {
    await sink.close()
  }
}

/** The sheets from the wanted one on. */
function sheetsFrom({ sheets }: Workbook, wanted: string | undefined): Workbook['sheets'] {
  if (wanted === undefined) return sheets
  const at = sheets.findIndex(({ name }) => name === wanted)
  if (at < 0) {
    throw malformed(`The workbook has no sheet ${quoteValue(wanted)}; it has ${namesOf(sheets)}.`)
  }
  return sheets.slice(at)
}

function emptySheet({ sheets }: Workbook, wanted: string | undefined): string {
  if (wanted !== undefined) return `The sheet ${quoteValue(wanted)} is empty`
  if (sheets.length === 1) return 'The first sheet is empty'
  return `The first sheet is empty, and sheet= does not say which of ${namesOf(sheets)} to read`
}

function namesOf(sheets: Workbook['sheets']): string {
  return sheets.map(({ name }) => quoteValue(name)).join(', ')
}

function writeBlankRows(table: TypedRows, before: number, row: number): void {
  for (let blank = before + 1; blank < row; blank++) table.endRow()
}

function headerOf(cells: readonly SheetCell[]): string[] {
  const names: string[] = []
  for (const { column, text } of cells) names[column] = text
  return Array.from(names, (name) => name ?? '')
}

function sameNames(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((name, index) => name === b[index])
}

function writeRow(table: TypedRows, row: number, cells: readonly SheetCell[]): void {
  let next = 0
  for (const { column, text, kind, isText } of cells) {
    if (column >= table.width) {
      throw malformed(
        `Sheet row ${row} has a value in column ${column + 1}, but the header has ${table.width} names.`,
        {
          row: table.rows + 1,
        },
      )
    }
    if (column < next) throw malformed(`Sheet row ${row} has two values in column ${column + 1}.`)
    for (; next < column; next++) table.null()
    table.value(text, kind, isText)
    next++
  }
  table.endRow()
}

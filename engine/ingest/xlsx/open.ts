import type { Entry } from 'yauzl'
import type { ReadRequest } from '../request.ts'
import type { Book, HiddenCells, MergedCell, OnRow, Sheet } from '../workbook/book.ts'
import { ZipReader } from '../zip/zip-reader.ts'
import { notedCells, readWorkbook, type Workbook } from './book.ts'
import { SheetParser } from './sheet.ts'
import { XmlReader } from './xml.ts'

/** @throws EngineError `invalid_upload` */
export async function openXlsx({ file, limits }: ReadRequest): Promise<Book> {
  const zip = await ZipReader.open(file, limits.unpackedBytes)
  try {
    const workbook = await readWorkbook(zip)
    return {
      sheets: workbook.sheets.map((sheet) => new XlsxSheet(zip, workbook, sheet)),
      [Symbol.asyncDispose]: () => zip[Symbol.asyncDispose](),
    }
  } catch (error) {
    await zip[Symbol.asyncDispose]()
    throw error
  }
}

class XlsxSheet implements Sheet {
  readonly name: string
  readonly isHidden: boolean
  readonly #zip: ZipReader
  readonly #workbook: Workbook
  readonly #entry: Entry
  zeroFormulas: readonly string[] = []
  exactIntegers = false
  merged: readonly MergedCell[] = []
  hidden: HiddenCells = { rows: [], columns: [] }
  notes: readonly string[] = []

  constructor(zip: ZipReader, workbook: Workbook, { name, isHidden, entry }: Workbook['sheets'][number]) {
    this.name = name
    this.isHidden = isHidden
    this.#zip = zip
    this.#workbook = workbook
    this.#entry = entry
  }

  async *read(onRow: OnRow): AsyncGenerator<number> {
    const parser = new SheetParser(this.#workbook, onRow)
    const xml = new XmlReader(parser)
    try {
      for await (const chunk of this.#zip.read(this.#entry)) {
        xml.push(chunk)
        yield this.#zip.bytesRead
      }
      xml.end()
      this.notes = await notedCells(this.#zip, this.#entry.fileName)
    } finally {
      this.zeroFormulas = parser.zeroFormulas
      this.exactIntegers = parser.exactIntegers
      this.merged = parser.merged
      this.hidden = parser.hidden
    }
  }
}

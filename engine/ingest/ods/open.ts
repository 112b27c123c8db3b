import type { ReadRequest } from '../request.ts'
import { malformed } from '../text/errors.ts'
import type { Book, MergedCell, OnRow, Sheet } from '../workbook/book.ts'
import { XmlReader } from '../xlsx/xml.ts'
import { ZipReader } from '../zip/zip-reader.ts'
import { OdsContent } from './content.ts'

const CONTENT = 'content.xml'
/** Cells between two pauses. */
const CELLS_AT_ONCE = 10_000

/**
 * Opens an OpenDocument spreadsheet. All of its sheets are in one entry, which is read once for their names, and again for
 * the rows of one.
 * @throws EngineError `invalid_upload`, `upload_too_large`
 */
export async function openOds(request: ReadRequest): Promise<Book> {
  await refuseEncrypted(request)
  const names = new OdsContent()
  for await (const _ of readContent(request, names)) request.signal?.throwIfAborted()
  if (names.sheets.length === 0) throw malformed('The workbook has no worksheet.')
  return {
    sheets: names.sheets.map((sheet, at) => new OdsSheet(request, sheet, at)),
    async [Symbol.asyncDispose]() {},
  }
}

class OdsSheet implements Sheet {
  readonly name: string
  readonly isHidden: boolean
  readonly zeroFormulas = []
  exactIntegers = false
  merged: readonly MergedCell[] = []
  readonly #request: ReadRequest
  readonly #at: number

  constructor(request: ReadRequest, { name, isHidden }: OdsContent['sheets'][number], at: number) {
    this.name = name
    this.isHidden = isHidden
    this.#request = request
    this.#at = at
  }

  async *read(onRow: OnRow): AsyncGenerator<number> {
    const content = new OdsContent(this.#at)
    let cellsLeft = CELLS_AT_ONCE
    for await (const bytes of readContent(this.#request, content)) {
      for (const { row, count, cells } of content.take()) {
        for (let time = 0; time < count; time++) {
          onRow(row + time, cells)
          cellsLeft -= cells.length
          if (cellsLeft > 0) continue
          cellsLeft = CELLS_AT_ONCE
          yield bytes
        }
      }
      yield bytes
      if (content.isRead) break
    }
    this.exactIntegers = content.exactIntegers
    this.merged = content.merged
  }
}

/** Has the content read, and pauses with the bytes of the file that have been read. */
async function* readContent({ file, limits }: ReadRequest, content: OdsContent): AsyncGenerator<number> {
  await using zip = await ZipReader.open(file, limits.unpackedBytes)
  const entry = zip.entries.get(CONTENT)
  if (!entry) throw malformed(`The workbook is damaged: it has no ${CONTENT}.`)
  const xml = new XmlReader(content)
  for await (const chunk of zip.read(entry)) {
    xml.push(chunk)
    yield zip.bytesRead
  }
  xml.end()
  yield zip.bytesRead
}

/** The manifest says what is encrypted (ODF 1.3, part 2, 4.4). */
async function refuseEncrypted({ file, limits }: ReadRequest): Promise<void> {
  await using zip = await ZipReader.open(file, limits.unpackedBytes)
  const manifest = zip.entries.get('META-INF/manifest.xml')
  if (!manifest) return
  const xml = new XmlReader({
    open(name) {
      if (name === 'encryption-data')
        throw malformed('The workbook is protected by a password: remove the password and save it again.')
    },
  })
  for await (const chunk of zip.read(manifest)) xml.push(chunk)
}

import { stat } from 'node:fs/promises'
import { Parser } from 'htmlparser2'
import type { Duck } from '../../duckdb/duck.ts'
import { hint } from '../../errors.ts'
import { readMetadata } from '../../types/file-metadata.ts'
import { TemporaryFile } from '../../util/whole-file.ts'
import { chosenTable } from '../chosen-table.ts'
import { ingestCsv } from '../csv/ingest.ts'
import { encodingOf, otherEncoding } from '../csv/syntax.ts'
import { inUtf8, notEncoded } from '../csv/transcoder.ts'
import { FileSink, feedFile, type PieceReader, readStart, type Sink, unpacksTooLarge } from '../file.ts'
import { notTable } from '../foreign.ts'
import type { IngestResult, ReadRequest, UploadOptions } from '../request.ts'
import type { KnownColumns } from '../targets.ts'
import { badRow, quoteValue } from '../text/errors.ts'
import { covering } from '../workbook/book.ts'
import { type PageTable, PageTables } from './tables.ts'

/** So many bytes show the encoding. */
const HEAD_BYTES = 64 * 1024
const MOST_HEADER_ROWS = 9

/**
 * Reads a table of a page: it is written as csv with the texts that a browser shows, which is read as such. The page is
 * read twice, because only its end shows which table is meant.
 * @throws EngineError `invalid_upload`, which lists the `tables` where there are several
 */
export async function ingestHtml(
  duck: Duck,
  known: KnownColumns,
  request: ReadRequest,
): Promise<IngestResult> {
  const { encoding, table: requested, ...options } = request.options ?? {}
  const decoded = { ...request, options: { encoding: encoding ?? (await encodingIn(request.file)) } }
  const outline = new PageTables()
  await feedPage(decoded, new PageReader(outline))
  const { number, tables, table } = choose(outline, requested)
  const chosen = outline.tables[number]!
  const { foot, hidden } = chosen
  await using csv = new TemporaryFile(duck.tempDirectory)
  await writeTable(decoded, number, options.footer !== undefined, csv.path)
  const header = headerOf(chosen, options)
  const { size: bytes } = await stat(request.file)
  const result = await ingestCsv(duck, known, {
    ...request,
    ...{ file: csv.path, options: { ...options, ...header } },
    onProgress: ({ rows }) => request.onProgress?.({ bytes, rows }),
  })
  const above = (options.skip ?? 0) + (header.headerRows ?? options.headerRows ?? 1)
  const merged = chosen.merged.filter(({ row }) => row > above)
  const warnings = [
    ...(result.warnings ?? []),
    ...(merged.length > 0 ? [covering(merged)] : []),
    ...(foot !== undefined && options.footer === undefined ? [leftOut(foot)] : []),
    ...(hidden === undefined ? [] : [notShown(hidden)]),
  ]
  return {
    ...result,
    ...(result.options && { options: withoutUndefined({ ...result.options, encoding, table: requested }) }),
    ...{ tables, table },
    metadata: readMetadata(new Map([['title', chosen.caption]])).dataset,
    ...(warnings.length > 0 && { warnings }),
  }
}

const leftOut = (foot: string) =>
  `The foot of the table (tfoot) is left out: ${quoteValue(foot)}. ${hint('footer=0')} reads it.`

const notShown = (text: string) =>
  `What the page does not show (display:none) is left out: ${quoteValue(text)}.`

function withoutUndefined(options: Readonly<Record<string, unknown>>): UploadOptions {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
}

/** What the markup says of the header: the names of columns may look like values. */
function headerOf({ headerRows, rows }: PageTable, given: UploadOptions): UploadOptions {
  const { skip, header, headerRows: requested, dialect } = given
  const isGiven = header !== undefined || requested !== undefined || (skip ?? 0) > 0
  if (isGiven || headerRows === 0 || headerRows >= rows || headerRows > MOST_HEADER_ROWS) return {}
  if (headerRows > 1) return { headerRows }
  return dialect === 'auto' ? { header: 'present' } : {}
}

/** Whether a table that nobody names is one of data: it has header cells, or is a grid with nearly all of the text. */
function isData({ hasHeader, isEven, width, rows, length }: PageTable, outside: number): boolean {
  return hasHeader || (isEven && width > 1 && rows > 1 && length > 4 * outside)
}

/** @throws EngineError `invalid_upload` where it is not clear which of the `tables` is meant */
function choose({ tables: all, outside }: PageTables, requested: string | undefined) {
  const readable = all.flatMap((table, number) =>
    table.isLayout || table.rows === 0 ? [] : { table, number },
  )
  if (readable.length === 0) throw notTable()
  const own = readable.map(({ table: { caption, id } }) => caption || id)
  const names = own.map((name, at) => {
    const isUnique = name !== '' && own.filter((other) => other === name).length === 1
    return isUnique && !/^\d+$/.test(name) ? name : String(at + 1)
  })
  const usual = names.filter((_, at) => isData(readable[at]!.table, outside))
  if (requested === undefined && usual.length === 0) throw notTable(names)
  const table = chosenTable(names, requested, 'page', usual)
  return { tables: names, table, number: readable[names.indexOf(table)]!.number }
}

const CHARSETS = [
  /<meta\s[^>]*charset\s*=\s*["']?\s*([\w.:-]+)/i,
  /^\s*<\?xml\s[^>]*encoding\s*=\s*["']([\w.:-]+)/,
]

/** The encoding that a page says it has (HTML, 13.2.3.2), or seems to have. */
async function encodingIn(file: string): Promise<NonNullable<UploadOptions['encoding']>> {
  const start = await readStart(file, HEAD_BYTES)
  const seeming = encodingOf(start)
  const text = start.toString('latin1')
  const label = CHARSETS.map((one) => one.exec(text)?.[1]).find((found) => found !== undefined)
  if (seeming === 'utf-16' || label === undefined || text.startsWith('\xef\xbb\xbf')) return seeming
  try {
    const { encoding } = new TextDecoder(label)
    return encoding.startsWith('utf-16') ? 'utf-8' : (encoding as 'utf-8')
  } catch {
    return seeming
  }
}

/** Has a page parsed, piece by piece, in UTF-8. */
class PageReader implements PieceReader {
  readonly rows = 0
  readonly #page: PageTables
  readonly #parser: Parser
  readonly #decoder = new TextDecoder('utf-8', { fatal: true })
  readonly #taken: () => Uint8Array

  constructor(page: PageTables, taken: () => Uint8Array = () => new Uint8Array()) {
    this.#page = page
    this.#parser = new Parser(page)
    this.#taken = taken
  }

  feed(buffer: Buffer, end: number, final: boolean): number {
    const bytes = buffer.subarray(0, end)
    let text: string
    try {
      text = this.#decoder.decode(bytes, { stream: !final })
    } catch {
      throw notEncoded('utf-8', otherEncoding(bytes))
    }
    this.#parser.write(text)
    this.#page.isEnd = final
    if (final) this.#parser.end()
    return end
  }

  take(): Uint8Array {
    return this.#taken()
  }
}

function feedPage(request: ReadRequest, reader: PageReader, sink?: Sink): Promise<void> {
  return feedFile(request, 0, inUtf8(reader, request), sink)
}

/** Writes a table of a page as csv. @throws EngineError `invalid_upload` where the file ends within it */
async function writeTable(request: ReadRequest, wanted: number, hasFoot: boolean, target: string) {
  const { unpackedBytes } = request.limits
  let text = ''
  const page = new PageTables((number, cells, isFoot) => {
    if (number === wanted && (hasFoot || !isFoot)) text += `${cells.map(fieldOf).join()}\n`
    if (text.length > unpackedBytes) throw unpacksTooLarge(unpackedBytes)
  })
  await using sink = await FileSink.create(target)
  const reader = new PageReader(page, () => {
    const bytes = Buffer.from(text)
    text = ''
    return bytes
  })
  await feedPage(request, reader, sink)
  if (page.cut?.number === wanted)
    throw badRow(
      Math.max(1, page.cut.row),
      ': the file ends within the table, before </table>. Get it again.',
    )
  if (sink.written > unpackedBytes) throw unpacksTooLarge(unpackedBytes)
}

const fieldOf = (text: string) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)

import { hint } from '../errors.ts'
import { decoderOf, encodingOf } from './csv/syntax.ts'
import { readFrom, readStart } from './file.ts'
import type { ReadRequest } from './request.ts'
import { malformed, quoteValue } from './text/errors.ts'
import {
  BINARY_BYTES,
  type BinaryFormat,
  binaryFormat,
  FOREIGN,
  guessedFormat,
  isUploadFormat,
  type UploadFormat,
} from './upload-format.ts'

/** What a file may be although it is sent as another format. */
type Content = BinaryFormat | 'protected' | 'xlsx' | 'xlsb' | 'ods' | TextContent
type TextContent = 'xls' | 'px' | 'html' | 'json' | 'ndjson' | 'page' | 'xml' | 'pdf' | 'lfs'

/** What a file of each format is, in a sentence. */
const NAMED: Readonly<Record<UploadFormat, string>> = {
  csv: 'csv',
  tsv: 'tsv',
  json: 'JSON',
  ndjson: 'JSON with one value per line',
  parquet: 'Parquet',
  arrow: 'Arrow',
  xlsx: 'an xlsx workbook',
  xls: 'an Excel workbook of the old format xls',
  xlsb: 'a binary Excel workbook (xlsb)',
  ods: 'an OpenDocument spreadsheet (ods)',
  html: 'a web page (HTML) with a table, perhaps an error or a login page',
  avro: 'Avro',
  sqlite: 'an SQLite database',
  duckdb: 'a DuckDB database',
  sav: 'an SPSS file (sav)',
  px: 'a file of PC-Axis (px)',
  zip: 'a zip archive',
}

/** What a file is that can't be read, and what to send instead. */
const ADVICE: Readonly<Record<string, readonly [what: string, instead: string]>> = {
  ...FOREIGN,
  protected: ['a workbook that is protected by a password', 'remove the password and save it as xlsx'],
  feather1: [
    'Feather version 1',
    'write it as version 2 (write_feather(table, file, version=2)) or as Parquet',
  ],
  gzip: [
    'compressed with gzip',
    'unpack it, send it as zip, or declare it (over HTTP with Content-Encoding: gzip)',
  ],
  zstd: ['compressed with zstd', 'send it as zip, or unpack it with unzstd'],
  bzip2: ['compressed with bzip2', 'unpack it with bunzip2, or compress it with gzip'],
  xz: ['compressed with xz', 'unpack it with unxz, or compress it with gzip'],
  page: ['a web page (HTML), perhaps an error or a login page', 'send the file itself'],
  xml: ['XML, perhaps an error message', 'send the rows as csv, json, Parquet or another supported format'],
  pdf: ['a PDF document', 'send the table itself as csv, xlsx or another supported format'],
  lfs: ['a pointer of Git LFS, not its content', 'get the file with git lfs pull and send that'],
}

/** How many bytes of the directory of a compound file are looked at: 32 entries. */
const DIRECTORY_BYTES = 4096
/** How many bytes of text are looked at. */
const SAMPLE_BYTES = 4096

/** The content says which of these a file is: they are called by each other's names. */
const CONFUSED: ReadonlySet<string> = new Set<UploadFormat>(['xlsx', 'xls', 'xlsb', 'ods', 'zip'])

/** What may hold an HTML table is left to its reader, which looks at all of it. */
const PAGES: ReadonlySet<unknown> = new Set(['html', 'page', 'xls'])

const COMPRESSED: ReadonlySet<string> = new Set(['gzip', 'zstd'])

/**
 * The format that a file has. Refuses one in another format than it is said to be, with a way out; the error's `content`
 * says what it is.
 * @throws EngineError `invalid_upload`
 */
export async function formatOf(request: ReadRequest): Promise<UploadFormat> {
  const { format } = request
  const content = await contentOf(request)
  // Programs call tables of text xls, too, because Excel opens them.
  if (content === undefined) return format === 'xls' ? await textFormatOf(request) : format
  if (content !== 'xls' && PAGES.has(format) && PAGES.has(content)) return 'html'
  const isConfused = CONFUSED.has(format) && CONFUSED.has(content)
  // A compressed file is read as an archive of one.
  if (format === 'zip' && COMPRESSED.has(content)) return 'zip'
  if (!isUploadFormat(content)) throw refused(content)
  if (content === format || isConfused) return content
  const error = content === 'json' ? '; if it is the error message of another server, get the file again' : ''
  throw malformed(`The file is ${NAMED[content]}: send it as ${content}${error}.`, { content })
}

function refused(content: string): Error {
  const [what, instead] = ADVICE[content]!
  return malformed(`The file is ${what}: ${instead}.`, { content })
}

/** The error for a page without a table of data. @param tables the names of those that it has */
export function notTable(tables: readonly string[] = []): Error {
  if (tables.length === 0) return refused('page')
  const names = tables.map(quoteValue).join(', ')
  return malformed(
    `The file is a web page (HTML), perhaps an error or a login page. It has tables without header cells (th), which may be its layout; if one of them is meant, name it with ${hint('table=')}: ${names}.`,
    { content: 'page', option: 'table', tables },
  )
}

async function textFormatOf({ file }: ReadRequest): Promise<UploadFormat> {
  return guessedFormat(await readStart(file, SAMPLE_BYTES)).format
}

async function contentOf(request: ReadRequest): Promise<Content | undefined> {
  const { file, format, options } = request
  const start = await readStart(file, SAMPLE_BYTES)
  const binary = binaryFormat(start.subarray(0, BINARY_BYTES))
  if (binary === 'zip') return archiveOf(request)
  if (binary === 'xls' && (await isEncrypted(file, start))) return 'protected'
  if (binary !== undefined) return binary
  const encoding = options?.encoding ?? encodingOf(start)
  const text = decoderOf({ encoding }, start, { fatal: false }).decode(start)
  const content = textContent(text, start.length < SAMPLE_BYTES)
  // One row is JSON of both kinds; a first line that is JSON, with another one behind it, is not.
  return content === 'json' && format === 'ndjson' ? undefined : content
}

/** Whether the directory of a compound file ([MS-CFB]) begins like that of an encrypted workbook ([MS-OFFCRYPTO], 1.3.2). */
async function isEncrypted(file: string, start: Buffer): Promise<boolean> {
  if (start.length < 512) return false
  const sector = 2 ** Math.min(start.readUInt16LE(30), 12)
  const directory = await readFrom(file, (start.readUInt32LE(48) + 1) * sector, DIRECTORY_BYTES)
  return directory.includes(Buffer.from('EncryptedPackage', 'utf16le'))
}

/** What a zip archive holds. One that is damaged is left to its reader. */
async function archiveOf({ file, format, limits }: ReadRequest): Promise<Content> {
  try {
    const { ZipReader } = await import('./zip/zip-reader.ts')
    await using zip = await ZipReader.open(file, limits.unpackedBytes)
    const has = (name: string) => zip.entries.has(name)
    if (has('xl/workbook.bin')) return 'xlsb'
    if (has('mimetype') && (has('content.xml') || has('encrypted-package'))) return 'ods'
    return has('[Content_Types].xml') || has('xl/workbook.xml') ? 'xlsx' : 'zip'
  } catch {
    return format === 'zip' ? 'zip' : 'xlsx'
  }
}

/** What a text is by its beginning; undefined if it may be a table. `whole` says that nothing follows it. */
function textContent(start: string, whole: boolean): TextContent | undefined {
  const text = start.replace(/^[\s\ufeff]+/, '')
  if (/^%PDF-\d\.\d\s/.test(text)) return 'pdf'
  if (/^version https:\/\/git-lfs\.github\.com\/spec\/v\d+\r?\n/.test(text)) return 'lfs'
  if (text.startsWith('<')) return markup(text)
  if (/^(?:CHARSET|AXIS-VERSION)="[^"]*";/.test(text)) return 'px'
  return /^[{[]/.test(text) ? jsonContent(text, whole) : undefined
}

const PAGE = /^(?:html|head|body|table)$/i
const DOCUMENT = /^(?:!doctype|\?xml|error|rss|feed|svg|kml|gpx)$/i

/** The first tag of a document, with its attributes. */
const TAG =
  /^<(?:(!doctype)\s[^>]*|([?]?[a-z][\w:.-]*)((?:\s+[\w:.-]+(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s"'>]+))?)*)\s*[/?]?)>/i

/** A tag may also be the name of a column: then a delimiter follows it, or a line without a tag. */
function markup(text: string): 'html' | 'page' | 'xml' | 'xls' | undefined {
  const body = text.replace(/^(?:<!--[\s\S]*?-->\s*)+/, '')
  const [tag = '', doctype, name = doctype ?? '', attributes = ''] = TAG.exec(body) ?? []
  if (text.includes('urn:schemas-microsoft-com:office:spreadsheet')) return 'xls'
  const isPage = PAGE.test(name)
  if (!isPage && !DOCUMENT.test(name) && !/\sxmlns(?::[\w.-]+)?\s*=/.test(attributes)) return undefined
  const rest = body.slice(tag.length)
  if (/^[ ]*[,;|\t]/.test(rest)) return undefined
  const isProlog = /^[!?]/.test(name) || tag.endsWith('/>')
  const hasContent = /^\s*<[a-z/!?]/i.test(rest) || rest.toLowerCase().includes(`</${name.toLowerCase()}`)
  if (!isProlog && !hasContent && !(isPage && /^\S/.test(rest))) return undefined
  if (!isPage && !/^<!doctype\s+html|<html[\s>]/i.test(body)) return 'xml'
  return /<table[\s>]/i.test(body) ? 'html' : 'page'
}

const KEY = String.raw`"(?:[^"\\\n]|\\.)*"\s*:`
/** The beginning of an object, or of a list of objects or lists. */
const JSON_START = new RegExp(String.raw`^(?:\[\s*)?\{\s*${KEY}|^\[\s*\[[^[\]]*\]\s*,\s*\[`)
/** A short object that is one of the fields of a line. */
const FIELD = /^\{[^{}\n]*\}[ ]*[,;|\t](?![ ]*\r?\n)/

function jsonContent(text: string, whole: boolean): 'json' | 'ndjson' | undefined {
  const [first = '', ...others] = text.trimEnd().split(/\r?\n/)
  const next = others.find((line) => line.trim() !== '')
  if (isJson(first) && next !== undefined && /^\s*[{[]/.test(next)) return 'ndjson'
  if (whole && isJson(text)) return 'json'
  return JSON_START.test(text) && !FIELD.test(text) ? 'json' : undefined
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

import { READING } from '../options.ts'

/** The formats in which rows can be uploaded. */
export type UploadFormat = 'csv' | 'tsv' | 'json' | 'ndjson' | 'parquet' | 'arrow' | 'xlsx'

/** Those that are text, and may be packed with gzip. */
const TEXT_FORMATS: ReadonlySet<UploadFormat> = new Set(['csv', 'tsv', 'json', 'ndjson'])

/** What the endings of files' names mean. */
export const FORMAT_OF_ENDING: Readonly<Record<string, UploadFormat>> = {
  csv: 'csv',
  tsv: 'tsv',
  tab: 'tsv',
  json: 'json',
  ndjson: 'ndjson',
  jsonl: 'ndjson',
  parquet: 'parquet',
  arrow: 'arrow',
  arrows: 'arrow',
  feather: 'arrow',
  ipc: 'arrow',
  xlsx: 'xlsx',
}

/** The format that a file's name stands for. The ending `.gz` is known only behind those of the text formats. */
export function uploadFormatOf(fileName: string): { format: UploadFormat; gzip: boolean } | undefined {
  const match = /\.([^./\\]+?)(\.gz)?$/i.exec(fileName)
  if (!match) return undefined
  const ending = match[1]!.toLowerCase()
  const format = Object.hasOwn(FORMAT_OF_ENDING, ending) ? FORMAT_OF_ENDING[ending] : undefined
  const gzip = match[2] !== undefined
  return format && (!gzip || TEXT_FORMATS.has(format)) ? { format, gzip } : undefined
}

/** The first bytes of files that are no text, none of which may begin a name in csv. A workbook may also be another archive. */
const BEGINNINGS = [
  [/^PAR1(?![\w\s,;|"])/, 'parquet'],
  [/^ARROW1(?![\w\s,;|"])/, 'arrow'],
  [/^\xff{4}/, 'arrow'],
  [/^FEA1(?![\s,;|"])/, 'feather1'],
  [/^\xd0\xcf\x11\xe0/, 'xls'],
  [/^PK(?:\x03\x04|\x05\x06)/, 'xlsx'],
  [/^\x1f\x8b/, 'gzip'],
  [/^\x28\xb5\x2f\xfd/, 'zstd'],
  [/^BZh[1-9](?:1AY&SY|\x17rE8P\x90)/, 'bzip2'],
  [/^\xfd7zXZ\0/, 'xz'],
  [/^SQLite format 3\0/, 'sqlite'],
] as const

export type BinaryFormat = (typeof BEGINNINGS)[number][1]

/** How many bytes the longest beginning has. */
export const BINARY_BYTES = 16

/** The binary format that a file has by its first `BINARY_BYTES`; undefined for text. */
export function binaryFormat(head: Buffer): BinaryFormat | undefined {
  const start = head.toString('latin1', 0, BINARY_BYTES)
  return BEGINNINGS.find(([bytes]) => bytes.test(start))?.[1]
}

/** Whether `dialect=auto` can choose how files of a format are read. */
export function hasDialect(format: UploadFormat): boolean {
  return READING.dialect.formats.some((one) => one === format)
}

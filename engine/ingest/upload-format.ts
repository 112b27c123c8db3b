/** The formats in which rows can be uploaded. */
export type UploadFormat = 'csv' | 'tsv' | 'json' | 'ndjson' | 'parquet' | 'arrow' | 'xlsx'

/** Those that are text, and may be packed with gzip. */
export const TEXT_FORMATS: ReadonlySet<UploadFormat> = new Set(['csv', 'tsv', 'json', 'ndjson'])

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

/** The binary format that a file has by its first bytes; undefined for text. A workbook may also be another archive. */
export function binaryFormat(
  head: Uint8Array,
): 'parquet' | 'arrow' | 'xlsx' | 'xls' | 'feather1' | undefined {
  const bytes = Buffer.from(head.buffer, head.byteOffset, Math.min(head.byteLength, 8))
  const start = bytes.toString('latin1')
  if (start.startsWith('PAR1')) return 'parquet'
  if (start.startsWith('ARROW1') || start.startsWith('\xff\xff\xff\xff')) return 'arrow'
  if (start.startsWith('FEA1')) return 'feather1'
  if (start.startsWith('\xd0\xcf\x11\xe0')) return 'xls'
  return start.startsWith('PK\x03\x04') || start.startsWith('PK\x05\x06') ? 'xlsx' : undefined
}

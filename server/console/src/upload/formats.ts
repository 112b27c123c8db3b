/** The formats that the server accepts. */
export type UploadFormat = 'csv' | 'tsv' | 'json' | 'ndjson' | 'parquet' | 'arrow' | 'xlsx'

export interface FileKind {
  readonly format: UploadFormat
  readonly gzip: boolean
}

const ENDINGS: Readonly<Record<string, UploadFormat>> = {
  csv: 'csv',
  txt: 'csv',
  tsv: 'tsv',
  tab: 'tsv',
  json: 'json',
  ndjson: 'ndjson',
  jsonl: 'ndjson',
  parquet: 'parquet',
  arrow: 'arrow',
  arrows: 'arrow',
  xlsx: 'xlsx',
}

export const ACCEPT =
  '.csv,.tsv,.tab,.txt,.json,.ndjson,.jsonl,.parquet,.arrow,.arrows,.xlsx,.csv.gz,.tsv.gz,.json.gz,.ndjson.gz,.gz'

/** The format of a file, by its name; undefined for an unknown extension. */
export function kindOf(fileName: string): FileKind | undefined {
  const parts = fileName.toLowerCase().split('.')
  const gzip = parts.at(-1) === 'gz'
  const format = ENDINGS[(gzip ? parts.at(-2) : parts.at(-1)) ?? '']
  if (!format) return undefined
  if (gzip && (format === 'parquet' || format === 'arrow' || format === 'xlsx')) return undefined
  return { format, gzip }
}

/** Derives a name for a dataset from the name of a file. */
export function datasetName(fileName: string): string {
  return fileName.replace(/\.gz$/i, '').replace(/\.[a-z]+$/i, '')
}

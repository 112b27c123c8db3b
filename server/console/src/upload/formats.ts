/** The kinds of files that the service takes. */
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

/** What a file is, by its name; undefined where the name doesn't say. */
export function kindOf(fileName: string): FileKind | undefined {
  const parts = fileName.toLowerCase().split('.')
  const gzip = parts.at(-1) === 'gz'
  const format = ENDINGS[(gzip ? parts.at(-2) : parts.at(-1)) ?? '']
  if (!format) return undefined
  if (gzip && (format === 'parquet' || format === 'arrow' || format === 'xlsx')) return undefined
  return { format, gzip }
}

/** A name for a dataset, from a file's. */
export function datasetName(fileName: string): string {
  return fileName.replace(/\.gz$/i, '').replace(/\.[a-z]+$/i, '')
}

import type { Format } from '../../../client/index.ts'

export interface FileKind {
  readonly format: Format
  readonly gzip: boolean
}

const ENDINGS: Readonly<Record<string, Format>> = {
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

export const ACCEPT = [...Object.keys(ENDINGS), 'gz'].map((ending) => `.${ending}`).join()

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

let handed: File | undefined

/** Keeps a file that was dropped on another page for the page of uploads. */
export function handOver(file: File): void {
  handed = file
}

export function takeOver(): File | undefined {
  const file = handed
  handed = undefined
  return file
}

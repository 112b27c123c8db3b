import type { Format } from '../../types/index.ts'
import type { EncodedColumn, EncodeOptions, Encoder } from './encoder.ts'

type MakeEncoder = (columns: readonly EncodedColumn[], options: EncodeOptions) => Encoder

/**
 * The formats that batches are encoded in, loaded when they are asked for. `parquet` is not one of them: DuckDB writes
 * it from the query itself.
 */
const ENCODERS: Readonly<Record<Exclude<Format, 'parquet'>, () => Promise<MakeEncoder>>> = {
  csv: async () => (await import('./csv.ts')).csv,
  tsv: async () => (await import('./csv.ts')).tsv,
  json: async () => (await import('./json.ts')).json,
  ndjson: async () => (await import('./json.ts')).ndjson,
  xlsx: async () => (await import('./xlsx/xlsx.ts')).xlsx,
  arrow: async () => (await import('./arrow.ts')).arrow,
}

export type EncodedFormat = keyof typeof ENCODERS

export async function openEncoder(
  format: EncodedFormat,
  columns: readonly EncodedColumn[],
  options: EncodeOptions,
): Promise<Encoder> {
  return (await ENCODERS[format]())(columns, options)
}

import { EngineError } from '../../errors.ts'

/** Matches DuckDB's messages about a Parquet file that it can't read or a page that it can't decompress. */
const ABOUT_A_FILE =
  /^(IO|Invalid Input|Invalid|Serialization|Corruption|Out of Range) Error|TProtocolException|TTransportException/

/**
 * Turns an error of DuckDB while it read parts into ours, if only a damaged file can explain it; undefined otherwise.
 */
export function unreadable(error: unknown): EngineError | undefined {
  if (!(error instanceof Error) || !ABOUT_A_FILE.test(error.message)) return undefined
  return new EngineError(
    'storage_damaged',
    "The stored rows are damaged, so the dataset can't be read. The operator can restore them from a backup.",
    { cause: error },
  )
}

/** Whether an error of DuckDB is about a part that it read by ranges, over HTTP: a refused request or a connection. */
export function saysHttp(error: unknown): boolean {
  return error instanceof Error && /^HTTP Error|^IO Error: [^\n]* HTTP /.test(error.message)
}

import { EngineError } from '../../errors.ts'

/** How DuckDB begins what it says of a Parquet file that it can't read, or of a page that does not unpack. */
const ABOUT_A_FILE =
  /^(IO|Invalid Input|Invalid|Serialization|Corruption|Out of Range) Error|TProtocolException|TTransportException/

/** An error of DuckDB's while it read parts, where only a damaged file explains it; undefined for others. */
export function unreadable(error: unknown): EngineError | undefined {
  if (!(error instanceof Error) || !ABOUT_A_FILE.test(error.message)) return undefined
  return new EngineError(
    'storage_damaged',
    'The stored rows are damaged, so none of them are given. The operator can restore them from a backup.',
    { cause: error },
  )
}

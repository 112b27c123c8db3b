import { EngineError } from '../errors.ts'
import type { Format } from '../types/index.ts'
import { ByteStream } from './byte-stream.ts'
import { emptyTable } from './formats/index.ts'

/**
 * The export of a dataset that has no columns yet. It doesn't come from DuckDB, because SQL can't select zero columns.
 * @throws EngineError `not_representable` where the format has no table without columns
 */
export function nothingIn(format: Format, matches: number | undefined): ByteStream {
  const text = emptyTable(format)
  if (text === undefined) {
    throw new EngineError(
      'not_representable',
      `The dataset has no columns yet, and ${format} has no table without columns. Upload rows or declare columns first.`,
    )
  }
  async function* bytes() {
    if (text !== '') yield Buffer.from(text!)
  }
  return new ByteStream(bytes(), { rows: () => 0, matches: Promise.resolve(matches) })
}

import { EngineError } from '../errors.ts'
import type { Format } from '../types/index.ts'
import { emptyTable } from './formats/index.ts'
import type { ByteStream } from './index.ts'

/**
 * The export of a dataset that has no columns yet. It doesn't come from DuckDB, because SQL can't select zero columns.
 * @throws EngineError `not_representable` where the format has no table without columns
 */
export function nothingIn(format: Format): ByteStream {
  const text = emptyTable(format)
  if (text === undefined) {
    throw new EngineError(
      'not_representable',
      `The dataset has no columns yet, and ${format} has no table without columns. Upload rows or declare columns first.`,
    )
  }
  return {
    rows: () => 0,
    recycle: () => {},
    [Symbol.asyncDispose]: async () => {},
    async *[Symbol.asyncIterator]() {
      if (text !== '') yield Buffer.from(text)
    },
  }
}

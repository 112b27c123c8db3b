import { EngineError } from '../errors.ts'
import type { Format } from '../types/index.ts'
import { emptyTable } from './formats/index.ts'
import type { ByteStream } from './index.ts'

/**
 * What a dataset that never had columns looks like in a format. SQL has no SELECT of nothing.
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

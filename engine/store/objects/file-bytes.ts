import { createReadStream } from 'node:fs'
import { EngineError } from '../../errors.ts'

const READ_BYTES = 256 << 10

/** Bytes `from` (inclusive) to `to` (exclusive) of a file. @throws EngineError `storage_damaged` if it is shorter */
export async function* fileBytes(
  file: string,
  from: number,
  to: number,
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array, void, undefined> {
  let left = to - from
  if (left <= 0) return
  const pieces = createReadStream(file, { start: from, end: to - 1, highWaterMark: READ_BYTES })
  for await (const piece of pieces as AsyncIterable<Uint8Array>) {
    signal?.throwIfAborted()
    left -= piece.byteLength
    yield piece
  }
  if (left > 0) throw new EngineError('storage_damaged', 'A part of the stored rows is cut off.')
}

import { open } from 'node:fs/promises'
import { EngineError } from '../../errors.ts'

const READ_BYTES = 256 << 10

/** Bytes `from` (inclusive) to `to` (exclusive) of a file. @throws EngineError `storage_damaged` if it is shorter */
export async function* fileBytes(
  file: string,
  from: number,
  to: number,
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array, void, undefined> {
  await using handle = await open(file)
  for (let at = from; at < to; ) {
    signal?.throwIfAborted()
    const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafeSlow(Math.min(READ_BYTES, to - at)), {
      position: at,
    })
    if (bytesRead === 0) throw new EngineError('storage_damaged', 'A part of the stored rows is cut off.')
    at += bytesRead
    yield buffer.subarray(0, bytesRead)
  }
}

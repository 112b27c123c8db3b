import type { FileHandle } from 'node:fs/promises'
import { malformed } from '../text/accepts.ts'
import { verifyMessage } from './verify-message.ts'

const FILE_MAGIC = Buffer.from('ARROW1\0\0')
const CONTINUATION = 0xffffffff
/** A batch of ten thousand columns has metadata of less than a megabyte. */
const LONGEST_METADATA = 64 * 1024 * 1024
const CHUNK = 1024 * 1024

/**
 * The bytes of an Arrow stream, message by message, each checked before it is given on. A file is a stream behind eight
 * bytes; the directory at its end is not needed. Ends at the marker of the stream's end, or with the file.
 * @throws RangeError where a message is cut off or contradicts itself
 */
export async function* arrowMessages(
  handle: FileHandle,
  onBytes: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  const { size } = await handle.stat()
  const read = async (at: number, length: number): Promise<Buffer> => {
    if (at + length > size) throw new RangeError('A message is cut off.')
    const bytes = Buffer.allocUnsafeSlow(length)
    for (let done = 0; done < length; ) {
      const { bytesRead } = await handle.read(bytes, done, length - done, at + done)
      if (bytesRead === 0) throw new RangeError('A message is cut off.')
      done += bytesRead
    }
    return bytes
  }
  let at = size >= 8 && FILE_MAGIC.equals(await read(0, 8)) ? 8 : 0
  let begun = false
  while (at < size) {
    const first = (await read(at, 4)).readUInt32LE()
    // Streams of before Arrow 0.15 have no continuation mark.
    const marked = first === CONTINUATION
    const length = marked ? (await read(at + 4, 4)).readUInt32LE() : first
    if (length === 0) return
    if (length > LONGEST_METADATA) throw new RangeError('The metadata of a message are too long.')
    const body = at + (marked ? 8 : 4) + length
    const head = await read(at, body - at)
    const { bodyLength, isSchema } = verifyMessage(head.subarray(marked ? 8 : 4))
    if (!begun && !isSchema) {
      throw malformed('The Arrow file has no schema at its beginning; upload it as a stream.')
    }
    begun = true
    if (body + bodyLength > size) throw new RangeError('A message is cut off.')
    yield head
    for (let done = 0; done < bodyLength; done += CHUNK) {
      yield await read(body + done, Math.min(CHUNK, bodyLength - done))
    }
    at = body + bodyLength
    onBytes(at)
  }
}

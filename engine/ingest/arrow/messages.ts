import type { FileHandle } from 'node:fs/promises'
import { malformed } from '../text/accepts.ts'
import { verifyFooter, verifyMessage } from './verify-message.ts'

const MAGIC = Buffer.from('ARROW1')
const CONTINUATION = 0xffffffff
/** A batch of ten thousand columns has metadata of less than a megabyte. */
const LONGEST_METADATA = 64 * 1024 * 1024
const CHUNK = 1024 * 1024
/** Behind a file's directory: its length, and the magic again. */
const TAIL = 4 + MAGIC.length

/**
 * Whether this is a file, with a directory at its end, and no stream. All of its messages are checked; the library may
 * then read them.
 * @throws RangeError where one is cut off or contradicts itself
 */
export async function verifyFile(handle: FileHandle): Promise<boolean> {
  const { size } = await handle.stat()
  if (size < 8 + TAIL || !MAGIC.equals(await readExactly(handle, 0, MAGIC.length))) return false
  const tail = await readExactly(handle, size - TAIL, TAIL)
  if (!MAGIC.equals(tail.subarray(4))) return false
  const length = tail.readUInt32LE()
  if (length > LONGEST_METADATA) throw new RangeError('The directory of the file is too long.')
  const footer = await readExactly(handle, size - TAIL - length, length)
  for (const at of verifyFooter(footer)) await readHead(handle, at)
  return true
}

/**
 * The bytes of an Arrow stream, message by message, each checked before it is given on. A file that lost its end is a
 * stream behind eight bytes. Ends at the marker of the stream's end, or with the file.
 * @throws RangeError where a message is cut off or contradicts itself
 */
export async function* arrowMessages(
  handle: FileHandle,
  onBytes: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  const { size } = await handle.stat()
  let at = size >= 8 && MAGIC.equals(await readExactly(handle, 0, MAGIC.length)) ? 8 : 0
  let begun = false
  while (at < size) {
    const message = await readHead(handle, at)
    if (!message) return
    if (!begun && !message.isSchema) {
      throw malformed('The Arrow file has no schema at its beginning, and no directory at its end.')
    }
    begun = true
    yield message.head
    const body = at + message.head.length
    for (let done = 0; done < message.bodyLength; done += CHUNK) {
      yield await readExactly(handle, body + done, Math.min(CHUNK, message.bodyLength - done))
    }
    at = body + message.bodyLength
    onBytes(at)
  }
}

/** The metadata of a message; undefined for the marker of the end. */
async function readHead(
  handle: FileHandle,
  at: number,
): Promise<{ head: Buffer; bodyLength: number; isSchema: boolean } | undefined> {
  const first = (await readExactly(handle, at, 4)).readUInt32LE()
  // Streams of before Arrow 0.15 have no continuation mark.
  const prefix = first === CONTINUATION ? 8 : 4
  const length = prefix === 8 ? (await readExactly(handle, at + 4, 4)).readUInt32LE() : first
  if (length === 0) return undefined
  if (length > LONGEST_METADATA) throw new RangeError('The metadata of a message are too long.')
  const head = await readExactly(handle, at, prefix + length)
  const { bodyLength, isSchema } = verifyMessage(head.subarray(prefix))
  if (at + head.length + bodyLength > (await handle.stat()).size)
    throw new RangeError('A message is cut off.')
  return { head, bodyLength, isSchema }
}

async function readExactly(handle: FileHandle, at: number, length: number): Promise<Buffer> {
  // Asked for in vain, so much memory would be had for a few bytes.
  if (at < 0 || at + length > (await handle.stat()).size) throw new RangeError('A message is cut off.')
  const bytes = Buffer.allocUnsafeSlow(length)
  for (let done = 0; done < length; ) {
    const { bytesRead } = await handle.read(bytes, done, length - done, at + done)
    if (bytesRead === 0) throw new RangeError('A message is cut off.')
    done += bytesRead
  }
  return bytes
}

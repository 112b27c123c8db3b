import type { FileHandle } from 'node:fs/promises'
import { readExactly } from '../../parquet/parquet-file.ts'
import { malformed } from '../text/errors.ts'
import { type MessageHead, verifyFooter, verifyMessage } from './verify-message.ts'

const MAGIC = Buffer.from('ARROW1')
const CONTINUATION = 0xffffffff
/** Longer metadata are refused: those of a batch of ten thousand columns have less than a megabyte. */
const LONGEST_METADATA = 64 * 1024 * 1024
const CHUNK = 1024 * 1024
/** The bytes behind a file's directory: the directory's length, and the magic again. */
const TAIL = 4 + MAGIC.length

/**
 * If this is an Arrow file, which has a directory at its end, and not a stream, returns the names of all fields of its
 * schema, depth first. All of a file's messages are checked here, so that the library may read them.
 * @throws RangeError if a message is cut off or contradicts itself
 */
export async function verifyFile(handle: FileHandle): Promise<readonly string[] | undefined> {
  const file = await Ahead.of(handle)
  const { size } = file
  if (size < 8 + TAIL || !MAGIC.equals(await file.read(0, MAGIC.length))) return undefined
  const tail = await file.read(size - TAIL, TAIL)
  if (!MAGIC.equals(tail.subarray(4))) return undefined
  const length = tail.readUInt32LE()
  if (length > LONGEST_METADATA) throw new RangeError('The footer of the file is too long.')
  const footer = await file.read(size - TAIL - length, length)
  const { messages, names } = verifyFooter(footer)
  for (const at of messages) await readHead(file, at)
  return names
}

/**
 * The bytes of an Arrow stream, message by message. Each message is checked before it is passed on. The bytes end at the
 * marker of the stream's end, or with the file: a writer of streams may leave the marker out (Columnar format, IPC
 * Streaming Format). An Arrow file that has lost its footer is read as the stream that begins behind its first eight
 * bytes, and this has to have the marker, because otherwise rows may have been lost as well.
 * @param onSchema is called with the names of all fields of the schema, depth first, before the schema is passed on
 * @throws RangeError if a message is cut off or contradicts itself
 */
export async function* arrowMessages(
  handle: FileHandle,
  onSchema: (names: readonly string[]) => void,
  onBytes: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  const file = await Ahead.of(handle)
  const { size } = file
  const isFile = size >= 8 && MAGIC.equals(await file.read(0, MAGIC.length))
  let at = isFile ? 8 : 0
  let begun = false
  while (at < size) {
    const message = await readHead(file, at)
    if (!message) return
    if (!begun && !message.names) {
      throw malformed('The Arrow file has no schema at its beginning and no footer at its end.')
    }
    if (!begun) onSchema(message.names!)
    begun = true
    yield message.head
    const body = at + message.head.length
    for (let done = 0; done < message.bodyLength; done += CHUNK) {
      yield await file.read(body + done, Math.min(CHUNK, message.bodyLength - done))
    }
    at = body + message.bodyLength
    onBytes(at)
  }
  if (isFile) throw malformed('The Arrow file is cut off: it has no footer at its end.')
}

/** Reads and checks the metadata of a message; undefined for the marker of the stream's end. */
async function readHead(file: Ahead, at: number): Promise<({ head: Buffer } & MessageHead) | undefined> {
  const first = (await file.read(at, 4)).readUInt32LE()
  // Streams written before Arrow 0.15 have no continuation mark.
  const prefix = first === CONTINUATION ? 8 : 4
  const length = prefix === 8 ? (await file.read(at + 4, 4)).readUInt32LE() : first
  if (length === 0) return undefined
  if (length > LONGEST_METADATA) throw new RangeError('The metadata of a message are too long.')
  const head = await file.read(at, prefix + length)
  const message = verifyMessage(head.subarray(prefix))
  if (at + head.length + message.bodyLength > file.size) throw new RangeError('A message is cut off.')
  return { head, ...message }
}

/** A file that is read from its beginning on: many short messages are read at once. */
class Ahead {
  readonly size: number
  readonly #handle: FileHandle
  #window: Buffer = Buffer.alloc(0)
  #start = 0

  private constructor(handle: FileHandle, size: number) {
    this.#handle = handle
    this.size = size
  }

  static async of(handle: FileHandle): Promise<Ahead> {
    return new Ahead(handle, (await handle.stat()).size)
  }

  /** These bytes, which stay as they are. @throws RangeError if the file ends before them */
  async read(at: number, length: number): Promise<Buffer> {
    // A damaged length may be huge. Without this check, that much memory would be allocated for bytes that don't exist.
    if (at < 0 || at + length > this.size) throw new RangeError('A message is cut off.')
    if (at < this.#start || at + length > this.#start + this.#window.length) {
      this.#window = await readExactly(this.#handle, at, Math.min(Math.max(length, CHUNK), this.size - at))
      this.#start = at
    }
    return this.#window.subarray(at - this.#start, at - this.#start + length)
  }
}

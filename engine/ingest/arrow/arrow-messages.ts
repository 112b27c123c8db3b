import type { FileHandle } from 'node:fs/promises'
import { DictionaryBatch } from 'apache-arrow/fb/dictionary-batch'
import { Duration } from 'apache-arrow/fb/duration'
import type { Field } from 'apache-arrow/fb/field'
import { Footer } from 'apache-arrow/fb/footer'
import { Int } from 'apache-arrow/fb/int'
import type { KeyValue } from 'apache-arrow/fb/key-value'
import { Message } from 'apache-arrow/fb/message'
import { MessageHeader } from 'apache-arrow/fb/message-header'
import { RecordBatch } from 'apache-arrow/fb/record-batch'
import { Schema } from 'apache-arrow/fb/schema'
import { TimeUnit } from 'apache-arrow/fb/time-unit'
import { Type } from 'apache-arrow/fb/type'
import { ByteBuffer, Encoding } from 'flatbuffers'
import { readExactly } from '../../parquet/parquet-file.ts'
import { malformed } from '../text/errors.ts'

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
  const { size } = await handle.stat()
  const file = new Ahead(handle, size)
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
  const { size } = await handle.stat()
  const file = new Ahead(handle, size)
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
    at += message.head.length
    if (message.bodyLength > 0) yield await file.read(at, message.bodyLength)
    at += message.bodyLength
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

  constructor(handle: FileHandle, size: number) {
    this.#handle = handle
    this.size = size
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

/**
 * Checks the metadata of Arrow messages (FlatBuffers, schema in Message.fbs and Schema.fbs of Arrow 1.5) before the
 * library reads them. The library trusts every count and offset, so that a single wrong bit can make it build lists
 * until the memory is full. Here all of them are read from a buffer that ends where it ends.
 */

const DEEPEST = 64

interface MessageHead {
  /** The number of bytes of the body, which follows the metadata. */
  readonly bodyLength: number
  /** If the message is a schema: the names of all its fields, depth first. */
  readonly names?: readonly string[]
}

/** Checks a message's metadata. @throws RangeError if an offset or a count goes beyond the metadata or the body */
function verifyMessage(metadata: Uint8Array): MessageHead {
  const message = Message.getRootAsMessage(new CheckedBuffer(metadata))
  const bodyLength = count(message.bodyLength())
  verifyPairs(message)
  const type = message.headerType()
  if (type === MessageHeader.Schema) return { bodyLength, names: verifySchema(message.header(new Schema())) }
  if (type === MessageHeader.RecordBatch) verifyBatch(message.header(new RecordBatch()), bodyLength)
  else {
    assertValid(type === MessageHeader.DictionaryBatch)
    verifyBatch(message.header(new DictionaryBatch())?.data(), bodyLength)
  }
  return { bodyLength }
}

/** A column in the schema that Arrow's libraries leave in a Parquet file. */
export interface ArrowField {
  readonly name: string
  readonly metadata: ReadonlyMap<string, string>
  /** The unit of its durations, which Parquet holds as whole numbers; `within` if lists or the like have them. */
  readonly durations: keyof typeof TimeUnit | 'within' | undefined
}

/** The columns of a schema. @throws as `verifyMessage` does */
export function schemaFields(metadata: Uint8Array): ArrowField[] {
  verifyMessage(metadata)
  const schema = Message.getRootAsMessage(new ByteBuffer(metadata)).header(new Schema()) as Schema
  return [...items(schema.fieldsLength(), (index) => schema.fields(index))].map((field) => ({
    name: field.name() ?? '',
    metadata: new Map(
      [...items(field.customMetadataLength(), (index) => field.customMetadata(index))].map((pair) => [
        pair.key() ?? '',
        pair.value() ?? '',
      ]),
    ),
    durations: durationsOf(field),
  }))
}

function durationsOf(field: Field): ArrowField['durations'] {
  if (field.typeType() === Type.Duration) {
    return TimeUnit[(field.type(new Duration()) as Duration).unit()] as keyof typeof TimeUnit
  }
  const inner = [...items(field.childrenLength(), (index) => field.children(index))]
  return inner.some((child) => durationsOf(child) !== undefined) ? 'within' : undefined
}

/**
 * Checks the directory at the end of a file.
 * @returns the positions at which the file's messages begin, and the names as `MessageHead` has them
 * @throws RangeError as `verifyMessage` does
 */
function verifyFooter(bytes: Uint8Array): { messages: number[]; names: readonly string[] } {
  const footer = Footer.getRootAsFooter(new CheckedBuffer(bytes))
  verifyPairs(footer)
  const names = verifySchema(footer.schema())
  const messages = [
    ...items(footer.dictionariesLength(), (index) => footer.dictionaries(index)),
    ...items(footer.recordBatchesLength(), (index) => footer.recordBatches(index)),
  ].map((block) => count(block.offset()))
  return { messages, names }
}

function verifySchema(schema: Schema | null): string[] {
  if (!schema) throw contradiction()
  const names: string[] = []
  for (let index = 0; index < schema.featuresLength(); index++) schema.features(index)
  for (const field of items(schema.fieldsLength(), (index) => schema.fields(index))) {
    verifyField(field, names, 0)
  }
  verifyPairs(schema)
  return names
}

/** Types that the library does not read. */
const UNREAD: Readonly<Record<number, string>> = { 22: 'RunEndEncoded', 25: 'ListView', 26: 'LargeListView' }

/** @param within the column, if the field is part of one */
function verifyField(field: Field, names: string[], depth: number, within?: string): void {
  assertValid(depth < DEEPEST)
  const name = utf8Text((field.name(Encoding.UTF8_BYTES) ?? new Uint8Array()) as Uint8Array)
  if (name === undefined) throw malformed('A name in the schema of the Arrow stream is not valid UTF-8.')
  const column = within ?? name
  names.push(name)
  const refused = (what: string) => malformed(`Column ${JSON.stringify(column)} ${what}`, { column })
  const typeId = field.typeType()
  const unread = UNREAD[typeId]
  if (unread !== undefined) throw refused(`has the Arrow type ${unread}, which is not supported.`)
  const bits = typeId === Type.Int ? (field.type(new Int())?.bitWidth() ?? 0) : 0
  // Integers have up to 64 bits, but some programs write wider ones.
  if (bits > 64) {
    throw refused(
      `holds integers of ${bits} bits, which neither Arrow nor Parquet has: send decimals of up to 38 digits, or text.`,
    )
  }
  field.dictionary()?.id()
  verifyPairs(field)
  for (const child of items(field.childrenLength(), (index) => field.children(index))) {
    verifyField(child, names, depth + 1, column)
  }
}

function verifyPairs(table: {
  customMetadataLength(): number
  customMetadata(index: number): KeyValue | null
}): void {
  for (const pair of items(table.customMetadataLength(), (index) => table.customMetadata(index))) {
    pair.key(Encoding.UTF8_BYTES)
    pair.value(Encoding.UTF8_BYTES)
  }
}

function verifyBatch(batch: RecordBatch | null | undefined, bodyLength: number): void {
  if (!batch) throw contradiction()
  count(batch.length())
  for (const node of items(batch.nodesLength(), (index) => batch.nodes(index))) {
    count(node.length())
    count(node.nullCount())
  }
  let left = batch.buffersLength()
  for (const buffer of items(left, (index) => batch.buffers(index))) {
    assertValid(count(buffer.offset()) + count(buffer.length()) <= bodyLength)
  }
  // These counts say how many buffers each column of views has. The library would read that many, present or not.
  for (const views of items(batch.variadicBufferCountsLength(), (index) =>
    batch.variadicBufferCounts(index),
  )) {
    left -= count(views)
    assertValid(left >= 0)
  }
}

/** The items of a vector, one by one: whoever reads each of them does not get beyond the end of the buffer. */
function* items<T>(length: number, item: (index: number) => T | null): Generator<T> {
  assertValid(length >= 0)
  for (let index = 0; index < length; index++) yield item(index)!
}

/** Shared tables can make a huge tree of a few bytes. Reading what is not shared takes some twenty reads a byte. */
const MOST_READS_A_BYTE = 50

/** A buffer that is not read beyond its end, where the one of the library gives zeros. */
class CheckedBuffer extends ByteBuffer {
  #reads = 0

  override readUint8(at: number): number {
    this.#check(at, 1)
    return super.readUint8(at)
  }

  override readUint16(at: number): number {
    this.#check(at, 2)
    return super.readUint16(at)
  }

  override readInt32(at: number): number {
    this.#check(at, 4)
    return super.readInt32(at)
  }

  override __string(at: number, encoding?: Encoding): string | Uint8Array {
    const start = this.__indirect(at)
    this.#check(start + 4, this.readUint32(start))
    return super.__string(at, encoding)
  }

  #check(at: number, bytes: number): void {
    assertValid(
      at >= 0 && at + bytes <= this.capacity() && ++this.#reads <= MOST_READS_A_BYTE * this.capacity(),
    )
  }
}

function count(value: bigint | null): number {
  const number = Number(value)
  assertValid(Number.isSafeInteger(number) && number >= 0)
  return number
}

export function assertValid(condition: boolean): void {
  if (!condition) throw contradiction()
}

function contradiction(): RangeError {
  return new RangeError('The metadata of a message contradict themselves or its body.')
}

// The library's own decoder drops byte order marks, and puts U+FFFD in the place of bytes that are not UTF-8.
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The text that bytes stand for, with a byte order mark if it has one; undefined if they are not UTF-8. */
export function utf8Text(bytes: Uint8Array): string | undefined {
  try {
    return UTF8.decode(bytes)
  } catch {
    return undefined
  }
}

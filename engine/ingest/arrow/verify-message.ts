import { DictionaryBatch } from 'apache-arrow/fb/dictionary-batch'
import type { Field } from 'apache-arrow/fb/field'
import { Footer } from 'apache-arrow/fb/footer'
import { Int } from 'apache-arrow/fb/int'
import { Interval } from 'apache-arrow/fb/interval'
import { IntervalUnit } from 'apache-arrow/fb/interval-unit'
import type { KeyValue } from 'apache-arrow/fb/key-value'
import { Message } from 'apache-arrow/fb/message'
import { MessageHeader } from 'apache-arrow/fb/message-header'
import { RecordBatch } from 'apache-arrow/fb/record-batch'
import { Schema } from 'apache-arrow/fb/schema'
import { Type } from 'apache-arrow/fb/type'
import { ByteBuffer, Encoding } from 'flatbuffers'
import { malformed } from '../text/errors.ts'

/**
 * Checks the metadata of Arrow messages (FlatBuffers, schema in Message.fbs and Schema.fbs of Arrow 1.5) before the
 * library reads them. The library trusts every count and offset, so that a single wrong bit can make it build lists
 * until the memory is full. Here all of them are read from a buffer that ends where it ends.
 */

const DEEPEST = 64

export interface MessageHead {
  /** The number of bytes of the body, which follows the metadata. */
  readonly bodyLength: number
  /** If the message is a schema: the names of all its fields, depth first. */
  readonly names?: readonly string[]
}

/** Checks a message's metadata. @throws RangeError if an offset or a count goes beyond the metadata or the body */
export function verifyMessage(metadata: Uint8Array): MessageHead {
  const message = Message.getRootAsMessage(new CheckedBuffer(metadata))
  const bodyLength = count(message.bodyLength())
  verifyPairs(message)
  const type = message.headerType()
  if (type === MessageHeader.Schema) return { bodyLength, names: verifySchema(message.header(new Schema())) }
  if (type === MessageHeader.RecordBatch) verifyBatch(message.header(new RecordBatch()), bodyLength)
  else {
    need(type === MessageHeader.DictionaryBatch)
    verifyBatch(message.header(new DictionaryBatch())?.data(), bodyLength)
  }
  return { bodyLength }
}

/**
 * Checks the directory at the end of a file.
 * @returns the positions at which the file's messages begin, and the names as `MessageHead` has them
 * @throws RangeError as `verifyMessage` does
 */
export function verifyFooter(bytes: Uint8Array): { messages: number[]; names: readonly string[] } {
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

/** Types that the library does not read, and the unit of an interval that it does not. */
const UNREAD: Readonly<Record<number, string>> = { 22: 'RunEndEncoded', 25: 'ListView', 26: 'LargeListView' }

/** @param within the column, if the field is part of one */
function verifyField(field: Field, names: string[], depth: number, within?: string): void {
  need(depth < DEEPEST)
  const name = utf8Text((field.name(Encoding.UTF8_BYTES) ?? new Uint8Array()) as Uint8Array)
  if (name === undefined) throw malformed('A name in the schema of the Arrow stream is not valid UTF-8.')
  const column = within ?? name
  names.push(name)
  const refused = (what: string) => malformed(`Column ${JSON.stringify(column)} ${what}`, { column })
  const typeId = field.typeType()
  const isLongInterval =
    typeId === Type.Interval && field.type(new Interval())?.unit() === IntervalUnit.MONTH_DAY_NANO
  const unread = isLongInterval ? 'Interval<MONTH_DAY_NANO>' : UNREAD[typeId]
  if (unread !== undefined) throw refused(`has the Arrow type ${unread}, which is not supported.`)
  const bits = typeId === Type.Int ? (field.type(new Int())?.bitWidth() ?? 0) : 0
  // Integers have up to 64 bits, but some programs write wider ones.
  if (bits > 64) {
    throw refused(
      `holds integers of ${bits} bits, which Arrow does not have: send decimals of up to 38 digits, or text.`,
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
    need(count(buffer.offset()) + count(buffer.length()) <= bodyLength)
  }
  // These counts say how many buffers each column of views has. The library would read that many, present or not.
  for (const views of items(batch.variadicBufferCountsLength(), (index) =>
    batch.variadicBufferCounts(index),
  )) {
    left -= count(views)
    need(left >= 0)
  }
}

/** The items of a vector, one by one: whoever reads each of them does not get beyond the end of the buffer. */
function* items<T>(length: number, item: (index: number) => T | null): Generator<T> {
  need(length >= 0)
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
    need(at >= 0 && at + bytes <= this.capacity() && ++this.#reads <= MOST_READS_A_BYTE * this.capacity())
  }
}

function count(value: bigint | null): number {
  const number = Number(value)
  need(Number.isSafeInteger(number) && number >= 0)
  return number
}

function need(condition: boolean): void {
  if (!condition) throw contradiction()
}

function contradiction(): RangeError {
  return new RangeError('The metadata of a message contradict themselves.')
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

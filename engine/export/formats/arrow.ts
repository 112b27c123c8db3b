import {
  Binary,
  Bool,
  type DataType,
  DateDay,
  Decimal,
  Field,
  FixedSizeBinary,
  Float64,
  Int64,
  Message,
  Schema,
  TimeMicrosecond,
  TimestampMicrosecond,
  Utf8,
} from 'apache-arrow'
import { FileBlock, Footer } from 'apache-arrow/ipc/metadata/file'
import { BufferRegion, FieldNode, RecordBatch } from 'apache-arrow/ipc/metadata/message'
import { type Batch, clearNulls, type Vector, WIDTHS } from '../../duckdb/batch.ts'
import { type ArrowName, type ColumnType, decimalParts, entryOf } from '../../types/index.ts'
import type { Container, EncodedColumn, EncodeOptions, Encoder, Output } from './encoder.ts'
import { time } from './text/digits.ts'

/** Arrow's streaming IPC format: a message of the schema, one for each batch, the end mark. */
export const arrow = (given: readonly EncodedColumn[], options: EncodeOptions): Encoder =>
  streamOf(given, options).stream

/** Arrow's IPC file format: a stream between two marks, and a footer with the schema and the position of each batch. */
export const arrowFile = (given: readonly EncodedColumn[], options: EncodeOptions): Encoder => {
  const { stream, schema, messages } = streamOf(given, options)
  return {
    ...stream,
    packing: {
      pack: (piece) => ({ bytes: piece, note: messages.bodiesIn(piece) }),
      container: () => new ArrowFile(stream, schema, messages.headBytes),
    },
  }
}

const MAGIC = Buffer.from('ARROW1')

class ArrowFile implements Container {
  readonly #stream: Encoder
  readonly #schema: Schema
  readonly #headBytes: number
  readonly #blocks: FileBlock[] = []
  /** Where the next piece begins. */
  #at = 0

  constructor(stream: Encoder, schema: Schema, headBytes: number) {
    this.#stream = stream
    this.#schema = schema
    this.#headBytes = headBytes
  }

  begin(out: Output): void {
    out.append(MAGIC)
    fillUp(out)
    this.#stream.begin(out)
    this.#at = out.length
  }

  piece(bytes: Uint8Array<ArrayBuffer>, bodies: unknown): Uint8Array {
    for (const body of bodies as number[]) {
      this.#blocks.push(new FileBlock(this.#headBytes, body, this.#at))
      this.#at += this.#headBytes + body
    }
    return bytes
  }

  end(rows: number, out: Output): void {
    this.#stream.end(rows, out)
    const footer = Footer.encode(new Footer(this.#schema, undefined, this.#blocks, []))
    out.append(footer)
    out.append(new Uint8Array(Uint32Array.of(footer.length).buffer))
    out.append(MAGIC)
  }
}

function streamOf(
  given: readonly EncodedColumn[],
  { metadata, plainTypes, encoding }: EncodeOptions,
): { stream: Encoder; schema: Schema; messages: BatchMessages } {
  const isPlain = encoding === 'plain'
  const columns = plainTypes || isPlain ? given.map((column) => asText(column, isPlain)) : given
  const plain = ({ rows, vectors }: Batch): Batch => ({
    rows,
    vectors: vectors.map((vector, at) => (given[at]!.type === 'time' ? timeTexts(vector, rows) : vector)),
  })
  const messages = new BatchMessages(columns)
  const schema = schemaOf(columns, metadata)
  const stream: Encoder = {
    begin: (out) => out.append(schemaMessage(schema)),
    batch: (batch, _first, out) => {
      if (batch.rows > 0) messages.append(isPlain ? plain(batch) : batch, out)
    },
    end: (_rows, out) => out.append(END),
  }
  return { stream, schema, messages }
}

/** A uuid and json are texts in a vector; times are made so. */
function asText({ name, type }: EncodedColumn, withTimes: boolean): EncodedColumn {
  const isText = type === 'uuid' || type === 'json' || (withTimes && type === 'time')
  return { name, type: isText ? 'string' : type }
}

/** The longest text of a time, and the bytes behind it that are overwritten. */
const [TIME_BYTES, SLACK] = [15, 16]

function timeTexts(vector: Vector, rows: number): Vector {
  const { validity, words } = vector
  const bytes = new Uint8Array(rows * TIME_BYTES + SLACK)
  const view = new DataView(bytes.buffer)
  const offsets = new Int32Array(rows + 1)
  for (let row = 0; row < rows; row++) {
    const isValid = !validity || (validity[row >> 3]! >> (row & 7)) & 1
    const from = offsets[row]!
    offsets[row + 1] = isValid ? time(view, from, words[2 * row]!, words[2 * row + 1]!) : from
  }
  return { ...vector, validity, bytes, view, offsets }
}

/** A schema in which uuid and json are extension types (Arrow, "Canonical Extension Types"). */
function schemaOf(columns: readonly EncodedColumn[], metadata?: ReadonlyMap<string, string>): Schema {
  const fields = columns.map(({ name, type }) => {
    const storage = type === 'uuid' ? new FixedSizeBinary(UUID_BYTES) : ARROW_TYPES[entryOf(type).arrow](type)
    const isExtension = type === 'uuid' || type === 'json'
    return new Field(name, storage, true, isExtension ? extension(`arrow.${type}`) : undefined)
  })
  return new Schema(fields, metadata && new Map(metadata))
}

function extension(name: string): Map<string, string> {
  return new Map([
    ['ARROW:extension:name', name],
    ['ARROW:extension:metadata', ''],
  ])
}

const ARROW_TYPES = {
  bool: () => new Bool(),
  int64: () => new Int64(),
  float64: () => new Float64(),
  decimal128: (type) => {
    const { precision, scale } = decimalParts(type)!
    return new Decimal(scale, precision, 128)
  },
  utf8: () => new Utf8(),
  binary: () => new Binary(),
  date32: () => new DateDay(),
  'time64[us]': () => new TimeMicrosecond(),
  'timestamp[us]': () => new TimestampMicrosecond(),
  'timestamp[us, UTC]': () => new TimestampMicrosecond('UTC'),
} satisfies Record<ArrowName, (type: ColumnType) => DataType>

/** Begins every message (Arrow Columnar Format, "Encapsulated message format"). */
const CONTINUATION = 0xffffffff
/** The end of a stream: a continuation marker and a length of zero. */
const END = Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0)

function schemaMessage(schema: Schema): Uint8Array {
  return framed(Message.encode(Message.from(schema)))
}

/** Metadata after its marker and its length, filled up to whole words. */
function framed(metadata: Uint8Array): Uint8Array {
  const length = padded(metadata.length)
  const message = new Uint8Array(8 + length)
  const view = new DataView(message.buffer)
  view.setUint32(0, CONTINUATION, true)
  view.setUint32(4, length, true)
  message.set(metadata, 8)
  return message
}

function padded(bytes: number): number {
  return 8 * Math.ceil(bytes / 8)
}

/** Numbers that stand in for others in metadata, and are found there again. */
const MARKS = {
  rows: 2 ** 52 + 0x35a1,
  bytes: 2 ** 52 + 0x35a2,
  node: 2 ** 52 + 0x35a3,
  buffer: 2 ** 52 + 0x35a4,
}
/** The bytes of a field node (rows, nulls), and of a buffer's place (offset, length). */
const PAIR = 16

/**
 * Writes batches of one schema as messages. The metadata of all has the same form, so it is encoded once, and for each
 * batch only its numbers are replaced: apache-arrow's writer takes longer for it than for the 2,048 rows.
 */
class BatchMessages {
  readonly #columns: readonly EncodedColumn[]
  readonly #head: Uint8Array
  /** Where in the head which number is. */
  readonly #at: typeof MARKS

  constructor(columns: readonly EncodedColumn[]) {
    this.#columns = columns
    const nodes = columns.map(() => new FieldNode(MARKS.node, 0))
    const regions = columns.flatMap((column) =>
      Array.from({ length: hasOffsets(column) ? 3 : 2 }, () => new BufferRegion(MARKS.buffer, 0)),
    )
    const batch = new RecordBatch(MARKS.rows, nodes, regions, null)
    this.#head = framed(Message.encode(Message.from(batch, MARKS.bytes)))
    const places = Object.entries(MARKS).map(([name, mark]) => [name, placeOf(mark, this.#head)])
    this.#at = Object.fromEntries(places)
  }

  /** The bytes of a message before its body. */
  get headBytes(): number {
    return this.#head.length
  }

  /** The sizes of the bodies of messages that follow one another. */
  bodiesIn(messages: Uint8Array): number[] {
    const view = new DataView(messages.buffer, messages.byteOffset)
    const bodies: number[] = []
    for (let at = 0; at < messages.length; at += this.#head.length + bodies.at(-1)!)
      bodies.push(Number(view.getBigInt64(at + this.#at.bytes, true)))
    return bodies
  }

  append({ rows, vectors }: Batch, out: Output): void {
    const head = out.length
    out.append(this.#head)
    const body = out.length
    let node = head + this.#at.node
    let buffer = head + this.#at.buffer
    const put = (bytes: Uint8Array | undefined, length: number) => {
      const offset = out.length - body
      if (bytes) {
        out.append(bytes.length === length ? bytes : bytes.subarray(0, length))
        fillUp(out)
      }
      writeNumber(out.view, buffer, offset)
      writeNumber(out.view, buffer + 8, bytes ? length : 0)
      buffer += PAIR
    }
    for (const [index, vector] of vectors.entries()) {
      const column = this.#columns[index]!
      const { layout } = entryOf(column.type)
      const { validity, offsets, bytes } = vector
      clearNulls(vector, layout, rows)
      put(validity, bitmapBytes(rows))
      if (hasOffsets(column)) put(bytesOf(offsets), 4 * (rows + 1))
      if (column.type === 'uuid') put(uuidBytes(vector, rows), rows * UUID_BYTES)
      else if (layout === 'bytes') put(bytes, offsets[rows]!)
      else put(bytes, layout === 'bit' ? bitmapBytes(rows) : rows * WIDTHS[layout])
      writeNumber(out.view, node, rows)
      writeNumber(out.view, node + 8, nullCount(vector, rows))
      node += PAIR
    }
    writeNumber(out.view, head + this.#at.rows, rows)
    writeNumber(out.view, head + this.#at.bytes, out.length - body)
  }
}

function placeOf(mark: number, message: Uint8Array): number {
  const bytes = new Uint8Array(8)
  writeNumber(new DataView(bytes.buffer), 0, mark)
  const start = Buffer.from(message.buffer).indexOf(bytes)
  if (start < 0) throw new Error('The metadata of a record batch has another form than expected')
  return start
}

function writeNumber(view: DataView, at: number, number: number): void {
  view.setUint32(at, number, true)
  view.setUint32(at + 4, number / 2 ** 32, true)
}

function fillUp(out: Output): void {
  const end = padded(out.length)
  out.reserve(end - out.length)
  out.bytes.fill(0, out.length, end)
  out.length = end
}

function bitmapBytes(rows: number): number {
  return (rows + 7) >> 3
}

function bytesOf({ buffer, byteOffset, byteLength }: Int32Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength)
}

function nullCount({ validity }: Vector, rows: number): number {
  if (!validity) return 0
  let nulls = 0
  for (let row = 0; row < rows; row++) nulls += 1 - ((validity[row >> 3]! >> (row & 7)) & 1)
  return nulls
}

function hasOffsets({ type }: EncodedColumn): boolean {
  return type !== 'uuid' && entryOf(type).layout === 'bytes'
}

/** Bytes of a uuid in a stream. */
const UUID_BYTES = 16
/** The values of hexadecimal digits, by their ASCII codes. */
const DIGITS = Uint8Array.from(
  { length: 128 },
  (_, code) => Number.parseInt(String.fromCharCode(code), 16) || 0,
)

/** The bytes of uuids, which the vector holds as text. */
function uuidBytes({ bytes, offsets }: Vector, rows: number): Uint8Array {
  const all = new Uint8Array(rows * UUID_BYTES)
  for (let row = 0; row < rows; row++) {
    let at = offsets[row]!
    if (offsets[row + 1] === at) continue
    for (let to = row * UUID_BYTES; to < (row + 1) * UUID_BYTES; to++) {
      if (bytes[at] === HYPHEN) at++
      all[to] = (DIGITS[bytes[at]!]! << 4) | DIGITS[bytes[at + 1]!]!
      at += 2
    }
  }
  return all
}

const HYPHEN = 0x2d

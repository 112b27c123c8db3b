import { malformed } from '../text/errors.ts'

/**
 * Checks the metadata of Arrow messages (FlatBuffers, schema in Message.fbs and Schema.fbs of Arrow 1.5) before the
 * library reads them. The library trusts every count and offset, so that a single wrong bit can make it build lists
 * until the memory is full.
 */

/** The slots of the tables whose fields are checked here. */
const MESSAGE = { headerType: 1, header: 2, bodyLength: 3, metadata: 4 } as const
const SCHEMA = { fields: 1, metadata: 2, features: 3 } as const
const FIELD = { name: 0, typeId: 2, type: 3, dictionary: 4, children: 5, metadata: 6 } as const
const BATCH = { length: 0, nodes: 1, buffers: 2, variadicCounts: 4 } as const
const DICTIONARY_BATCH = { data: 1 } as const
const HEADER = { schema: 1, dictionaryBatch: 2, recordBatch: 3 } as const

const DEEPEST = 64

export interface MessageHead {
  /** The number of bytes of the body, which follows the metadata. */
  readonly bodyLength: number
  /** If the message is a schema: the names of all its fields, depth first. */
  readonly names?: readonly string[]
}

/** Checks a message's metadata. @throws RangeError if an offset or a count goes beyond the metadata or the body */
export function verifyMessage(metadata: Uint8Array): MessageHead {
  const reader = new FlatReader(metadata)
  const message = reader.root()
  const bodyLength = reader.int64(message, MESSAGE.bodyLength)
  need(bodyLength >= 0)
  const header = reader.table(message, MESSAGE.header)
  need(header !== undefined)
  const type = reader.byte(message, MESSAGE.headerType)
  let names: readonly string[] | undefined
  switch (type) {
    case HEADER.schema:
      names = verifySchema(reader, header!)
      break
    case HEADER.dictionaryBatch: {
      const batch = reader.table(header!, DICTIONARY_BATCH.data)
      need(batch !== undefined)
      verifyBatch(reader, batch!, bodyLength)
      break
    }
    case HEADER.recordBatch:
      verifyBatch(reader, header!, bodyLength)
      break
    default:
      throw new RangeError('A message is neither a schema nor a batch.')
  }
  verifyPairs(reader, message, MESSAGE.metadata)
  return { bodyLength, ...(names && { names }) }
}

const FOOTER = { schema: 1, dictionaries: 2, batches: 3, metadata: 4 } as const
/** A block has an offset, the length of the metadata, four unused bytes, and the length of the body (File.fbs). */
const BLOCK_BYTES = 24

/**
 * Checks the directory at the end of a file.
 * @returns the positions at which the file's messages begin, and the names as `MessageHead` has them
 * @throws RangeError as `verifyMessage` does
 */
export function verifyFooter(footer: Uint8Array): { messages: number[]; names: readonly string[] } {
  const reader = new FlatReader(footer)
  const root = reader.root()
  const schema = reader.table(root, FOOTER.schema)
  need(schema !== undefined)
  const names = verifySchema(reader, schema!)
  verifyPairs(reader, root, FOOTER.metadata)
  const messages = [FOOTER.dictionaries, FOOTER.batches].flatMap((slot) => {
    const { at, length } = reader.vector(root, slot, BLOCK_BYTES)
    return Array.from({ length }, (_, index) => reader.int64At(at + index * BLOCK_BYTES))
  })
  return { messages, names }
}

function verifySchema(reader: FlatReader, schema: number): string[] {
  const names: string[] = []
  reader.vector(schema, SCHEMA.features, 8)
  for (const field of reader.tables(schema, SCHEMA.fields)) verifyField(reader, field, names, 0)
  verifyPairs(reader, schema, SCHEMA.metadata)
  return names
}

/** The slots of Arrow's integer type. Its integers have up to 64 bits, but some programs write wider ones. */
const INT = { id: 2, bitWidth: 0 } as const

/** Types that the library does not read (the union Type of Schema.fbs), and the unit of an interval that it does not. */
const UNREAD: Readonly<Record<number, string>> = { 22: 'RunEndEncoded', 25: 'ListView', 26: 'LargeListView' }
const INTERVAL = { id: 11, unit: 0, monthDayNano: 2 } as const

/** @param within the column, if the field is part of one */
function verifyField(
  reader: FlatReader,
  field: number,
  names: string[],
  depth: number,
  within?: string,
): void {
  need(depth < DEEPEST)
  const name = reader.text(reader.vector(field, FIELD.name, 1))
  const column = within ?? name
  names.push(name)
  const type = reader.table(field, FIELD.type)
  const typeId = reader.byte(field, FIELD.typeId)
  const isLongInterval =
    typeId === INTERVAL.id && type !== undefined && reader.byte(type, INTERVAL.unit) === INTERVAL.monthDayNano
  const unread = isLongInterval ? 'Interval<MONTH_DAY_NANO>' : UNREAD[typeId]
  const refused = (what: string) => malformed(`Column ${JSON.stringify(column)} ${what}`, { column })
  if (unread !== undefined) throw refused(`has the Arrow type ${unread}, which is not supported.`)
  const bits = type !== undefined && typeId === INT.id ? reader.int32(type, INT.bitWidth) : 0
  if (bits > 64) {
    throw refused(
      `holds integers of ${bits} bits, which Arrow does not have: send decimals of up to 38 digits, or text.`,
    )
  }
  reader.table(field, FIELD.dictionary)
  verifyPairs(reader, field, FIELD.metadata)
  for (const child of reader.tables(field, FIELD.children))
    verifyField(reader, child, names, depth + 1, column)
}

function verifyPairs(reader: FlatReader, table: number, slot: number): void {
  for (const pair of reader.tables(table, slot)) {
    reader.vector(pair, 0, 1)
    reader.vector(pair, 1, 1)
  }
}

function verifyBatch(reader: FlatReader, batch: number, bodyLength: number): void {
  need(reader.int64(batch, BATCH.length) >= 0)
  const nodes = reader.vector(batch, BATCH.nodes, 16)
  for (let index = 0; index < nodes.length; index++) {
    const at = nodes.at + 16 * index
    need(reader.int64At(at) >= 0 && reader.int64At(at + 8) >= 0)
  }
  const buffers = reader.vector(batch, BATCH.buffers, 16)
  // These counts say how many buffers each column of views has. The library would read that many, present or not.
  const counts = reader.vector(batch, BATCH.variadicCounts, 8)
  let left = buffers.length
  for (let index = 0; index < counts.length; index++) {
    const count = reader.int64At(counts.at + 8 * index)
    need(count >= 0 && count <= left)
    left -= count
  }
  for (let index = 0; index < buffers.length; index++) {
    const offset = reader.int64At(buffers.at + 16 * index)
    const length = reader.int64At(buffers.at + 16 * index + 8)
    need(offset >= 0 && length >= 0 && offset + length <= bodyLength)
  }
}

/** Reads FlatBuffers, and checks that no position is beyond the buffer's end. Absent fields are read as 0. */
class FlatReader {
  readonly #view: DataView
  /** How many tables have been entered. It is limited, because shared tables can make a huge tree of a few bytes. */
  #visited = 0

  constructor(bytes: Uint8Array) {
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  root(): number {
    return this.#enter(this.#view.getUint32(0, true))
  }

  byte(table: number, slot: number): number {
    const at = this.#field(table, slot)
    return at === 0 ? 0 : this.#view.getUint8(at)
  }

  int32(table: number, slot: number): number {
    const at = this.#field(table, slot)
    return at === 0 ? 0 : this.#view.getInt32(at, true)
  }

  text({ at, length }: { at: number; length: number }): string {
    const bytes = new Uint8Array(this.#view.buffer, this.#view.byteOffset + at, length)
    const text = utf8Text(bytes)
    if (text === undefined) throw malformed('A name in the schema of the Arrow stream is not valid UTF-8.')
    return text
  }

  int64(table: number, slot: number): number {
    const at = this.#field(table, slot)
    return at === 0 ? 0 : this.int64At(at)
  }

  int64At(at: number): number {
    const value = Number(this.#view.getBigInt64(at, true))
    need(Number.isSafeInteger(value))
    return value
  }

  table(table: number, slot: number): number | undefined {
    const at = this.#field(table, slot)
    return at === 0 ? undefined : this.#enter(at + this.#view.getUint32(at, true))
  }

  *tables(table: number, slot: number): Generator<number> {
    const { at, length } = this.vector(table, slot, 4)
    for (let index = 0; index < length; index++) {
      const item = at + 4 * index
      yield this.#enter(item + this.#view.getUint32(item, true))
    }
  }

  /** The position of the first item of a vector (or the first byte of a string), and the number of items. */
  vector(table: number, slot: number, size: number): { at: number; length: number } {
    const field = this.#field(table, slot)
    if (field === 0) return { at: 0, length: 0 }
    const at = field + this.#view.getUint32(field, true)
    const length = this.#view.getUint32(at, true)
    need(at + 4 + length * size <= this.#view.byteLength)
    return { at: at + 4, length }
  }

  /** The position of a field; 0 if it is absent. */
  #field(table: number, slot: number): number {
    const vtable = table - this.#view.getInt32(table, true)
    const entry = 4 + 2 * slot
    if (entry + 2 > this.#view.getUint16(vtable, true)) return 0
    const offset = this.#view.getUint16(vtable + entry, true)
    return offset === 0 ? 0 : table + offset
  }

  #enter(table: number): number {
    need(++this.#visited <= this.#view.byteLength)
    const vtable = table - this.#view.getInt32(table, true)
    const bytes = this.#view.getUint16(vtable, true)
    need(bytes >= 4 && vtable + bytes <= this.#view.byteLength)
    return table
  }
}

function need(condition: boolean): void {
  if (!condition) throw new RangeError('The metadata of a message contradict themselves.')
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

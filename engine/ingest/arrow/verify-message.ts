/**
 * A check of the metadata of Arrow messages (FlatBuffers, schema in Message.fbs and Schema.fbs of Arrow 1.5) before the
 * library sees them: it believes every count and offset, and a single wrong bit makes it build lists until the memory
 * is full.
 */

/** Slots of tables that we look into. */
const MESSAGE = { headerType: 1, header: 2, bodyLength: 3, metadata: 4 } as const
const SCHEMA = { fields: 1, metadata: 2, features: 3 } as const
const FIELD = { name: 0, type: 3, dictionary: 4, children: 5, metadata: 6 } as const
const BATCH = { length: 0, nodes: 1, buffers: 2, variadicCounts: 4 } as const
const DICTIONARY_BATCH = { data: 1 } as const
const HEADER = { schema: 1, dictionaryBatch: 2, recordBatch: 3 } as const

const DEEPEST = 64

export interface MessageHead {
  /** Bytes behind the metadata. */
  readonly bodyLength: number
  readonly isSchema: boolean
}

/** @throws RangeError where anything points outside of the metadata or the body, or counts more than fits in */
export function verifyMessage(metadata: Uint8Array): MessageHead {
  const reader = new FlatReader(metadata)
  const message = reader.root()
  const bodyLength = reader.int64(message, MESSAGE.bodyLength)
  need(bodyLength >= 0)
  const header = reader.table(message, MESSAGE.header)
  need(header !== undefined)
  const type = reader.byte(message, MESSAGE.headerType)
  switch (type) {
    case HEADER.schema:
      reader.vector(header!, SCHEMA.features, 8)
      for (const field of reader.tables(header!, SCHEMA.fields)) verifyField(reader, field, 0)
      verifyPairs(reader, header!, SCHEMA.metadata)
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
      throw new RangeError('A message of a kind that is no schema and no batch.')
  }
  verifyPairs(reader, message, MESSAGE.metadata)
  return { bodyLength, isSchema: type === HEADER.schema }
}

function verifyField(reader: FlatReader, field: number, depth: number): void {
  need(depth < DEEPEST)
  reader.vector(field, FIELD.name, 1)
  reader.table(field, FIELD.type)
  reader.table(field, FIELD.dictionary)
  verifyPairs(reader, field, FIELD.metadata)
  for (const child of reader.tables(field, FIELD.children)) verifyField(reader, child, depth + 1)
}

function verifyPairs(reader: FlatReader, table: number, slot: number): void {
  for (const pair of reader.tables(table, slot)) {
    reader.vector(pair, 0, 1)
    reader.vector(pair, 1, 1)
  }
}

function verifyBatch(reader: FlatReader, batch: number, bodyLength: number): void {
  need(reader.int64(batch, BATCH.length) >= 0)
  reader.vector(batch, BATCH.variadicCounts, 8)
  const nodes = reader.vector(batch, BATCH.nodes, 16)
  for (let index = 0; index < nodes.length; index++) {
    const at = nodes.at + 16 * index
    need(reader.int64At(at) >= 0 && reader.int64At(at + 8) >= 0)
  }
  const buffers = reader.vector(batch, BATCH.buffers, 16)
  for (let index = 0; index < buffers.length; index++) {
    const offset = reader.int64At(buffers.at + 16 * index)
    const length = reader.int64At(buffers.at + 16 * index + 8)
    need(offset >= 0 && length >= 0 && offset + length <= bodyLength)
  }
}

/** Reads FlatBuffers with every position held against the buffer's end. Absent fields read as 0. */
class FlatReader {
  readonly #view: DataView
  /** How many tables have been entered: shared ones make a few bytes a large tree. */
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

  /** Where the items of a vector (or the bytes of a string) begin, and how many there are. */
  vector(table: number, slot: number, size: number): { at: number; length: number } {
    const field = this.#field(table, slot)
    if (field === 0) return { at: 0, length: 0 }
    const at = field + this.#view.getUint32(field, true)
    const length = this.#view.getUint32(at, true)
    need(at + 4 + length * size <= this.#view.byteLength)
    return { at: at + 4, length }
  }

  /** Where a field stands; 0 if it is absent. */
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

/*
 * Thrift's compact protocol, in which Parquet writes its footer
 * (https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md), without sets and maps, which
 * Parquet has nowhere.
 */

/** The fields of a struct by their ids. */
export type Struct = Map<number, Field>

export interface Field {
  readonly type: number
  value: Value
}

/** A value. The comments in `TYPE` say as what each type is read. */
export type Value = boolean | number | bigint | Uint8Array | List | Struct

export interface List {
  readonly element: number
  values: Value[]
}

/** Types of fields and elements. */
export const TYPE = {
  /** The type of a boolean field is its value: `true` or `false`. Both are read as booleans. */
  true: 1,
  false: 2,
  /** Numbers. */
  byte: 3,
  i16: 4,
  i32: 5,
  /** Numbers, bigints beyond 2^53. */
  i64: 6,
  /** Eight bytes, not converted. */
  double: 7,
  /** Bytes. */
  binary: 8,
  /** `List`. */
  list: 9,
  /** `Struct`. */
  struct: 12,
} as const

export const i32 = (value: number): Field => ({ type: TYPE.i32, value })
export const i64 = (value: number): Field => ({ type: TYPE.i64, value })
export const binary = (value: string | Uint8Array): Field => ({
  type: TYPE.binary,
  value: Buffer.from(value),
})
export const listOfStructs = (values: Struct[]): Field => ({
  type: TYPE.list,
  value: { element: TYPE.struct, values },
})
export const nested = (fields: Readonly<Record<number, Field>> = {}): Field => ({
  type: TYPE.struct,
  value: structWith(fields),
})

/** A struct of fields by their ids. */
export function structWith(fields: Readonly<Record<number, Field>>): Struct {
  return new Map(Object.entries(fields).map(([id, field]) => [Number(id), field]))
}

/** Reads the struct that the bytes contain. @throws RangeError if it is cut off or malformed */
export function readStruct(bytes: Uint8Array): Struct {
  return new Reader(bytes).struct()
}

/** Reads the struct with which the bytes begin, and says where it ends. @throws RangeError as `readStruct` */
export function readStructFrom(bytes: Uint8Array): { readonly struct: Struct; readonly end: number } {
  const reader = new Reader(bytes)
  return { struct: reader.struct(), end: reader.at }
}

/** The length of a list of structs in a struct, and its first element; what is behind that is not read. */
export function readListHead(
  bytes: Uint8Array,
  id: number,
): { readonly length: number; readonly first: Struct } {
  return new Reader(bytes).listHead(id)
}

export function writeStruct(struct: Struct): Uint8Array {
  const writer = new Writer()
  writer.struct(struct)
  return writer.result()
}

/** The deepest nesting of structs that is read; Parquet's metadata never has so many levels. */
const DEEPEST = 32

class Reader {
  readonly #bytes: Uint8Array
  at = 0
  #depth = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  struct(): Struct {
    if (++this.#depth > DEEPEST) throw new RangeError('Thrift: structs are nested too deeply')
    const fields: Struct = new Map()
    for (let id = 0, header = this.#byte(); header !== 0; header = this.#byte()) {
      id = this.#fieldId(header, id)
      const type = header & 15
      const value = type === TYPE.true || type === TYPE.false ? type === TYPE.true : this.#value(type)
      fields.set(id, { type, value })
    }
    this.#depth -= 1
    return fields
  }

  #fieldId(header: number, last: number): number {
    return header >> 4 === 0 ? Number(unzigzag(this.#varint())) : last + (header >> 4)
  }

  listHead(field: number): { readonly length: number; readonly first: Struct } {
    for (let id = 0, header = this.#byte(); header !== 0; header = this.#byte()) {
      id = this.#fieldId(header, id)
      const type = header & 15
      if (id === field && type === TYPE.list) {
        const { length } = this.#listHead()
        return { length, first: this.struct() }
      }
      if (type !== TYPE.true && type !== TYPE.false) this.#value(type)
    }
    throw new RangeError(`Thrift: there is no list ${field}`)
  }

  #listHead(): { readonly length: number; readonly element: number } {
    const header = this.#byte()
    return { length: header >> 4 === 15 ? this.#length() : header >> 4, element: header & 15 }
  }

  #value(type: number): Value {
    switch (type) {
      case TYPE.true:
      case TYPE.false:
        return this.#byte() === TYPE.true
      case TYPE.byte:
        return this.#byte()
      case TYPE.i16:
      case TYPE.i32:
      case TYPE.i64:
        return unzigzag(this.#varint())
      case TYPE.double:
        return this.#take(8)
      case TYPE.binary:
        return this.#take(this.#length())
      case TYPE.list: {
        const { length, element } = this.#listHead()
        return { element, values: Array.from({ length }, () => this.#value(element)) }
      }
      case TYPE.struct:
        return this.struct()
      default:
        throw new RangeError(`Thrift: unknown type ${type} at byte ${this.at}`)
    }
  }

  #byte(): number {
    const byte = this.#bytes[this.at++]
    if (byte === undefined) throw new RangeError(`Thrift: cut off at byte ${this.at}`)
    return byte
  }

  #take(length: number): Uint8Array {
    const start = this.at
    this.at += length
    if (this.at > this.#bytes.length) throw new RangeError(`Thrift: cut off after byte ${start}`)
    return this.#bytes.subarray(start, this.at)
  }

  /** Refuses a length that is greater than the number of bytes left, so that a broken file can't exhaust memory. */
  #length(): number {
    const length = this.#varint()
    if (length <= BigInt(this.#bytes.length - this.at)) return Number(length)
    throw new RangeError(`Thrift: cut off after byte ${this.at}`)
  }

  #varint(): bigint {
    let low = 0
    let shift = 0
    // Most numbers are short: those of up to 28 bits are read without a bigint, which is faster.
    for (; shift < 28; shift += 7) {
      const byte = this.#byte()
      low |= (byte & 127) << shift
      if (byte < 128) return BigInt(low)
    }
    let value = BigInt(low)
    for (; shift < 70; shift += 7) {
      const byte = this.#byte()
      value |= BigInt(byte & 127) << BigInt(shift)
      if (byte < 128) return value
    }
    throw new RangeError(`Thrift: a number at byte ${this.at} has no end`)
  }
}

class Writer {
  #bytes = Buffer.alloc(4096)
  #length = 0

  result(): Uint8Array {
    return this.#bytes.subarray(0, this.#length)
  }

  struct(fields: Struct): void {
    let last = 0
    // Each field is written with the difference to the id before it.
    for (const [id, { type, value }] of [...fields].sort(([a], [b]) => a - b)) {
      const written = typeof value === 'boolean' ? (value ? TYPE.true : TYPE.false) : type
      const delta = id - last
      if (delta > 0 && delta <= 15) this.#byte((delta << 4) | written)
      else {
        this.#byte(written)
        this.#varint(zigzag(id))
      }
      last = id
      if (typeof value !== 'boolean') this.#value(type, value)
    }
    this.#byte(0)
  }

  #value(type: number, value: Value): void {
    switch (type) {
      case TYPE.true:
      case TYPE.false:
        this.#byte(value ? TYPE.true : TYPE.false)
        return
      case TYPE.byte:
        this.#byte(value as number)
        return
      case TYPE.i16:
      case TYPE.i32:
      case TYPE.i64:
        this.#varint(zigzag(value as number | bigint))
        return
      case TYPE.double:
        this.#put(value as Uint8Array)
        return
      case TYPE.binary:
        this.#varint(BigInt((value as Uint8Array).length))
        this.#put(value as Uint8Array)
        return
      case TYPE.list: {
        const { element, values } = value as List
        this.#byte((Math.min(values.length, 15) << 4) | element)
        if (values.length >= 15) this.#varint(BigInt(values.length))
        for (const one of values) this.#value(element, one)
        return
      }
      case TYPE.struct:
        this.struct(value as Struct)
        return
      default:
        throw new RangeError(`Thrift: unknown type ${type}`)
    }
  }

  #byte(byte: number): void {
    this.#reserve(1)
    this.#bytes[this.#length++] = byte
  }

  #put(bytes: Uint8Array): void {
    this.#reserve(bytes.length)
    this.#bytes.set(bytes, this.#length)
    this.#length += bytes.length
  }

  #varint(value: bigint): void {
    for (; value >= 128n; value >>= 7n) this.#byte(Number(value & 127n) | 128)
    this.#byte(Number(value))
  }

  #reserve(more: number): void {
    if (this.#length + more <= this.#bytes.length) return
    const larger = Buffer.alloc(2 * this.#bytes.length + more)
    larger.set(this.#bytes)
    this.#bytes = larger
  }
}

function unzigzag(value: bigint): number | bigint {
  const signed = (value >> 1n) ^ -(value & 1n)
  const number = Number(signed)
  return Number.isSafeInteger(number) ? number : signed
}

function zigzag(value: number | bigint): bigint {
  const signed = BigInt(value)
  return signed >= 0n ? signed << 1n : (-signed << 1n) - 1n
}

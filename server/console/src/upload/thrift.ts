/**
 * A value of Thrift's compact protocol, reduced to what a Parquet footer needs: structs by field id, lists, numbers and
 * binaries.
 */
export type ThriftValue = number | bigint | boolean | Uint8Array | readonly ThriftValue[] | ThriftStruct

export type ThriftStruct = ReadonlyMap<number, ThriftValue>

/** Reads a struct from the start of `bytes`. @throws RangeError if the bytes end too early */
export function readStruct(bytes: Uint8Array): ThriftStruct {
  return new CompactReader(bytes).struct()
}

const DEEPEST = 32

class CompactReader {
  readonly #bytes: Uint8Array
  #at = 0
  #depth = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  struct(): ThriftStruct {
    if (this.#depth >= DEEPEST) throw new RangeError('The footer is nested too deep.')
    this.#depth += 1
    const fields = new Map<number, ThriftValue>()
    let id = 0
    for (;;) {
      const head = this.#byte()
      if (head === 0) break
      const delta = head >> 4
      id = delta === 0 ? Number(this.#zigzag()) : id + delta
      const type = head & 0x0f
      fields.set(id, type === 1 || type === 2 ? type === 1 : this.#value(type))
    }
    this.#depth -= 1
    return fields
  }

  #value(type: number): ThriftValue {
    switch (type) {
      case 1:
      case 2:
        return this.#byte() === 1
      case 3:
        return this.#byte()
      case 4:
      case 5:
      case 6:
        return this.#zigzag()
      case 7:
        return this.#take(8)
      case 8:
        return this.#take(Number(this.#varint()))
      case 9:
      case 10:
        return this.#list()
      case 12:
        return this.struct()
      default:
        throw new RangeError(`The footer has a value of the unknown type ${type}.`)
    }
  }

  #list(): ThriftValue[] {
    const head = this.#byte()
    const size = head >> 4 === 15 ? Number(this.#varint()) : head >> 4
    return Array.from({ length: size }, () => this.#value(head & 0x0f))
  }

  #take(length: number): Uint8Array {
    if (this.#at + length > this.#bytes.length) throw new RangeError('The footer ends too early.')
    this.#at += length
    return this.#bytes.subarray(this.#at - length, this.#at)
  }

  #byte(): number {
    return this.#take(1)[0]!
  }

  #varint(): bigint {
    let value = 0n
    for (let shift = 0n; ; shift += 7n) {
      const byte = this.#byte()
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
  }

  #zigzag(): bigint {
    const value = this.#varint()
    return (value >> 1n) ^ -(value & 1n)
  }
}

/**
 * Gives the columns of a Parquet file other names, by rewriting its footer alone: offsets in it count from the
 * beginning of the file, so the data stay as they are. DuckDB's names differ by more than case, ours needn't.
 *
 * The footer is a Thrift struct, `FileMetaData`, in the compact protocol
 * (https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md). Everything in it is copied as it
 * stands, except the names, in the two places where parquet.thrift has them.
 */
export function renameColumns(footer: Uint8Array, rename: (name: string) => string): Uint8Array {
  const copier = new Copier(footer, rename)
  copier.struct('')
  return copier.result()
}

/** Field ids on the way to a name, `*` for each element of a list. */
const NAMES = new Set([
  // FileMetaData.schema[].name
  '/2/*/4',
  // FileMetaData.row_groups[].columns[].meta_data.path_in_schema[]
  '/4/*/1/*/3/3/*',
])

/** Element and field types of the compact protocol. */
const TYPE = {
  true: 1,
  false: 2,
  byte: 3,
  i16: 4,
  i32: 5,
  i64: 6,
  double: 7,
  binary: 8,
  list: 9,
  set: 10,
  map: 11,
  struct: 12,
} as const

class Copier {
  readonly #from: Uint8Array
  readonly #rename: (name: string) => string
  readonly #pieces: Uint8Array[] = []
  #at = 0
  /** What has been read but not yet copied begins here. */
  #kept = 0

  constructor(from: Uint8Array, rename: (name: string) => string) {
    this.#from = from
    this.#rename = rename
  }

  result(): Uint8Array {
    this.#flush(this.#at)
    return Buffer.concat(this.#pieces)
  }

  struct(path: string): void {
    for (let id = 0; ; ) {
      const header = this.#byte()
      if (header === 0) return
      const delta = header >> 4
      const type = header & 15
      id = delta === 0 ? unzigzag(this.#varint()) : id + delta
      // The value of a boolean field is its type.
      if (type !== TYPE.true && type !== TYPE.false) this.#value(type, `${path}/${id}`)
    }
  }

  #value(type: number, path: string): void {
    switch (type) {
      case TYPE.true:
      case TYPE.false:
      case TYPE.byte:
        this.#at += 1
        return
      case TYPE.i16:
      case TYPE.i32:
      case TYPE.i64:
        this.#varint()
        return
      case TYPE.double:
        this.#at += 8
        return
      case TYPE.binary:
        this.#binary(path)
        return
      case TYPE.list:
      case TYPE.set: {
        const header = this.#byte()
        const count = header >> 4 === 15 ? this.#varint() : header >> 4
        for (let i = 0; i < count; i++) this.#value(header & 15, `${path}/*`)
        return
      }
      case TYPE.map: {
        const count = this.#varint()
        if (count === 0) return
        const types = this.#byte()
        for (let i = 0; i < count; i++) {
          this.#value(types >> 4, `${path}/key`)
          this.#value(types & 15, `${path}/value`)
        }
        return
      }
      case TYPE.struct:
        this.struct(path)
        return
      default:
        throw new RangeError(`Parquet footer: unknown Thrift type ${type} at byte ${this.#at}`)
    }
  }

  #binary(path: string): void {
    const start = this.#at
    const length = this.#varint()
    const text = this.#at
    this.#at += length
    if (this.#at > this.#from.length) throw new RangeError(`Parquet footer: text at byte ${start} is cut off`)
    if (!NAMES.has(path)) return
    const name = Buffer.from(this.#rename(Buffer.from(this.#from.subarray(text, this.#at)).toString()))
    this.#flush(start)
    this.#pieces.push(varint(name.length), name)
    this.#kept = this.#at
  }

  #flush(end: number): void {
    this.#pieces.push(this.#from.subarray(this.#kept, end))
    this.#kept = end
  }

  #byte(): number {
    const byte = this.#from[this.#at++]
    if (byte === undefined) throw new RangeError(`Parquet footer: cut off at byte ${this.#at}`)
    return byte
  }

  /** Lengths, counts and ids are small; of other values only the end matters. */
  #varint(): number {
    let value = 0
    for (let factor = 1; ; factor *= 128) {
      const byte = this.#byte()
      value += (byte & 127) * factor
      if (byte < 128) return value
    }
  }
}

function unzigzag(value: number): number {
  return value % 2 === 0 ? value / 2 : -(value + 1) / 2
}

function varint(value: number): Uint8Array {
  const bytes: number[] = []
  for (; value >= 128; value = Math.floor(value / 128)) bytes.push((value % 128) | 128)
  return Uint8Array.of(...bytes, value)
}

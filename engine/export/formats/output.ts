/**
 * Bytes that grow. Writers reserve room once for many cells, then write at `length` into `bytes` and `view` (the same
 * memory) and move `length` on. Reserving may replace both.
 */
export class Output {
  bytes: Uint8Array<ArrayBuffer>
  view: DataView<ArrayBuffer>
  length = 0

  constructor(capacity: number) {
    this.bytes = allocate(capacity)
    this.view = new DataView(this.bytes.buffer)
  }

  /** Makes sure that `bytes` more bytes fit, and a word beyond them, because words are stored whole. */
  reserve(bytes: number): void {
    if (this.length + bytes + 8 > this.bytes.length) this.#grow(bytes + 8)
  }

  /** Appends bytes as they are. */
  append(bytes: Uint8Array): void {
    this.reserve(bytes.length)
    this.bytes.set(bytes, this.length)
    this.length += bytes.length
  }

  /** What was written. Its buffer may be transferred to another thread, after which this output is of no use. */
  written(): Uint8Array<ArrayBuffer> {
    return this.bytes.subarray(0, this.length)
  }

  #grow(bytes: number): void {
    const larger = allocate(Math.max(2 * this.bytes.length, this.length + bytes))
    larger.set(this.written())
    this.bytes = larger
    this.view = new DataView(larger.buffer)
  }
}

/** Memory of its own, not zeroed: every byte that leaves has been written before. */
function allocate(bytes: number): Uint8Array<ArrayBuffer> {
  const { buffer } = Buffer.allocUnsafeSlow(bytes)
  return new Uint8Array(buffer as ArrayBuffer)
}

/** Text as words, for being written often: a short copy loop beats `set`. */
export interface Literal {
  readonly words: Uint32Array
  readonly length: number
}

export function literal(text: string): Literal {
  const bytes = Buffer.from(text)
  const words = new Uint32Array((bytes.length + 3) >> 2)
  new Uint8Array(words.buffer).set(bytes)
  return { words, length: bytes.length }
}

/** Writes a literal; room must have been reserved. Returns the position behind it. */
export function writeLiteral(view: DataView, at: number, { words, length }: Literal): number {
  for (let i = 0; i < words.length; i++) view.setUint32(at + 4 * i, words[i]!, true)
  return at + length
}

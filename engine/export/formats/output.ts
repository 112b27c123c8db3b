/**
 * A growing array of bytes. Writers reserve room once for many cells, then write at `length` into `bytes` and `view`
 * (the same memory) and increase `length`. `reserve` may replace `bytes` and `view`.
 */
export class Output {
  bytes: Uint8Array<ArrayBuffer>
  view: DataView<ArrayBuffer>
  length = 0

  /** @param memory what to write into first, or how many bytes to have room for */
  constructor(memory: number | ArrayBuffer) {
    this.bytes = typeof memory === 'number' ? allocate(memory) : new Uint8Array(memory)
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

  /** What was written. If its buffer is transferred to another thread, this output can't be used any more. */
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

/** New memory, not zeroed: `written` only returns bytes that have been written. */
function allocate(bytes: number): Uint8Array<ArrayBuffer> {
  const { buffer } = Buffer.allocUnsafeSlow(bytes)
  return new Uint8Array(buffer as ArrayBuffer)
}

/** A text as words, for texts that are written often: a short copy loop is faster than `set`. */
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

/** Writes a literal; room must have been reserved. Returns the position after it. */
export function writeLiteral(view: DataView, at: number, { words, length }: Literal): number {
  for (let i = 0; i < words.length; i++) view.setUint32(at + 4 * i, words[i]!, true)
  return at + length
}

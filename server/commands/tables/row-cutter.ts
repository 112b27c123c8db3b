const LF = 10
const QUOTE = 34

/** Cuts a stream of csv, tsv or ndjson after complete rows, and counts them. */
export class RowCutter {
  #rows = 0
  #quoted = false
  #held: Uint8Array = new Uint8Array()
  /** Whether the header line has been seen. True from the start for ndjson, which has none. */
  #header: boolean
  readonly #quotes: boolean
  #headerEnd = 0

  constructor(format: 'csv' | 'tsv' | 'ndjson') {
    this.#quotes = format !== 'ndjson'
    this.#header = format === 'ndjson'
  }

  /** Number of complete rows returned so far, not counting the header line. */
  get rows(): number {
    return this.#rows
  }

  /** Adds a chunk. Returns the bytes up to the end of its last complete row, and keeps the rest. */
  take(chunk: Uint8Array): Uint8Array {
    let end = 0
    this.#headerEnd = 0
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at]!
      // An escaped quote is two quotes, so it toggles twice.
      if (byte === QUOTE && this.#quotes) this.#quoted = !this.#quoted
      if (byte !== LF || this.#quoted) continue
      end = at + 1
      if (this.#header) this.#rows += 1
      else {
        this.#header = true
        this.#headerEnd = this.#held.length + end
      }
    }
    if (end === 0) {
      this.#held = joined(this.#held, chunk)
      return new Uint8Array()
    }
    const whole = joined(this.#held, chunk.subarray(0, end))
    this.#held = chunk.slice(end)
    return whole
  }

  /** The bytes that `take` has just returned, without the header line if it was among them. */
  withoutHeader(whole: Uint8Array): Uint8Array {
    return whole.subarray(this.#headerEnd)
  }

  /** The bytes after the last complete row; empty if the file ends with a newline. */
  rest(): Uint8Array {
    return this.#held
  }
}

function joined(one: Uint8Array, other: Uint8Array): Uint8Array {
  if (one.length === 0) return other
  const both = new Uint8Array(one.length + other.length)
  both.set(one)
  both.set(other, one.length)
  return both
}

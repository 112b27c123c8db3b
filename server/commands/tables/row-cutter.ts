const LF = 10
const QUOTE = 34

/** Cuts a stream of csv, tsv or ndjson behind whole rows, and counts them. */
export class RowCutter {
  #rows = 0
  #quoted = false
  #held: Uint8Array = new Uint8Array()
  /** Whether the line with the names has come, where the format has one. */
  #header: boolean
  readonly #quotes: boolean
  #headerEnd = 0

  constructor(format: 'csv' | 'tsv' | 'ndjson') {
    this.#quotes = format !== 'ndjson'
    this.#header = format === 'ndjson'
  }

  /** Whole rows that have been given out, without the line of names. */
  get rows(): number {
    return this.#rows
  }

  /** Takes bytes as they come, and gives those up to the end of the last row in them. */
  take(chunk: Uint8Array): Uint8Array {
    let end = 0
    this.#headerEnd = 0
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at]!
      // A doubled quote switches twice, so it changes nothing.
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

  /** What `take` has just given, without the line of names if it was in it. */
  withoutHeader(whole: Uint8Array): Uint8Array {
    return whole.subarray(this.#headerEnd)
  }

  /** What came behind the last whole row; nothing, where the file ends with a line end. */
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

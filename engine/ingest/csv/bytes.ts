import { classifier } from '../text/text-kinds.ts'

export const QUOTE = 0x22
export const LF = 0x0a
export const CR = 0x0d

/** Longer records are refused, because DuckDB holds several whole records in memory at a time. */
export const LONGEST_RECORD = 64 * 1024 * 1024

/** Stands in a transition table where a byte ends or interrupts the text. No state has this number. */
export const STOP = 0xffff

/**
 * The classifier as a table with a row of 256 entries for each state, so that a byte costs one look-up.
 * @param stops the bytes whose entries are `STOP`
 */
export function transitions(stops: readonly number[]): Uint16Array {
  const { next, classOf, kind, stride } = classifier()
  const table = new Uint16Array(kind.length * 256)
  for (let state = 0; state < kind.length; state++) {
    for (let byte = 0; byte < 256; byte++) {
      table[state * 256 + byte] = (next[state * stride + classOf[byte]!]! / stride) * 256
    }
    for (const byte of stops) table[state * 256 + byte] = STOP
  }
  return table
}

/** Where the last whole character of `buffer[0..end)` ends: before `end` if the buffer cuts a character in two. */
export function wholeCharacters(buffer: Buffer, end: number): number {
  for (let back = 1; back <= 3 && back <= end; back++) {
    const byte = buffer[end - back]!
    if (byte >= 0xc0) {
      const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2
      return length > back ? end - back : end
    }
    if (byte < 0x80) return end
  }
  return end
}

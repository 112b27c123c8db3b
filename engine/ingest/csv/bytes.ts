import { classifier } from '../text/text-kinds.ts'

export const QUOTE = 0x22
export const LF = 0x0a
export const CR = 0x0d

/** Longer records are refused, because DuckDB holds several whole records in memory at a time. */
export const LONGEST_RECORD = 64 * 1024 * 1024
/** What is wrong with such a row. */
export const TOO_LONG = ` is longer than ${LONGEST_RECORD >> 20} MiB.`

/** Stands in a transition table where a byte ends or interrupts the text. No state has this number. */
export const STOP = 0xffff

/** The classifier's table, with `STOP` in the entries of some bytes. */
export function transitions(stops: readonly number[]): Uint16Array {
  const table = classifier().next.slice()
  for (let state = 0; state < table.length; state += 256) {
    for (const byte of stops) table[state + byte] = STOP
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

const QUOTE = 0x22
const BACKSLASH = 0x5c
const MINUS = 0x2d

/** Whether a byte may begin a word that DuckDB accepts as a number: nan, inf, infinity, in upper or lower case. */
const isWordStart = (byte: number): boolean => (byte | 0x20) === 0x6e || (byte | 0x20) === 0x69

/**
 * Embeds JSON text. DuckDB's JSON allows a little more than JSON: numbers may be `NaN` and `Infinity`. They become the
 * strings `NaN`, `INF` and `-INF`, as everywhere else. Line breaks between tokens become blanks, so that a row stays on
 * one line. The text becomes at most twice as long. Returns the position after it.
 */
export function embedJson(
  bytes: Uint8Array,
  at: number,
  from: Uint8Array,
  start: number,
  end: number,
): number {
  let inString = false
  for (let i = start; i < end; i++) {
    const byte = from[i]!
    if (inString) {
      bytes[at++] = byte
      if (byte === BACKSLASH) bytes[at++] = from[++i]!
      else if (byte === QUOTE) inString = false
    } else if (byte === QUOTE) {
      bytes[at++] = byte
      inString = true
    } else if (byte < 0x20) {
      bytes[at++] = 0x20
    } else if (isWordStart(byte) && (from[i + 1]! | 0x20) !== 0x75) {
      const negative = from[i - 1] === MINUS && i > start
      if (negative) at--
      const word = (byte | 0x20) === 0x6e ? '"NaN"' : negative ? '"-INF"' : '"INF"'
      for (let k = 0; k < word.length; k++) bytes[at++] = word.charCodeAt(k)
      while (i + 1 < end && isLetter(from[i + 1]!)) i++
    } else {
      bytes[at++] = byte
    }
  }
  return at
}

function isLetter(byte: number): boolean {
  const lower = byte | 0x20
  return lower >= 0x61 && lower <= 0x7a
}

import { padded } from '../text/numbers.ts'

/**
 * Fractions of a day as decimal places. With fewer places, the double nearest to the digits could differ from the
 * double nearest to the time, and programs that cut off fractions of a second would then show the second before.
 */

export const DAY_MICROS = 86_400_000_000
const SECOND_MICROS = 1_000_000
const POINT = 0x2e
const ZERO = 0x30

/** Groups of five places: three after the number of a day, whose digits add to the precision, and five without it. */
const GROUPS = { short: 3, long: 5 } as const

/** The texts of whole seconds, four words each, and their lengths. Each is made when it is first needed. */
const WORDS = 4
let texts: Uint32Array | undefined
const lengths = new Uint8Array(86_400)
const scratch = new DataView(new ArrayBuffer(40))

/** Writes a fraction after the number of a day. At least sixteen bytes must have been reserved. */
export function shortFraction(view: DataView, at: number, micros: number): number {
  const second = micros / SECOND_MICROS
  if (!Number.isInteger(second)) return fraction(view, at, micros, GROUPS.short)
  texts ??= new Uint32Array(86_400 * WORDS)
  const first = second * WORDS
  if (lengths[second] === 0) {
    lengths[second] = fraction(scratch, 0, micros, GROUPS.short)
    for (let word = 0; word < WORDS; word++) texts[first + word] = scratch.getUint32(4 * word, true)
  }
  view.setUint32(at, texts[first]!, true)
  view.setUint32(at + 4, texts[first + 1]!, true)
  view.setUint32(at + 8, texts[first + 2]!, true)
  view.setUint32(at + 12, texts[first + 3]!, true)
  return at + lengths[second]!
}

/** Writes the fraction of a time without a day. */
export function longFraction(view: DataView, at: number, micros: number): number {
  return fraction(view, at, micros, GROUPS.long)
}

/** Writes the point and the places, without zeros at the end. */
function fraction(view: DataView, at: number, micros: number, groups: number): number {
  view.setUint8(at++, POINT)
  for (let rest = micros; rest > 0 && groups > 0; groups--) {
    // All these numbers are below 2^53 and exact, but the quotient may have been rounded up to a whole number.
    const more = rest * 100_000
    const quotient = Math.floor(more / DAY_MICROS)
    const digits = quotient * DAY_MICROS > more ? quotient - 1 : quotient
    rest = more - digits * DAY_MICROS
    at = padded(view, at, digits, 5)
  }
  while (view.getUint8(at - 1) === ZERO) at--
  return at
}

import { padded } from '../text/numbers.ts'

/**
 * Parts of a day as decimal places. With fewer of them the double nearest to the digits would be another than the
 * nearest to the time, and programs that cut off what is below a second would show the second before.
 */

export const DAY_MICROS = 86_400_000_000
const SECOND_MICROS = 1_000_000
const POINT = 0x2e
const ZERO = 0x30

/** Five places at a time: three times behind the number of a day, whose digits count as well, five times without. */
const GROUPS = { short: 3, long: 5 } as const

/** The texts of whole seconds, made when they are first met: four words each, and their length. */
const WORDS = 4
let texts: Uint32Array | undefined
const lengths = new Uint8Array(86_400)
const scratch = new DataView(new ArrayBuffer(40))

/** Behind the number of a day. Room for sixteen bytes and more must be there. */
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

/** Of a time alone. */
export function longFraction(view: DataView, at: number, micros: number): number {
  return fraction(view, at, micros, GROUPS.long)
}

/** The point and the places, without zeros at the end. */
function fraction(view: DataView, at: number, micros: number, groups: number): number {
  view.setUint8(at++, POINT)
  for (let rest = micros; rest > 0 && groups > 0; groups--) {
    // All of this is below 2^53, but the quotient may be rounded up to a whole number.
    const more = rest * 100_000
    const quotient = Math.floor(more / DAY_MICROS)
    const digits = quotient * DAY_MICROS > more ? quotient - 1 : quotient
    rest = more - digits * DAY_MICROS
    at = padded(view, at, digits, 5)
  }
  while (view.getUint8(at - 1) === ZERO) at--
  return at
}

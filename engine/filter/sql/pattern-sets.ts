/** Sets of characters as ECMAScript means them, in the notation of RE2. */

const LAST_CODE_POINT = 0x10ffff
export const ANYTHING = '[\\x{0}-\\x{10FFFF}]'
export const NOTHING = '[^\\x{0}-\\x{10FFFF}]'
export const NOT_LINE_END = '[^\\n\\r\\x{2028}\\x{2029}]'

/** White space and line ends of ECMAScript, which are more than RE2's. */
const SPACES: readonly (readonly [number, number])[] = [
  [0x9, 0xd],
  [0x20, 0x20],
  [0xa0, 0xa0],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
  [0xfeff, 0xfeff],
]

const DIGITS = [[0x30, 0x39]] as const
const WORD = [...DIGITS, [0x41, 0x5a], [0x5f, 0x5f], [0x61, 0x7a]] as const

export const CLASS_BODIES = {
  d: ranges(DIGITS),
  D: ranges(complement(DIGITS)),
  w: '0-9A-Z_a-z',
  W: ranges(complement(WORD)),
  s: ranges(SPACES),
  S: ranges(complement(SPACES)),
} as const

/** Where case is ignored, the long s and the Kelvin sign are word characters too, because they fold to s and k. */
export const NOT_WORD_IGNORING_CASE = ranges(complement([...WORD, [0x17f, 0x17f], [0x212a, 0x212a]]))

/** The general categories that RE2 knows, by their short names. */
export const CATEGORY = /^(?:C[cfos]?|L[lmotu]?|M[cen]?|N[dlo]?|P[cdefios]?|S[ckmo]?|Z[lps]?)$/

/** ASCII letters and digits are written as they are. All others are written by number, so that RE2 sees no syntax. */
export function literal(point: number): string {
  const character = String.fromCodePoint(point)
  return /^[0-9A-Za-z]$/.test(character) ? character : `\\x{${point.toString(16).toUpperCase()}}`
}

/** Whether JavaScript knows a script of this name. Only long names are taken, because RE2 knows no abbreviations. */
export function isScript(name: string): boolean {
  if (name.length <= 4) return false
  try {
    return new RegExp(`\\p{Script=${name}}`, 'u') !== undefined
  } catch {
    return false
  }
}

function ranges(list: readonly (readonly [number, number])[]): string {
  return list
    .map(([low, high]) => (low === high ? literal(low) : `${literal(low)}-${literal(high)}`))
    .join('')
}

function complement(list: readonly (readonly [number, number])[]): [number, number][] {
  const rest: [number, number][] = []
  let next = 0
  for (const [low, high] of list) {
    if (low > next) rest.push([next, low - 1])
    next = high + 1
  }
  rest.push([next, LAST_CODE_POINT])
  return rest
}

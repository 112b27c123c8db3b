/** One part for each dimension: the codes that it allows; an empty list allows all of them. */
export type KeyPattern = readonly (readonly string[])[]

/** A dimension or attribute of a data message, and a function that tells whether some series has a code there. */
export interface Candidate {
  readonly id: string
  has(code: string): boolean
}

/** Which components of a message are the dimensions, in the order of the key. */
export interface Dimensions {
  readonly ids: readonly string[]
  /** False if neither the structure nor the message names the dimensions, so that they were guessed from the codes. */
  readonly certain: boolean
  /** True if a wildcard of the key may as well stand for another component than the one that it was given. */
  readonly guessed: boolean
}

/** `M.USD+GBP..SP00.*`: parts are joined by dots, codes by `+`; an empty part or `*` is a wildcard. */
export function parsePattern(key: string): KeyPattern {
  return key.split('.').map((part) => (part === '*' ? [] : part.split('+').filter((code) => code !== '')))
}

/** The key in the notation of SDMX 2.1: an empty part is a wildcard, and `all` is a key with nothing but wildcards. */
export function formatPattern(pattern: KeyPattern): string {
  return isOpen(pattern) ? 'all' : pattern.map((codes) => codes.join('+')).join('.')
}

/** Whether the key has nothing but wildcards. */
export function isOpen(pattern: KeyPattern): boolean {
  return pattern.every((codes) => codes.length === 0)
}

/** Whether the key names exactly one series. */
export function isExact(pattern: KeyPattern): boolean {
  return pattern.every((codes) => codes.length === 1)
}

/**
 * Whether a key matches. A part that the answer leaves out (`''`) is assumed to match, because the ECB can be told to
 * drop columns.
 */
export function matches(key: readonly string[], pattern: KeyPattern): boolean {
  return pattern.every((codes, i) => codes.length === 0 || (key[i] ?? '') === '' || codes.includes(key[i]!))
}

/**
 * Finds the dimensions among the components of a message. If there is a data structure, it decides. Without one the
 * message is used, if it has as many candidates as the key has parts and each part's code occurs at its position. Else
 * each part of the key takes the first free component that has its code. In practice this is right, since other
 * attributes rarely contain such codes, but it is not `certain`. Wildcards take what is left then, which is `guessed`
 * unless only one component is left for the only wildcard.
 */
export function chooseDimensions(
  candidates: readonly Candidate[],
  pattern: KeyPattern | undefined,
  structure: readonly string[] | undefined,
): Dimensions {
  if (structure) return { ids: structure, certain: true, guessed: false }
  if (!pattern) return { ids: candidates.map(({ id }) => id), certain: false, guessed: false }
  const fits = (candidate: Candidate, codes: readonly string[]) =>
    codes.length === 0 || codes.some((code) => candidate.has(code))
  if (candidates.length === pattern.length && candidates.every((one, i) => fits(one, pattern[i]!))) {
    return { ids: candidates.map(({ id }) => id), certain: true, guessed: false }
  }
  const leading = candidates.slice(0, pattern.length)
  if (leading.length === pattern.length && leading.every((one, i) => fits(one, pattern[i]!))) {
    return { ids: leading.map(({ id }) => id), certain: false, guessed: false }
  }
  const free = new Set(candidates)
  const take = (codes: readonly string[]) => {
    const found = [...free].find((one) => fits(one, codes))
    if (found) free.delete(found)
    return found?.id ?? ''
  }
  const found = pattern.map((codes) => (codes.length > 0 ? take(codes) : undefined))
  // If the other parts are where the key has them, so is a part whose code does not occur: the answer is about another
  // series. Otherwise the message may have left that part out.
  const isInOrder = found.every((id, i) => !id || id === candidates[i]?.id)
  const named = found.map((id, i) => (id === '' && isInOrder ? (candidates[i]?.id ?? '') : id))
  const wildcards = named.filter((id) => id === undefined).length
  const guessed = wildcards > 1 || (wildcards === 1 && free.size > 1)
  return { ids: named.map((id) => id ?? take([])), certain: false, guessed }
}

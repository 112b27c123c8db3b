import { quoted } from './errors.ts'
import { type Json, number, text } from './read.ts'

/** SDMX code list CL_OBS_STATUS 2.2. Eurostat writes the same letters in lower case, and several of them together. */
const WORDS: Readonly<Record<string, string>> = {
  B: 'break',
  C: 'confidential',
  D: 'definition differs',
  E: 'estimated',
  F: 'forecast',
  G: 'experimental',
  H: 'missing, holiday',
  I: 'imputed',
  J: 'derogation',
  K: 'included in another category',
  L: 'missing, not collected',
  M: 'missing, can not exist',
  N: 'not significant',
  O: 'missing',
  P: 'provisional',
  Q: 'missing, suppressed',
  R: 'revised',
  S: 'strike or other special event',
  U: 'low reliability',
  V: 'unvalidated',
  W: 'includes another category',
  X: 'includes another category',
  Z: 'not applicable',
}

/** Labels of `A`, for a value of which nothing needs to be said. */
const NORMAL = /\b(normal|norm|official|actual|reported)/

/**
 * The words for a code. The provider's own label decides, because some providers use the letters of the code list for
 * something else; where it means the same as the list (`Provisional value`), the list's words are used. An unknown code
 * is returned as it is; no code and `A`, a normal value, give undefined.
 */
export function statusOfCode(code: string | null | undefined, label?: string): string | undefined {
  const text = code?.trim() ?? ''
  const own = label?.trim().toLowerCase()
  if (text === '' || (text === 'A' && (own === undefined || NORMAL.test(own)))) return undefined
  const listed = Object.hasOwn(WORDS, text) ? WORDS[text] : undefined
  if (own === undefined || own === '' || (listed !== undefined && shareWord(own, listed)))
    return listed ?? text
  return own
}

/** Whether two texts have a long word in common, whatever its ending and accents: `Value imputed` and `imputed`. */
function shareWord(left: string, right: string): boolean {
  const stems = (text: string) =>
    plain(text)
      .match(/[a-z]{5,}/g)
      ?.map((word) => word.slice(0, 5)) ?? []
  const known = new Set(stems(left))
  return stems(right).some((stem) => known.has(stem))
}

function plain(text: string): string {
  return text.toLowerCase().normalize('NFD').replace(/\p{M}/gu, '')
}

/** The words for Eurostat's flags (`p`, `bep`, `:c`), of which each letter is a flag. */
export function statusOfFlags(flags: string): string | undefined {
  const letters = [...flags.replace(/[\s:]/g, '')].map(
    (letter) => EUROSTAT[letter] ?? statusOfCode(letter.toUpperCase()),
  )
  return letters.length === 0 ? undefined : letters.join(', ')
}

/** The letters that mean something else at Eurostat than in the SDMX code list. */
const EUROSTAT: Readonly<Record<string, string>> = {
  i: 'imputed',
  s: "Eurostat's estimate",
}

/** The codes in parentheses that agencies of the United States write for a value that they don't publish. */
const REASONS: Readonly<Record<string, string>> = {
  D: 'missing, confidential',
  NA: 'missing, not available',
  NM: 'missing, not meaningful',
  S: 'missing, suppressed',
  X: 'missing, not applicable',
}

/** Why a value is missing, from a text that contains such a code; undefined for any other text. */
export function missingReason(text: string | null): string | undefined {
  return REASONS[/\(([A-Z]{1,2})\)/.exec(text ?? '')?.[1] ?? '']
}

/** What providers write where there is no value, in lower case. It says no more than null does. */
const BLANKS = new Set(['.', '..', '...', '-', '--', ':', 'nan', 'null', 'na', 'n/a', 'n.a.'])

/**
 * The status of an observation with this value. A text that is not a number becomes null, and then the status says what
 * stood there: in words for a reason, unless the provider gave a status of its own, and as it was written for anything
 * else, such as `<5`, since it may be more than a gap. A mark such as `.` says nothing.
 */
export function statusOfValue(value: Json | undefined, status: string | undefined): string | undefined {
  const written = text(value)
  if (written === null || number(value) !== null || BLANKS.has(written.toLowerCase())) return status
  const meaning = missingReason(written)
  if (meaning !== undefined) return status ?? meaning
  return [status, `reported as ${quoted(written)}`].filter((each) => each !== undefined).join(', ')
}

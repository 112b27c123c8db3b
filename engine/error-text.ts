/*
 * What errors say and know, apart from their codes. It imports nothing, because the client loads it.
 */

/** What an error knows, as data. Programs read these fields, and never the sentence that says the same. */
export interface ErrorFields {
  /** UTF-16 units before the fault in the text that was sent: the value of `option`, or a statement of SQL. */
  readonly position?: number
  /** What is wrong at `position`, without the place. */
  readonly problem?: string
  /** The option that is wrong, as HTTP names it: `$filter`, `delimiter`. */
  readonly option?: string
  /** The columns that are unknown, missing or probably meant. */
  readonly columns?: readonly string[]
  /** A row of an upload, counted from 1 without the header. */
  readonly row?: number
  readonly column?: string
  readonly value?: string
  /** The limit that was exceeded. */
  readonly limit?: number
  /** The files in a zip archive, of which `entry` chooses one. */
  readonly entries?: readonly string[]
  /** The tables of a database, of which `table` chooses one. */
  readonly tables?: readonly string[]
  /** How many of the caller's own run already. */
  readonly running?: number
  /** The parts of the message that are options, in their order, as in a query string: `decimal=,`. */
  readonly hints?: readonly string[]
}

const NAMES_OF_FIELDS = {
  position: true,
  problem: true,
  option: true,
  columns: true,
  row: true,
  column: true,
  value: true,
  limit: true,
  entries: true,
  tables: true,
  running: true,
  hints: true,
} as const satisfies Record<keyof ErrorFields, true>

/** What may be shown of the details of an error. */
export function errorFields(details: object | undefined): ErrorFields {
  return Object.fromEntries(Object.entries(details ?? {}).filter(([name]) => name in NAMES_OF_FIELDS))
}

const MARKED = /\u0001([^\u0001\u0002]*)\u0002/g

/**
 * Marks a part of a text as an option, as in a query string, with a value or without. HTTP shows it as it is; the library
 * and the command name options in their own way, and so do clients, which find it in `hints`.
 */
export function hint(option: string): string {
  return `\u0001${option}\u0002`
}

/** The options that `hint` has marked in a message. */
export const hintsIn = (marked: string) => Array.from(marked.matchAll(MARKED), ([, option]) => option!)

/** A message from elsewhere with each of its `hints` in other words. */
export function withHints(message: string, hints: readonly string[] = [], words: Words): string {
  let [before, after] = ['', message]
  for (const one of hints) {
    const at = after.indexOf(one)
    if (at < 0) continue
    before += after.slice(0, at) + words(one)
    after = after.slice(at + one.length)
  }
  return before + after
}

/** What an error says. */
export interface Said {
  readonly message: string
  readonly details?: Readonly<ErrorFields> | undefined
}

/** What is wrong with one thing of several, as in the details of an error. */
interface Fault {
  readonly error: string
}

/** How options of a query string are named, each with a value or without. */
export type Words = (option: string) => string

/** HTTP shows options as they are. */
export const httpWords: Words = (option) => option

/** A text with the options that `hint` has marked in other words. */
export function inWords(marked: string, words: Words): string {
  return marked.replaceAll(MARKED, (_, option: string) => words(option))
}

/** What an error says, with options in other words. */
export function saidInWords({ message, details }: Said, words: Words): Said {
  const hints = hintsIn(message)
  const { problem, errors } = (details ?? {}) as { readonly problem?: string; readonly errors?: Fault[] }
  if (hints.length === 0 && errors === undefined) return { message, details }
  const faultInWords = (fault: Fault) => {
    const named = hintsIn(fault.error)
    return { ...fault, error: inWords(fault.error, words), ...(named.length > 0 && { hints: named }) }
  }
  return {
    message: inWords(message, words),
    details: {
      ...details,
      ...(problem !== undefined && { problem: inWords(problem, words) }),
      ...(errors && { errors: errors.map(faultInWords) }),
      ...(hints.length > 0 && { hints }),
    },
  }
}

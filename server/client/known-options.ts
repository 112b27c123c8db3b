import { ParquetryError } from './errors.ts'

/** The names of a type's options. */
export type Names<Options extends object> = Readonly<Record<keyof Options, true>>

/**
 * Refuses options that don't exist, because one that is misspelt would otherwise be ignored.
 * @throws ParquetryError `invalid_option`
 */
export function requireKnown(options: object, known: Readonly<Record<string, true>>): void {
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || Object.hasOwn(known, name)) continue
    throw invalidOption(`Unknown option ${JSON.stringify(name)}; known are ${Object.keys(known).join(', ')}.`)
  }
}

export function invalidOption(message: string): ParquetryError {
  return new ParquetryError(message, { status: 0, code: 'invalid_option' })
}

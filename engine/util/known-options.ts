import { EngineError } from '../errors.ts'

/** The names of a type's options. */
export type Names<Options extends object> = Readonly<Record<keyof Options, true>>

/**
 * Refuses options that don't exist, because one that is misspelt would otherwise be ignored.
 * @param known its keys are the options
 * @throws EngineError `invalid_option`
 */
export function requireKnown(options: object, known: Readonly<Record<string, unknown>>): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw new EngineError('invalid_option', `Options are an object, not ${JSON.stringify(options)}.`)
  }
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || Object.hasOwn(known, name)) continue
    const names = Object.keys(known).join(', ')
    throw new EngineError('invalid_option', `Unknown option ${JSON.stringify(name)}; known are ${names}.`)
  }
}

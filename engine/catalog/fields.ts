import { EngineError, invalidOption } from '../errors.ts'

const LONGEST_NAME = 255

/**
 * Gives the name unchanged if it is text of 1 to 255 characters, not blank and without control characters.
 * @throws EngineError `invalid_name`
 */
export function checkName(name: unknown, what: 'repository' | 'dataset'): string {
  if (typeof name !== 'string' || name.trim() === '') {
    throw new EngineError('invalid_name', `The name of a ${what} must be text that is not blank.`)
  }
  if (name.length > LONGEST_NAME) {
    throw new EngineError(
      'invalid_name',
      `The name of a ${what} has at most ${LONGEST_NAME} characters; this one has ${name.length}.`,
    )
  }
  if (/[\x00-\x1f\x7f]/.test(name) || !name.isWellFormed()) {
    throw new EngineError('invalid_name', `The name of a ${what} must not hold control characters.`)
  }
  return name
}

/** Gives the description unchanged if every catalog can hold it. @throws EngineError `invalid_option` */
export function checkDescription(text: unknown): string {
  if (typeof text === 'string' && text.isWellFormed() && !text.includes('\0')) return text
  throw invalidOption('description must be text without the character U+0000 and without half characters.')
}

/** Whether the catalog can be asked for it; programs in JavaScript may give anything. */
export function isId(id: unknown): boolean {
  return Number.isSafeInteger(id)
}

export function now(): string {
  return new Date().toISOString()
}

/** Wrong usage of a command: exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** Parses the value of an option as an integer of at least 0. @throws UsageError */
export function wholeNumber(option: string, text: string): number {
  const value = Number(text)
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(value)) {
    throw new UsageError(`${option}: ${JSON.stringify(text)} is not a whole number.`)
  }
  return value
}

/**
 * Parses the value of an option that must be one of the words. @throws UsageError
 * @param option its name, for the message
 */
export function oneOf<Word extends string>(option: string, words: readonly Word[], text: string): Word {
  const word = words.find((one) => one === text)
  if (word !== undefined) return word
  // Quotes around a comma, which would look like those between the words.
  const list = words.map((one) => (/^\W$/.test(one) ? JSON.stringify(one) : one)).join(', ')
  throw new UsageError(`${option}: ${JSON.stringify(text)} is not one of ${list}.`)
}

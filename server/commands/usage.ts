/** Wrong usage of a command: exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** Parses an argument as an integer of at least 0. @throws UsageError */
export function wholeNumber(text: string): number {
  const value = Number(text)
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(value)) {
    throw new UsageError(`${JSON.stringify(text)} is not a whole number.`)
  }
  return value
}

/** Parses an argument that must be one of the words. @throws UsageError */
export function oneOf<Word extends string>(words: readonly Word[], text: string): Word {
  const word = words.find((one) => one === text)
  if (word === undefined) throw new UsageError(`${JSON.stringify(text)} is not one of ${words.join(', ')}.`)
  return word
}

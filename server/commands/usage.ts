/** The command was called wrongly: exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** A whole number that is not negative, from an argument. */
export function wholeNumber(text: string): number {
  const value = Number(text)
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(value)) {
    throw new UsageError(`${JSON.stringify(text)} is not a whole number.`)
  }
  return value
}

/** One of some words, from an argument. */
export function oneOf<Word extends string>(words: readonly Word[], text: string): Word {
  const word = words.find((one) => one === text)
  if (word === undefined) throw new UsageError(`${JSON.stringify(text)} is none of ${words.join(', ')}.`)
  return word
}

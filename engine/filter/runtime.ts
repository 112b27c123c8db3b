import { EngineError } from '../errors.ts'

/** What DuckDB says when a value of the data makes a correct filter fail, and what that means in words of the filter. */
const FAILURES: readonly (readonly [said: RegExp, sentence: (match: RegExpExecArray) => string])[] = [
  // Raised by SQL of ours, with the sentence in it.
  [/Invalid Input Error: (The filter (?:divides|fails)[^\n]*)/, ([, sentence]) => sentence!],
  [
    /Overflow in (addition|subtraction|multiplication) of [^(]*\(([^)]*)\)/,
    ([, operation, operands]) =>
      `The filter fails on a row: the ${operation} ${operands} gives a number that is too large.`,
  ],
  [
    /Overflow in (negation|division)[^\n]*/,
    ([, operation]) => `The filter fails on a row: a ${operation} gives a number that is too large.`,
  ],
  [
    /(?:Date|Timestamp|timestamp|interval|INTERVAL|Date and time)[^\n]*(?:range|overflow)/,
    () => 'The filter fails on a row: a date or moment comes out that is beyond those that can be held.',
  ],
  [
    /(?:Could not cast value|Conversion Error|Out of Range Error)[^\n]*/,
    () => 'The filter fails on a row: a number comes out that is too large for its type.',
  ],
  [
    /Invalid Input Error: (?:invalid|missing|bad|pattern too large|no argument|unexpected|trailing)[^\n]*/,
    () => 'The filter fails: the pattern of matchesPattern() is too large, or not one that can be matched.',
  ],
]

/**
 * The error of a filter that failed on a value of the data, as a `filter_failed` with a sentence; undefined for every
 * other error.
 */
export function runtimeFilterError(error: unknown): EngineError | undefined {
  const message = error instanceof Error ? error.message : typeof error === 'string' ? error : ''
  for (const [said, sentence] of FAILURES) {
    const match = said.exec(message)
    if (match) return new EngineError('filter_failed', sentence(match), { cause: error })
  }
  return undefined
}

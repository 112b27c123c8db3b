import { EngineError } from '../../errors.ts'

const BEYOND_MOMENTS =
  'The filter fails on a row: the result is a date or moment outside of the range that can be represented.'

/** DuckDB's messages where a value in the data makes a correct filter fail, each with a sentence for the user. */
const FAILURES: readonly (readonly [said: RegExp, sentence: (match: RegExpExecArray) => string])[] = [
  // Our own SQL raised this error, and its message holds the sentence.
  [/Invalid Input Error: (The filter (?:divides|fails)[^\n]*)/, ([, sentence]) => sentence!],
  [
    /Overflow in (addition|subtraction|multiplication) of INT64 \(([^)]*)\)/,
    ([, operation, operands]) =>
      `The filter fails on a row: the ${operation} ${operands} gives a number that is too large.`,
  ],
  // For decimals DuckDB prints the digits without the decimal point, so the operands would mislead and are left out.
  [
    /Overflow in (addition|subtraction|multiplication|negation|division)/,
    ([, operation]) =>
      `The filter fails on a row: ${operation === 'addition' ? 'an' : 'a'} ${operation} gives a number that is too ` +
      'large.',
  ],
  [
    /(?:Conversion|Out of Range|Invalid Input) Error: [^\n]*(?:date|timestamp|interval)[^\n]*(?:range|overflow)/i,
    () => BEYOND_MOMENTS,
  ],
  // A date outside the range of timestamps, or an infinite date, which Parquet files may hold. For both, DuckDB's
  // message names its internal type; for a number that is too large, it says "out of range".
  [
    /(?:Conversion|Invalid Input) Error: Type INT\d+ with value [^\n]* can't be cast to the destination/,
    () => BEYOND_MOMENTS,
  ],
  [
    /(?:Conversion|Out of Range) Error: |Invalid Input Error: [^\n]*Could not cast value/,
    () => 'The filter fails on a row: the result is a number that is too large for its type.',
  ],
  // JavaScript may know a Unicode script that is newer than this version of DuckDB.
  [
    /Invalid Input Error: invalid character class range: \\[pP]\{(\w+)\}/,
    ([, script]) =>
      `The filter fails: the pattern of matchesPattern() names the script ${script}, which is not supported.`,
  ],
  [
    /Invalid Input Error: pattern too large/,
    () => 'The filter fails: the pattern of matchesPattern() is too large. Repeat fewer things in it.',
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

import { EngineError } from '../../errors.ts'

const BEYOND_MOMENTS =
  'The filter fails on a row: a date or moment comes out that is beyond those that can be held.'

/** What DuckDB says when a value of the data makes a correct filter fail, and what that means in words of the filter. */
const FAILURES: readonly (readonly [said: RegExp, sentence: (match: RegExpExecArray) => string])[] = [
  // Raised by SQL of ours, with the sentence in it.
  [/Invalid Input Error: (The filter (?:divides|fails)[^\n]*)/, ([, sentence]) => sentence!],
  [
    /Overflow in (addition|subtraction|multiplication) of INT64 \(([^)]*)\)/,
    ([, operation, operands]) =>
      `The filter fails on a row: the ${operation} ${operands} gives a number that is too large.`,
  ],
  // Of decimals DuckDB shows the digits without their point, which would tell nobody anything.
  [
    /Overflow in (addition|subtraction|multiplication|negation|division)/,
    ([, operation]) =>
      `The filter fails on a row: ${operation === 'addition' ? 'an' : 'a'} ${operation} gives a number that is too large.`,
  ],
  [
    /(?:Conversion|Out of Range|Invalid Input) Error: [^\n]*(?:date|timestamp|interval)[^\n]*(?:range|overflow)/i,
    () => BEYOND_MOMENTS,
  ],
  // A day of a year that no moment has, or infinity, which Parquet files may hold. DuckDB names its own types of both; of a number it says that it is out of range.
  [
    /(?:Conversion|Invalid Input) Error: Type INT\d+ with value [^\n]* can't be cast to the destination/,
    () => BEYOND_MOMENTS,
  ],
  [
    /(?:Conversion|Out of Range) Error: |Invalid Input Error: [^\n]*Could not cast value/,
    () => 'The filter fails on a row: a number comes out that is too large for its type.',
  ],
  // A script may be newer than DuckDB.
  [
    /Invalid Input Error: invalid character class range: \\[pP]\{(\w+)\}/,
    ([, script]) =>
      `The filter fails: the pattern of matchesPattern() names the script ${script}, which is not known here.`,
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

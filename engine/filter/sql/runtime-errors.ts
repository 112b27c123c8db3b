import { EngineError, hint } from '../../errors.ts'

/** The subject of a message about `$filter`; of other options it is their name. */
export const THE_FILTER = 'The filter'
/** The subject of a message about an expression that is a new value. */
export const THE_EXPRESSION = 'The expression'

const BEYOND_MOMENTS =
  'fails on a row: the result is a date or moment outside of the range that can be represented.'

/**
 * DuckDB's messages where a value in the data makes a correct expression fail, each with what the user is told. Our own
 * SQL raises errors that hold a whole sentence.
 */
const FAILURES: readonly (readonly [said: RegExp, message: (match: RegExpExecArray) => string])[] = [
  [
    /Overflow in (addition|subtraction|multiplication) of INT64 \(([^)]*)\)/,
    ([, operation, operands]) =>
      `fails on a row: the ${operation} ${operands} gives a number that is too large.`,
  ],
  // For decimals DuckDB prints the digits without the decimal point, so the operands would mislead and are left out.
  [
    /Overflow in (addition|subtraction|multiplication|negation|division)/,
    ([, operation]) =>
      `fails on a row: ${operation === 'addition' ? 'an' : 'a'} ${operation} gives a number that is too ` +
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
    () => 'fails on a row: the result is a number that is too large for its type.',
  ],
  // Uploads refuse such values; older programs stored them.
  [
    /Invalid Input Error: Malformed JSON/,
    () => 'fails on a row: a string in its json value has half a character.',
  ],
  // JavaScript may know a Unicode script that is newer than this version of DuckDB.
  [
    /Invalid Input Error: invalid character class range: \\[pP]\{(\w+)\}/,
    ([, script]) =>
      `fails: the pattern of matchesPattern() names the script ${script}, which is not supported.`,
  ],
  [
    /Invalid Input Error: pattern too large/,
    () => 'fails: the pattern of matchesPattern() is too large. Repeat fewer things in it.',
  ],
]

/** Values of a row in DuckDB's messages. */
const OPERANDS = / of INT64 \([^)]*\)/

/** An error that our own SQL raised. */
const RAISED = new RegExp(
  `Invalid Input Error: (${THE_FILTER}|${THE_EXPRESSION}|\\$[a-z]+) ((?:divides|fails)[^\\n]*)`,
)

/**
 * The error of an expression that failed on a value of the data, as a `filter_failed` with a sentence; undefined for
 * every other error.
 * @param subject what may have failed, as the beginning of a sentence
 * @param hiding whether values of the row are left out
 */
export function runtimeFilterError(
  error: unknown,
  subject = THE_FILTER,
  hiding = false,
): EngineError | undefined {
  const said = error instanceof Error ? error.message : typeof error === 'string' ? error : ''
  const message = hiding ? said.replace(OPERANDS, '') : said
  const raised = RAISED.exec(message)
  if (raised) return failed(raised[1]!, raised[2]!, error)
  for (const [pattern, problem] of FAILURES) {
    const match = pattern.exec(message)
    if (match) return failed(subject, problem(match), error)
  }
  return undefined
}

function failed(subject: string, problem: string, cause: unknown): EngineError {
  const option = subject === THE_FILTER ? '$filter' : subject
  // A statement that several options made does not tell which of them has failed.
  const details = /^\$[a-z]+$/.test(option) ? { option } : undefined
  return new EngineError('filter_failed', `${subject.replaceAll(/\$[a-z]+/g, hint)} ${problem}`, {
    cause,
    details,
  })
}

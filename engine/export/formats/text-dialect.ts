import { EngineError } from '../../errors.ts'
import type { Format } from '../../types/index.ts'

/** How csv and tsv are written for programs that need them to differ from RFC 4180. */
export interface Dialect {
  /** Whether the file begins with a byte order mark, by which Excel recognises UTF-8. */
  readonly bom?: boolean | undefined
  /** The sign between the fields of csv; a comma by default. */
  readonly delimiter?: string | undefined
  /** The decimal separator of doubles and decimals; a point by default. */
  readonly decimal?: '.' | ',' | undefined
  /** The text for null, written without quotes; values with the same text are quoted. Empty by default. */
  readonly null?: string | undefined
  /** `escape` puts an apostrophe before texts that spreadsheets would take for formulas; see `isFormula`. */
  readonly formulas?: 'escape' | undefined
}

/** Signs that never occur in a number, date, time, uuid or base64, so that such values never need quotes. */
const DELIMITER = /^[\t !#$%&'()*,;<>?@[\\\]^_`{|}~]$/

/** The beginning of texts that Excel, LibreOffice and Google Sheets take for formulas, in half and full width. */
const FORMULA = /^[=+\-@\t\r＝＋－＠]/

/**
 * @throws EngineError `invalid_option` where options are wrong, contradict each other, or have no meaning in the format
 */
export function checkEncoding(
  format: Format,
  { dialect = {}, overlong }: { readonly dialect?: Dialect; readonly overlong?: string },
): void {
  const given = Object.entries(dialect).filter(([, value]) => value !== undefined)
  if (given.length > 0 && format !== 'csv' && format !== 'tsv') {
    throw invalid(`$${given[0]![0]} is for csv and tsv; the format is ${format}.`)
  }
  if (overlong !== undefined && format !== 'xlsx') {
    throw invalid(`$overlong is for xlsx; the format is ${format}, which holds texts of any length.`)
  }
  if (overlong !== undefined && overlong !== 'cut') throw invalid("$overlong takes 'cut' alone.")
  checkDialect(format, dialect)
}

function checkDialect(format: Format, { delimiter, decimal, null: missing, formulas }: Dialect): void {
  if (delimiter !== undefined && !DELIMITER.test(delimiter)) {
    throw invalid(
      `$delimiter is one sign that no number, date or uuid has, as , ; | or a tab; it is ${JSON.stringify(delimiter)}.`,
    )
  }
  if (format === 'tsv' && delimiter !== undefined && delimiter !== '\t') {
    throw invalid('tsv has tabs between its fields; ask for csv to have another $delimiter.')
  }
  if (decimal !== undefined && decimal !== '.' && decimal !== ',') {
    throw invalid(`$decimal is a point or a comma; it is ${JSON.stringify(decimal)}.`)
  }
  const between = separatorOf(format, delimiter)
  if (decimal === ',' && between === ',') {
    throw invalid(
      "$decimal=, needs another sign between the fields: add $delimiter=; (percent-encoded: '%3B').",
    )
  }
  if (formulas !== undefined && formulas !== 'escape') throw invalid("$formulas takes 'escape' alone.")
  if (missing === undefined) return
  if (/["\r\n]/.test(missing) || missing.includes(between) || missing.length > MOST_NULL) {
    throw invalid(
      `$null has at most ${MOST_NULL} characters, no quotes, no line end and not what stands between the fields; it is ${JSON.stringify(missing)}.`,
    )
  }
  if (formulas === 'escape' && FORMULA.test(missing)) {
    throw invalid(
      `$null=${missing} is what $formulas=escape keeps out: it begins as a formula does. Take a text that begins with another sign.`,
    )
  }
}

const MOST_NULL = 64

export function separatorOf(format: Format, delimiter: string | undefined): string {
  return delimiter ?? (format === 'tsv' ? '\t' : ',')
}

/** Whether spreadsheets would calculate a text: it begins with `=`, `+`, `-`, `@`, a tab or a carriage return. */
export function isFormula(text: string): boolean {
  return FORMULA.test(text)
}

/** Like `isFormula`, for UTF-8. */
export function beginsFormula(bytes: Uint8Array, start: number, end: number): boolean {
  const first = bytes[start]!
  if (first < 0x80) return FORMULA_BYTES[first] === 1
  // The full-width forms lie between U+FF0B and U+FF20.
  return first === 0xef && isFormula(Buffer.from(bytes.subarray(start, Math.min(start + 3, end))).toString())
}

const FORMULA_BYTES = Uint8Array.from({ length: 128 }, (_, byte) =>
  isFormula(String.fromCharCode(byte)) ? 1 : 0,
)

function invalid(message: string): EngineError {
  return new EngineError('invalid_option', message)
}

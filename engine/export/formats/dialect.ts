import { EngineError } from '../../errors.ts'
import type { Format } from '../../types/index.ts'

/** How csv and tsv are written where a program wants them otherwise than RFC 4180 has them. */
export interface Dialect {
  /** Begins with a byte order mark, by which Excel knows UTF-8. */
  readonly bom?: boolean | undefined
  /** What stands between fields of csv: a comma, unless another sign is named here. */
  readonly delimiter?: string | undefined
  /** What stands before the places of doubles and decimals; a point, unless it is said. */
  readonly decimal?: '.' | ',' | undefined
  /** Stands for null, without quotes; a value that looks the same has them. Nothing, unless it is said. */
  readonly null?: string | undefined
  /** `escape` puts an apostrophe before texts that spreadsheets would take for formulas; see `isFormula`. */
  readonly formulas?: 'escape' | undefined
}

/** Signs that no number, date, time, uuid or base64 has, so that those never need quotes. */
const DELIMITER = /^[\t !#$%&'()*,;<>?@[\\\]^_`{|}~]$/

/** What a text begins with that Excel, LibreOffice and Google Sheets take for a formula, in half and full width. */
const FORMULA = /^[=+\-@\t\r＝＋－＠]/

/**
 * @throws EngineError `invalid_option` where options are wrong, contradict each other, or mean nothing in the format
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

/** The same of UTF-8. */
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

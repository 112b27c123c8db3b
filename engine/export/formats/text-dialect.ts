import { invalidOption } from '../../errors.ts'
import { DIALECT, type OptionsOf, OTHER_FORMATS, pick } from '../../options.ts'
import type { Format } from '../../types/index.ts'
import { checkOptions } from '../../util/known-options.ts'

/** How csv and tsv are written for programs that need them to differ from RFC 4180. */
export interface Dialect extends OptionsOf<typeof DIALECT> {}

/** The beginning of texts that Excel, LibreOffice and Google Sheets take for formulas, in half and full width. */
const FORMULA = /^[=+\-@\t\r＝＋－＠]/

/**
 * @throws EngineError `invalid_option` where options are wrong, contradict each other, or have no meaning in the format
 */
export function checkEncoding(
  format: Format,
  { dialect = {}, ...others }: OptionsOf<typeof OTHER_FORMATS> & { readonly dialect?: Dialect },
): void {
  checkOptions(dialect, DIALECT, format)
  checkOptions(pick(others, OTHER_FORMATS), OTHER_FORMATS, format)
  const { delimiter, decimal, null: missing, formulas } = dialect
  const between = separatorOf(format, delimiter)
  if (decimal === ',' && between === ',') {
    throw invalidOption(
      "$decimal=, needs another sign between the fields: add $delimiter=; (percent-encoded: '%3B').",
    )
  }
  if (missing === undefined) return
  if (/["\r\n]/.test(missing) || missing.includes(between) || missing.length > MOST_NULL) {
    throw invalidOption(
      `$null has at most ${MOST_NULL} characters, no quotes, no line end and not what stands between the fields; it is ${JSON.stringify(missing)}.`,
    )
  }
  if (formulas === 'escape' && FORMULA.test(missing)) {
    throw invalidOption(
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

import { type TypeName, typeName } from '../../../types/index.ts'
import type { EncodedColumn } from '../encoder.ts'
import { xmlAttribute } from './text.ts'

/** The parts of a workbook around its rows (ISO 29500-1, parts 12 and 18). */

const DECLARATION = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
const RELATIONSHIPS = 'http://schemas.openxmlformats.org/package/2006/relationships'
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const TYPES = 'application/vnd.openxmlformats-officedocument.spreadsheetml'

/** Cell styles, by their number in the style sheet. */
export const STYLE = {
  none: 0,
  date: 1,
  timestamp: 2,
  timestampFine: 3,
  utc: 4,
  utcFine: 5,
  time: 6,
  timeFine: 7,
} as const

const NUMBER_FORMATS = [
  'yyyy-mm-dd',
  'yyyy-mm-dd hh:mm:ss',
  'yyyy-mm-dd hh:mm:ss.000',
  'yyyy-mm-dd hh:mm:ss"Z"',
  'yyyy-mm-dd hh:mm:ss.000"Z"',
  'hh:mm:ss',
  'hh:mm:ss.000',
]
/** Numbers below this are built into every reader. */
const FIRST_FORMAT = 164

/** Independent of the number of sheets, so that it may come first, where tools look for it. */
export const CONTENT_TYPES =
  `${DECLARATION}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">` +
  '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>' +
  `<Default Extension="xml" ContentType="${TYPES}.worksheet+xml"/>` +
  `<Override PartName="/xl/workbook.xml" ContentType="${TYPES}.sheet.main+xml"/>` +
  `<Override PartName="/xl/styles.xml" ContentType="${TYPES}.styles+xml"/></Types>`

export const ROOT_RELATIONSHIPS =
  `${DECLARATION}<Relationships xmlns="${RELATIONSHIPS}">` +
  `<Relationship Id="rId1" Type="${OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>`

export const STYLES =
  `${DECLARATION}<styleSheet xmlns="${MAIN}"><numFmts count="${NUMBER_FORMATS.length}">` +
  NUMBER_FORMATS.map(
    (code, index) => `<numFmt numFmtId="${FIRST_FORMAT + index}" formatCode="${xmlAttribute(code)}"/>`,
  ).join('') +
  '</numFmts><fonts count="1"><font><sz val="11"/><name val="Calibri"/></font></fonts>' +
  '<fills count="2"><fill><patternFill patternType="none"/></fill>' +
  '<fill><patternFill patternType="gray125"/></fill></fills>' +
  '<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>' +
  '<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>' +
  `<cellXfs count="${NUMBER_FORMATS.length + 1}"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/>` +
  NUMBER_FORMATS.map(
    (_, index) =>
      `<xf numFmtId="${FIRST_FORMAT + index}" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>`,
  ).join('') +
  '</cellXfs><cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>'

export function workbook(sheetNames: readonly string[]): string {
  const sheets = sheetNames.map(
    (name, index) => `<sheet name="${xmlAttribute(name)}" sheetId="${index + 1}" r:id="rId${index + 1}"/>`,
  )
  return `${DECLARATION}<workbook xmlns="${MAIN}" xmlns:r="${OFFICE}"><sheets>${sheets.join('')}</sheets></workbook>`
}

export function workbookRelationships(sheets: number): string {
  const parts = Array.from(
    { length: sheets },
    (_, index) =>
      `<Relationship Id="rId${index + 1}" Type="${OFFICE}/worksheet" Target="worksheets/sheet${index + 1}.xml"/>`,
  )
  return (
    `${DECLARATION}<Relationships xmlns="${RELATIONSHIPS}">${parts.join('')}` +
    `<Relationship Id="rId${sheets + 1}" Type="${OFFICE}/styles" Target="styles.xml"/></Relationships>`
  )
}

/** A sheet up to its rows. Columns whose values would show as `####` in the default width are made wider. */
export function sheetHead(columns: readonly EncodedColumn[]): string {
  const widths = columns.flatMap(({ type }, index) => {
    const width = WIDTHS[typeName(type)]
    return width === undefined
      ? []
      : [`<col min="${index + 1}" max="${index + 1}" width="${width}" customWidth="1"/>`]
  })
  const cols = widths.length > 0 ? `<cols>${widths.join('')}</cols>` : ''
  return `${DECLARATION}<worksheet xmlns="${MAIN}">${cols}<sheetData>`
}

export const SHEET_TAIL = '</sheetData></worksheet>'

const WIDTHS: Partial<Record<TypeName, number>> = {
  date: 11,
  timestamp: 24,
  timestamptz: 24,
  time: 13,
  uuid: 38,
}

const NAME_LENGTH = 31

/** A name that Excel takes for a sheet: up to 31 characters, some of them forbidden. */
export function sheetName(wanted: string | undefined, index: number): string {
  const clean = (wanted ?? '').replace(/[[\]:*?/\\\x00-\x1f\ufffe\uffff]/g, ' ').replace(/^[' ]+|[' ]+$/g, '')
  // Excel keeps this one for itself, in any case.
  const name = clean === '' || /^history$/i.test(clean) ? 'Data' : clean
  const suffix = index === 0 ? '' : ` (${index + 1})`
  const kept = name.slice(0, NAME_LENGTH - suffix.length)
  // No half of a surrogate pair, and again no apostrophe or blank at the end.
  return kept.replace(/[\ud800-\udbff]$/, '').replace(/[' ]+$/, '') + suffix
}

import { columnLetters } from '../../../util/column-letters.ts'

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
  header: 8,
  /** Whole numbers; the styles after it have one decimal place, two … up to `MOST_PLACES`. */
  places: 9,
} as const

/** Excel keeps 15 digits of a number. */
export const MOST_PLACES = 15
export const STYLE_COUNT = STYLE.places + MOST_PLACES + 1

const NUMBER_FORMATS = [
  'yyyy-mm-dd',
  'yyyy-mm-dd hh:mm:ss',
  'yyyy-mm-dd hh:mm:ss.000',
  'yyyy-mm-dd hh:mm:ss"Z"',
  'yyyy-mm-dd hh:mm:ss.000"Z"',
  'hh:mm:ss',
  'hh:mm:ss.000',
]
/** Formats with numbers below this are built into every reader, for example 1 is `0`. */
const FIRST_FORMAT = 164
const GENERAL = 0

const PLACES = Array.from({ length: MOST_PLACES + 1 }, (_, places) =>
  places === 0 ? '0' : `0.${'0'.repeat(places)}`,
)
const FORMAT_CODES = [...NUMBER_FORMATS, ...PLACES]

/** This doesn't depend on the number of sheets, so that it can be the first file, where tools look for it. */
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
  `${DECLARATION}<styleSheet xmlns="${MAIN}"><numFmts count="${FORMAT_CODES.length}">` +
  FORMAT_CODES.map(
    (code, index) => `<numFmt numFmtId="${FIRST_FORMAT + index}" formatCode="${xmlAttribute(code)}"/>`,
  ).join('') +
  '</numFmts><fonts count="2"><font><sz val="11"/><name val="Calibri"/></font>' +
  '<font><b/><sz val="11"/><name val="Calibri"/></font></fonts>' +
  '<fills count="2"><fill><patternFill patternType="none"/></fill>' +
  '<fill><patternFill patternType="gray125"/></fill></fills>' +
  '<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>' +
  '<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>' +
  `<cellXfs count="${STYLE_COUNT}">${Array.from({ length: STYLE_COUNT }, (_, style) => cellStyle(style)).join('')}` +
  '</cellXfs><cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>'

function cellStyle(style: number): string {
  if (style === STYLE.header) {
    return `<xf numFmtId="${GENERAL}" fontId="1" fillId="0" borderId="0" xfId="0" applyFont="1"/>`
  }
  if (style === STYLE.none) return `<xf numFmtId="${GENERAL}" fontId="0" fillId="0" borderId="0" xfId="0"/>`
  // The header's style is between those of times and those of numbers, and has no number format.
  const format = FIRST_FORMAT + (style < STYLE.header ? style - 1 : style - 2)
  return `<xf numFmtId="${format}" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>`
}

/** @param sheets each with its name and the cells that its filter is over, as `$A$1:$C$10` */
export function workbook(sheets: readonly { readonly name: string; readonly cells: string }[]): string {
  const entries = sheets.map(
    ({ name }, index) =>
      `<sheet name="${xmlAttribute(name)}" sheetId="${index + 1}" r:id="rId${index + 1}"/>`,
  )
  // Excel also stores the range of a sheet's filter under this name.
  const filters = sheets.map(
    ({ name, cells }, index) =>
      `<definedName name="_xlnm._FilterDatabase" localSheetId="${index}" hidden="1">` +
      `${xmlAttribute(`'${name.replaceAll("'", "''")}'!${cells}`)}</definedName>`,
  )
  return (
    `${DECLARATION}<workbook xmlns="${MAIN}" xmlns:r="${OFFICE}"><bookViews><workbookView/></bookViews>` +
    `<sheets>${entries.join('')}</sheets><definedNames>${filters.join('')}</definedNames></workbook>`
  )
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

/** A sheet's XML before its rows: the header stays in view, and columns have the given widths. */
export function sheetHead(widths: readonly number[], selected: boolean): string {
  const columns = widths.map(
    (width, index) => `<col min="${index + 1}" max="${index + 1}" width="${width}" customWidth="1"/>`,
  )
  return (
    `${DECLARATION}<worksheet xmlns="${MAIN}"><sheetViews><sheetView${selected ? ' tabSelected="1"' : ''} workbookViewId="0">` +
    '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/>' +
    '<selection pane="bottomLeft" activeCell="A2" sqref="A2"/></sheetView></sheetViews>' +
    `<cols>${columns.join('')}</cols><sheetData>`
  )
}

/** @param rows number of rows, including the header */
export function sheetTail(columns: number, rows: number): string {
  return `</sheetData><autoFilter ref="A1:${columnLetters(columns - 1)}${rows}"/></worksheet>`
}

const NAME_LENGTH = 31

/** A name that Excel accepts for a sheet: at most 31 characters, without the forbidden ones. */
export function sheetName(given: string | undefined, index: number): string {
  const clean = (given ?? '').replace(/[[\]:*?/\\\x00-\x1f\ufffe\uffff]/g, ' ').replace(/^[' ]+|[' ]+$/g, '')
  // Excel reserves the name History, in upper or lower case.
  const name = clean === '' || /^history$/i.test(clean) ? 'Data' : clean
  const suffix = index === 0 ? '' : ` (${index + 1})`
  const shortened = name.slice(0, NAME_LENGTH - suffix.length)
  // After the cut, half a surrogate pair and apostrophes or blanks at the end are removed.
  return shortened.replace(/[\ud800-\udbff]$/, '').replace(/[' ]+$/, '') + suffix
}

/** Text outside cells: attributes and names of parts. */
function xmlAttribute(text: string): string {
  return text
    .replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`)
    .replace(/[\x00-\x1f\ufffe\uffff]/g, ' ')
}

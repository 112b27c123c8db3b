import { buffer } from 'node:stream/consumers'
import ExcelJS from 'exceljs'
import { ZipFile } from 'yazl'

/** A workbook as ExcelJS writes it, whose first sheet `fill` fills. */
export async function workbook(
  fill: (sheet: ExcelJS.Worksheet, book: ExcelJS.Workbook) => void,
): Promise<Uint8Array> {
  const book = new ExcelJS.Workbook()
  fill(book.addWorksheet('first'), book)
  return new Uint8Array(await book.xlsx.writeBuffer())
}

/**
 * A workbook of one sheet, whose rows are the XML as some other program writes it; `before` are sheets without rows,
 * `after` is XML behind the list of sheets.
 */
export async function raw(
  rows: string,
  name = 'a',
  before: { id: string; type: string }[] = [],
  after = '',
): Promise<Buffer> {
  const zip = new ZipFile()
  const relation = (id: string, type: string, target: string) =>
    `<Relationship Id="${id}" Type="http://x/${type}" Target="${target}"/>`
  const relations = (...all: readonly string[]) =>
    Buffer.from(`<Relationships>${all.join('')}</Relationships>`)
  const sheets = [
    ...before.map(({ id }) => `<sheet name="${id}" id="${id}"/>`),
    `<sheet name="${name}" id="r"/>`,
  ]
  zip.addBuffer(relations(relation('r', 'officeDocument', 'xl/workbook.xml')), '_rels/.rels')
  zip.addBuffer(
    relations(
      relation('r', 'worksheet', 'sheet.xml'),
      ...before.flatMap(({ id, type }) => (type === '' ? [] : [relation(id, type, `${id}.xml`)])),
    ),
    'xl/_rels/workbook.xml.rels',
  )
  zip.addBuffer(
    Buffer.from(`<workbook><sheets>${sheets.join('')}</sheets>${after}</workbook>`),
    'xl/workbook.xml',
  )
  zip.addBuffer(Buffer.from(`<worksheet><sheetData>${rows}</sheetData></worksheet>`), 'xl/sheet.xml')
  zip.end()
  return buffer(zip.outputStream)
}

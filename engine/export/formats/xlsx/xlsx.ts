import type { Vector } from '../../../duckdb/batch.ts'
import { typeName } from '../../../types/index.ts'
import { columnLetters } from '../../../util/column-letters.ts'
import { type EncodedColumn, type EncodeOptions, type Encoder, Output } from '../encoder.ts'
import { boundOf, compileRows, KIND, of, shapeOf, textsOf, write } from '../text/cells.ts'
import { unsigned } from '../text/digits.ts'
import { asText, cellWriters, escapeXml, isXmlText } from './cells.ts'
import { requireColumns } from './limits.ts'
import { SHEET_BREAK, SHEET_ROWS, sheetPacking, widthsOf } from './sheets.ts'
import { STYLE } from './workbook.ts'

/**
 * A workbook. Cells have types: numbers, booleans, and dates from 1900-03-01 to 9999-12-31 with a date format;
 * timestamps with a zone are in UTC and shown with a `Z`. Text is stored in the cell itself and is never a formula.
 * Integers and decimals of more than 15 digits, other dates, `NaN` and infinities are written as text, because as
 * numbers they would lose digits or meaning, and so are all values of `textColumns`. Sheets are `sheetName`,
 * `sheetName (2)` …, each with a bold header that stays in view and has filters. The widths of columns depend on the
 * first rows.
 *
 * @throws EngineError `not_representable` for more than 16,384 columns and, in `batch`, for a text that is too long
 */
export const xlsx = (columns: readonly EncodedColumn[], options: EncodeOptions): Encoder => {
  requireColumns(columns)
  const shape = shapeOf(columns.map((column) => column.type))
  const writeRows = compileRows(() => ({
    // Each cell contains the row's number, which has at most seven digits: `x` and `y` are its bytes, `z` their count.
    before: `
      const position = (first + row) % ${SHEET_ROWS}
      if (position === 0 && first + row > 0) bytes[at++] = ${SHEET_BREAK}
      ${write('<row r="')}
      z = at
      at = unsigned(view, at, position + 2)
      x = view.getInt32(z, true); y = view.getInt32(z + 4, true); z = at - z
      ${write('">')}`,
    cells: columns.map(({ type }, index) => ({
      value:
        `${write(`<c r="${columnLetters(index)}`)} ` +
        'view.setInt32(at, x, true); view.setInt32(at + 4, y, true); at += z; ' +
        (options.textColumns?.has(index)
          ? `at = asText(view, at, ${of('vector', index)}, row, ${shape.kinds[index]}, ${shape.scales[index]})`
          : `at = ${typeName(type)}Cell(view, at, ${of('vector', index)}, row, ${shape.scales[index]}, ` +
            `columns[${index}], ${of('mark', index)}, bytes)`),
    })),
    after: write('</row>'),
    helpers: { ...cellWriters(options.overlong), asText, unsigned, columns },
  }))
  // Set from the first rows when they are encoded, and read when their piece is packed.
  let widths = widthsOf(columns, shape, undefined)
  return {
    begin() {},
    batch(batch, first, out) {
      if (first === 0) widths = widthsOf(columns, shape, batch)
      const plain = Uint8Array.from(batch.vectors, (vector, column) =>
        isPlain(vector, batch.rows, shape.kinds[column]!) ? 1 : 0,
      )
      out.reserve(boundOf(batch, shape, AROUND, (column) => (plain[column] === 1 ? 1 : 7)))
      out.length = writeRows(out.bytes, out.view, out.length, batch.vectors, plain, batch.rows, first)
    },
    end() {},
    packing: sheetPacking({
      header: headerRow(columns),
      columns: columns.length,
      widths: () => widths,
      options,
    }),
  }
}

/** The most bytes of a cell besides its value: reference and element, and its share of the row's element. */
const AROUND = 112

/** Whether no text of a column needs an escape. */
function isPlain(vector: Vector, rows: number, kind: number): boolean {
  return kind < KIND.string || isXmlText(textsOf(vector, rows))
}

function headerRow(columns: readonly EncodedColumn[]): Uint8Array {
  const out = new Output(1024)
  out.append(Buffer.from('<row r="1">'))
  for (const [column, { name }] of columns.entries()) {
    const text = Buffer.from(name)
    const cell = `<c r="${columnLetters(column)}1" s="${STYLE.header}" t="inlineStr"><is><t xml:space="preserve">`
    out.append(Buffer.from(cell))
    out.reserve(7 * text.length)
    out.length = escapeXml(out.bytes, out.view, out.length, text, 0, text.length)
    out.append(Buffer.from('</t></is></c>'))
  }
  out.append(Buffer.from('</row>'))
  return out.written()
}

import { type Batch, isNull, type Vector } from '../../../duckdb/batch.ts'
import { type TypeName, typeName } from '../../../types/index.ts'
import { columnLetters } from '../../../util/column-letters.ts'
import {
  type Container,
  type Deflated,
  deflate,
  type EncodedColumn,
  type EncodeOptions,
  Output,
  type Packing,
} from '../encoder.ts'
import { fixedCell, KIND, type Shape } from '../text/cells.ts'
import {
  CONTENT_TYPES,
  ROOT_RELATIONSHIPS,
  STYLES,
  sheetHead,
  sheetName,
  sheetTail,
  workbook,
  workbookRelationships,
} from './workbook.ts'
import { ZipWriter } from './zip.ts'

/** Rows of data on a sheet: Excel's 1,048,576 without the header. */
export const SHEET_ROWS = 1_048_575

/** The byte between the rows of two sheets; it can't occur in XML. */
export const SHEET_BREAK = 0

/** What a workbook is made of besides its rows. */
export interface SheetParts {
  /** The row with the names of the columns. */
  readonly header: Uint8Array
  /** The number of columns. */
  readonly columns: number
  /** The widths of the columns: from the names alone, and also from the first rows once the first piece is encoded. */
  readonly widths: () => readonly number[]
  readonly options: EncodeOptions
}

/** The parts of a piece, in order: the sheet and the packed bytes of each, and CRC and length before compression. */
interface Note {
  readonly parts: readonly {
    readonly sheet: number
    readonly packed: number
    readonly crc: number
    readonly length: number
  }[]
  /** The widths of the columns, in the note of the first piece only. */
  readonly widths: readonly number[] | undefined
}

/** Deflates pieces in the workers, and puts a workbook around them. */
export function sheetPacking(sheetParts: SheetParts): Packing {
  return {
    pack(piece, first, rows) {
      let sheet = Math.floor(first / SHEET_ROWS)
      const lastSheet = Math.floor((first + rows - 1) / SHEET_ROWS)
      // If a sheet begins with this piece, it starts with a break, which `first` has already taken into account.
      let rest = piece[0] === SHEET_BREAK ? piece.subarray(1) : piece
      const parts: Deflated[] = []
      const placed: Note['parts'][number][] = []
      for (; rest.length > 0; sheet++) {
        const end = sheet < lastSheet ? rest.indexOf(SHEET_BREAK) : rest.length
        const part = deflate(rest.subarray(0, end), false)
        parts.push(part)
        placed.push({ sheet, packed: part.bytes.length, crc: part.crc, length: part.length })
        rest = rest.subarray(end + 1)
      }
      const note: Note = { parts: placed, widths: first === 0 ? sheetParts.widths() : undefined }
      return { bytes: Buffer.concat(parts.map(({ bytes }) => bytes)), note }
    },
    container: () => new Workbook(sheetParts),
  }
}

class Workbook implements Container {
  readonly #zip = new ZipWriter()
  readonly #parts: SheetParts
  #widths: readonly number[]
  #sheets = 0

  constructor(parts: SheetParts) {
    this.#parts = parts
    this.#widths = parts.widths()
  }

  begin(out: Output): void {
    this.#zip.file('[Content_Types].xml', CONTENT_TYPES, out)
    this.#zip.file('_rels/.rels', ROOT_RELATIONSHIPS, out)
  }

  piece(bytes: Uint8Array<ArrayBuffer>, note: unknown, out: Output): undefined {
    const { parts, widths } = note as Note
    this.#widths = widths ?? this.#widths
    let at = 0
    for (const { sheet, packed, crc, length } of parts) {
      while (this.#sheets <= sheet) {
        if (this.#sheets > 0) this.#endSheet(SHEET_ROWS, out)
        this.#beginSheet(out)
      }
      this.#zip.part({ bytes: bytes.subarray(at, at + packed), crc, length }, out)
      at += packed
    }
  }

  end(rows: number, out: Output): void {
    if (this.#sheets === 0) this.#beginSheet(out)
    const onLast = rows - (this.#sheets - 1) * SHEET_ROWS
    this.#endSheet(onLast, out)
    const last = columnLetters(this.#parts.columns - 1)
    const sheets = Array.from({ length: this.#sheets }, (_, index) => ({
      name: sheetName(this.#parts.options.sheetName, index),
      cells: `$A$1:$${last}$${(index === this.#sheets - 1 ? onLast : SHEET_ROWS) + 1}`,
    }))
    this.#zip.file('xl/workbook.xml', workbook(sheets), out)
    this.#zip.file('xl/_rels/workbook.xml.rels', workbookRelationships(sheets.length), out)
    this.#zip.file('xl/styles.xml', STYLES, out)
    this.#zip.end(out)
  }

  #beginSheet(out: Output): void {
    this.#sheets++
    this.#zip.beginEntry(`xl/worksheets/sheet${this.#sheets}.xml`, out)
    const head = Buffer.from(sheetHead(this.#widths, this.#sheets === 1))
    this.#zip.part(deflate(Buffer.concat([head, this.#parts.header]), false), out)
  }

  /** @param rows number of rows of data on the sheet */
  #endSheet(rows: number, out: Output): void {
    this.#zip.part(deflate(Buffer.from(sheetTail(this.#parts.columns, rows + 1)), true), out)
    this.#zip.endEntry(out)
  }
}

/** How many rows are measured; fewer in very wide tables. */
const MOST_ROWS = 200
const MOST_CELLS = 40_000
/** In characters of the default font. */
const WIDEST = 60
const NARROWEST = 6
/** Added to the length of a name, for the filter's button and bold letters, and to that of a value, for margins. */
const BESIDE_NAME = 4
const BESIDE_VALUE = 2
/** Bytes of a text that can affect the width. */
const MEASURED = 4 * WIDEST

/** The least width by type: in narrower columns, later values that are not measured might be shown as `####`. */
const LEAST: Partial<Record<TypeName, number>> = {
  integer: 12,
  double: 12,
  decimal: 12,
  date: 12,
  timestamp: 24,
  timestamptz: 25,
  time: 13,
  uuid: 38,
}

/** How wide columns should be to show their names and the rows of a batch, if there is one. */
export function widthsOf(
  columns: readonly EncodedColumn[],
  { kinds, scales }: Shape,
  batch: Batch | undefined,
): number[] {
  const out = new Output(128)
  const rows = Math.min(batch?.rows ?? 0, MOST_ROWS, Math.ceil(MOST_CELLS / columns.length))
  return columns.map(({ name, type }, column) => {
    let width = Math.max(LEAST[typeName(type)] ?? NARROWEST, shownLength(name) + BESIDE_NAME)
    for (let row = 0; row < rows && width < WIDEST; row++) {
      const vector = batch!.vectors[column]!
      if (isNull(vector, row)) continue
      const length = lengthOf(vector, row, kinds[column]!, scales[column]!, out)
      width = Math.max(width, length + BESIDE_VALUE)
    }
    return Math.min(width, WIDEST)
  })
}

function lengthOf(vector: Vector, row: number, kind: number, scale: number, out: Output): number {
  if (kind < KIND.uuid) return fixedCell(out.view, 0, vector, row, kind, scale)
  const start = vector.offsets[row]!
  const length = vector.offsets[row + 1]! - start
  if (kind === KIND.binary) return Math.ceil(length / 3) * 4
  const { buffer, byteOffset } = vector.bytes
  return shownLength(Buffer.from(buffer, byteOffset + start, Math.min(length, MEASURED)).toString())
}

/** East Asian letters and pictographs, which are twice as wide as others. */
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60]|\p{Extended_Pictographic}/u

/** The width of a text's longest line, in characters. */
function shownLength(text: string): number {
  let longest = 0
  for (const line of text.slice(0, MEASURED).split('\n')) {
    let length = 0
    for (const letter of line) length += WIDE.test(letter) ? 2 : 1
    longest = Math.max(longest, length)
  }
  return longest
}

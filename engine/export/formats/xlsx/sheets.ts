import type { Deflated } from '../../../util/deflate.ts'
import type { Container, EncodedColumn, EncodeOptions, Packing } from '../encoder.ts'
import type { Output } from '../output.ts'
import {
  CONTENT_TYPES,
  ROOT_RELATIONSHIPS,
  SHEET_TAIL,
  STYLES,
  sheetHead,
  sheetName,
  workbook,
  workbookRelationships,
} from './workbook.ts'
import { ZipWriter, zipPart } from './zip.ts'

/** Rows of data on a sheet: Excel's 1,048,576 without the header. */
export const SHEET_ROWS = 1_048_575

/** Stands between two rows where a sheet ends; XML can't hold it. */
export const SHEET_BREAK = 0

/** Where the rows of a piece went, in order: bytes of each part and what they were before. */
type Note = readonly {
  readonly sheet: number
  readonly packed: number
  readonly crc: number
  readonly length: number
}[]

/** Deflates pieces in the workers, and puts a workbook around them. */
export function sheetPacking(
  columns: readonly EncodedColumn[],
  header: Uint8Array,
  options: EncodeOptions,
): Packing {
  return {
    pack(piece, first, rows) {
      let sheet = Math.floor(first / SHEET_ROWS)
      const lastSheet = Math.floor((first + rows - 1) / SHEET_ROWS)
      // A break before the first row has said already what `first` says.
      let rest = piece[0] === SHEET_BREAK ? piece.subarray(1) : piece
      const parts: Deflated[] = []
      const note: Note[number][] = []
      for (; rest.length > 0; sheet++) {
        const end = sheet < lastSheet ? rest.indexOf(SHEET_BREAK) : rest.length
        const part = zipPart(rest.subarray(0, end), false)
        parts.push(part)
        note.push({ sheet, packed: part.bytes.length, crc: part.crc, length: part.length })
        rest = rest.subarray(end + 1)
      }
      return { bytes: joined(parts), note }
    },
    container: () => new Workbook(columns, header, options),
  }
}

/** The parts in memory of their own, which can be transferred: small buffers of Node's share theirs. */
function joined(parts: readonly Deflated[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.bytes.length, 0))
  let at = 0
  for (const { bytes } of parts) {
    all.set(bytes, at)
    at += bytes.length
  }
  return all
}

class Workbook implements Container {
  readonly #zip = new ZipWriter()
  readonly #head: Uint8Array
  readonly #options: EncodeOptions
  #sheets = 0

  constructor(columns: readonly EncodedColumn[], header: Uint8Array, options: EncodeOptions) {
    this.#head = Buffer.concat([Buffer.from(sheetHead(columns)), header])
    this.#options = options
  }

  begin(out: Output): void {
    this.#zip.file('[Content_Types].xml', CONTENT_TYPES, out)
    this.#zip.file('_rels/.rels', ROOT_RELATIONSHIPS, out)
    this.#beginSheet(out)
  }

  piece(bytes: Uint8Array<ArrayBuffer>, note: unknown, out: Output): void {
    let at = 0
    for (const { sheet, packed, crc, length } of note as Note) {
      while (this.#sheets <= sheet) {
        this.#endSheet(out)
        this.#beginSheet(out)
      }
      this.#zip.part({ bytes: bytes.subarray(at, at + packed), crc, length }, out)
      at += packed
    }
  }

  end(_rows: number, out: Output): void {
    this.#endSheet(out)
    const names = Array.from({ length: this.#sheets }, (_, sheet) =>
      sheetName(this.#options.sheetName, sheet),
    )
    this.#zip.file('xl/workbook.xml', workbook(names), out)
    this.#zip.file('xl/_rels/workbook.xml.rels', workbookRelationships(names.length), out)
    this.#zip.file('xl/styles.xml', STYLES, out)
    this.#zip.end(out)
  }

  #beginSheet(out: Output): void {
    this.#sheets++
    this.#zip.beginEntry(`xl/worksheets/sheet${this.#sheets}.xml`, out)
    this.#zip.part(zipPart(this.#head, false), out)
  }

  #endSheet(out: Output): void {
    this.#zip.part(zipPart(Buffer.from(SHEET_TAIL), true), out)
    this.#zip.endEntry(out)
  }
}

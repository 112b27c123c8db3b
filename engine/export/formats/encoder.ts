import type { Batch } from '../../duckdb/batch.ts'
import type { Column } from '../../types/index.ts'
import type { Dialect } from './dialect.ts'
import type { Output } from './output.ts'

export type EncodedColumn = Pick<Column, 'name' | 'type'>

export interface EncodeOptions {
  /** Name of the first sheet (xlsx). */
  readonly sheetName?: string
  /** Compresses what is written, in the threads that encode; the formats that have no compression of their own. */
  readonly coding?: 'gzip'
  /** Writes JSON as OData has it (json). */
  readonly odata?: ODataJson
  /** Columns that stand before the others, each with the number of its row (json). */
  readonly numbers?: RowNumbers
  /** Writes the fields otherwise than RFC 4180 has them (csv, tsv). */
  readonly dialect?: Dialect
  /** Cuts texts that a cell can't hold, with a mark at their end; otherwise they are refused (xlsx). */
  readonly overlong?: 'cut'
}

/** These options alone, of an object that has others, too. */
export function encodeOptions(options: EncodeOptions): EncodeOptions {
  const { sheetName, coding, odata, numbers, dialect, overlong } = options
  return { sheetName, coding, odata, numbers, dialect, overlong }
}

/** Numbers that follow from where a row stands, so that nobody has to read them. */
export interface RowNumbers {
  readonly names: readonly string[]
  /** Of the first row; those behind it follow. */
  readonly first: number
}

/**
 * Where OData's JSON differs from ours, beside `Z` behind every timestamp, base64url, and values of json columns as text
 * (OData JSON Format 4.01, 7.1).
 */
export interface ODataJson {
  /** Integers and decimals in quotes (`IEEE754Compatible`, 3.2). */
  readonly ieee754: boolean
  /** JSON text that stands before a column's member, by the column's name, as `"day@odata.type":"#Date",`. */
  readonly before?: ReadonlyMap<string, string>
  /** Columns of integers that are written as text with the number between these two, by name. */
  readonly within?: ReadonlyMap<string, readonly [before: string, after: string]>
}

/**
 * Writes rows in one format. What `begin`, all batches in order, and `end` append, one after another, is the whole
 * output. Batches may be encoded by several encoders on several threads: an encoder keeps nothing from one batch to
 * the next, `first` tells it where in the output it is.
 */
export interface Encoder {
  begin(out: Output): void
  /** @param first how many rows of the result come before this batch */
  batch(batch: Batch, first: number, out: Output): void
  /** @param rows how many rows there were */
  end(rows: number, out: Output): void
  /** What the whole output is compressed with. */
  readonly coding?: 'gzip'
  /** For formats whose batches need more than to be joined; its container has the beginning and the end then. */
  readonly packing?: Packing
}

/** Compression of pieces in the workers, and a container put around them in order. */
export interface Packing {
  /** Takes what one or more `batch` calls appended; gives what leaves the worker. `first` is that of the first batch. */
  pack(piece: Uint8Array, first: number, rows: number): { bytes: Uint8Array<ArrayBuffer>; note: unknown }
  /** The container; lives on one thread. */
  container(): Container
}

export interface Container {
  begin(out: Output): void
  /** A packed piece with its note, in order. */
  piece(bytes: Uint8Array<ArrayBuffer>, note: unknown, out: Output): void
  end(rows: number, out: Output): void
}

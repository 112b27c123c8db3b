import type { Batch } from '../../duckdb/batch.ts'
import { type OptionsOf, OTHER_FORMATS, pick } from '../../options.ts'
import type { Column } from '../../types/index.ts'
import type { Output } from './output.ts'
import type { Dialect } from './text-dialect.ts'

export type EncodedColumn = Pick<Column, 'name' | 'type'>

export interface EncodeOptions extends OptionsOf<typeof OTHER_FORMATS> {
  /** Name of the first sheet (xlsx). */
  readonly sheetName?: string
  /** Compresses the output, in the threads that encode; only for formats that have no compression of their own. */
  readonly coding?: 'gzip'
  /** Writes JSON in the form that OData prescribes (json). */
  readonly odata?: ODataJson
  /** Integers and decimals in quotes (json), for clients that read numbers as doubles. */
  readonly ieee754?: boolean
  /** Columns before all others that contain the number of the row (json). */
  readonly numbers?: RowNumbers
  /** Writes the fields differently from RFC 4180 (csv, tsv). */
  readonly dialect?: Dialect
  /** What the file says about its rows: texts by their keys (parquet, arrow). */
  readonly metadata?: ReadonlyMap<string, string>
  /** Text before and after the rows, which is compressed together with them; not in formats with pieces of their own. */
  readonly envelope?: Envelope
}

/** Picks these options from an object that may have others, too. */
export function encodeOptions(options: EncodeOptions): EncodeOptions {
  const { sheetName, coding, odata, ieee754, numbers, dialect, metadata, envelope } = options
  const own = { sheetName, coding, odata, ieee754, numbers, dialect, metadata, envelope }
  return { ...own, ...pick(options, OTHER_FORMATS) }
}

/** Text before and after the rows. */
export interface Envelope {
  readonly before: string
  /** @param rows number of rows in the whole result */
  after(rows: number): string
}

/** Row numbers, which the encoder counts itself instead of reading them. */
export interface RowNumbers {
  readonly names: readonly string[]
  /** The number of the first row; each following row has the next number. */
  readonly first: number
}

/**
 * Options for OData's JSON (OData JSON Format 4.01, 7.1). It also always differs from ours in three points: every
 * timestamp has a `Z`, binary is base64url, and values of json columns are texts.
 */
export interface ODataJson {
  /** Integers and decimals in quotes (`IEEE754Compatible`, 3.2). */
  readonly ieee754: boolean
  /** JSON text to write before a column's member, by the column's name, such as `"day@odata.type":"#Date",`. */
  readonly before?: ReadonlyMap<string, string>
  /** Integer columns, by name, whose values are written as text: the number between these two strings. */
  readonly within?: ReadonlyMap<string, readonly [before: string, after: string]>
}

/**
 * Writes rows in one format. The whole output is what `begin` appends, then what `batch` appends for each batch in
 * order, then what `end` appends. Batches may be encoded by several encoders on several threads, so an encoder keeps
 * nothing from one batch to the next; `first` tells it which rows a batch holds.
 */
export interface Encoder {
  begin(out: Output): void
  /** @param first how many rows of the result come before this batch */
  batch(batch: Batch, first: number, out: Output): void
  /** @param rows number of rows in the whole result */
  end(rows: number, out: Output): void
  /** How the whole output is compressed. */
  readonly coding?: 'gzip'
  /** For formats whose batches can't simply be joined. Its container then writes the beginning and the end. */
  readonly packing?: Packing
}

/** Compresses pieces in the workers, and puts them in order into a container. */
export interface Packing {
  /** Packs what one or more `batch` calls appended, before it leaves the worker. `first` is that of the first batch. */
  pack(piece: Uint8Array, first: number, rows: number): { bytes: Uint8Array<ArrayBuffer>; note: unknown }
  /** Makes the container, which is used on one thread only. */
  container(): Container
}

export interface Container {
  begin(out: Output): void
  /**
   * Adds a packed piece, with the note from `pack`. Pieces come in order. If the bytes are to follow what was appended
   * as they are, they are given back, so that they needn't be copied.
   */
  piece(bytes: Uint8Array<ArrayBuffer>, note: unknown, out: Output): Uint8Array | undefined
  end(rows: number, out: Output): void
}

import type { Batch } from '../../duckdb/batch.ts'
import type { Column } from '../../types/index.ts'
import type { Output } from './output.ts'

export type EncodedColumn = Pick<Column, 'name' | 'type'>

export interface EncodeOptions {
  /** Name of the first sheet (xlsx). */
  readonly sheetName?: string
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

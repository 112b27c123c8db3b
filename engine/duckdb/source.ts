import { entryOf, type Statement } from '../types/index.ts'
import type { Arena, Batch } from './batch.ts'
import type { InstanceOptions } from './instance.ts'

/** Statements of users run here, so it never reads beyond the folders of the rows. */
export type SourceOptions = InstanceOptions & Required<Pick<InstanceOptions, 'allowedDirectories'>>

export interface StartOptions {
  readonly signal?: AbortSignal
  /** Average bytes of a row. */
  readonly rowBytes?: number
  /** Whether rows come as they are read, nothing being looked for or sorted: fetching them never takes long. */
  readonly steady?: boolean
  /** Whether all rows fit in memory with ease: they are there when `start` resolves, in fewer calls. */
  readonly whole?: boolean
}

/** Addresses with which a worker fetches chunks by itself: of the result, and of its connection's arrow options. */
export interface Handle {
  readonly result: bigint
  readonly options: bigint
}

/** Where results come from: a DuckDB of its own, reached one way or another. */
export interface Source {
  readonly kind: 'ffi' | 'node'
  /** Statements that have been started and not closed. */
  readonly open: number
  /** Runs a statement until its first rows are there. The caller closes the cursor. */
  start(statement: Statement, options: StartOptions): Promise<Cursor>
  close(): Promise<void>
}

/** A running statement. */
export interface Cursor {
  /**
   * The next rows in order, undefined after the last. One call at a time. Who gets a chunk decodes it, here or in a
   * worker, or discards it, once.
   */
  fetch(): Promise<Chunk | undefined>
  /** Where a worker may fetch the next chunks; `fetch` isn't called meanwhile. */
  readonly handle?: Handle | undefined
  /** Why a fetch in a worker failed. */
  trueError?(error: unknown): Promise<unknown>
  /** Reads a chunk in this thread; the batch holds as long as the arena says. */
  decode(chunk: Chunk, arena: Arena): Batch
  discard(chunk: Chunk): void
  /** Makes what is under way, and all that follows, reject with `cancelled`. */
  interrupt(): void
  /** Interrupts what is under way and frees everything. All chunks must be gone. May be called twice. */
  close(): Promise<void>
}

/** Rows as they came: in DuckDB's memory (with what a worker needs to read them), or decoded already. */
export type Chunk =
  | { readonly kind: 'native'; readonly rows: number; readonly address: bigint; readonly options: bigint }
  | { readonly kind: 'batch'; readonly rows: number; readonly batch: Batch }

/**
 * What DuckDB holds ready of a result unless it is told otherwise (1 MB): enough for the readers not to wait, little
 * enough for a hundred of them.
 */
const READY_KIB = 976
/** Of a result that nothing is known of; texts may be long. */
const UNKNOWN_ROW_BYTES = 256

/**
 * The setting that keeps about a megabyte of a result ready, where it is not the usual one. DuckDB counts 16 bytes for a
 * text however long it is, so the size is given in the bytes that it counts.
 */
export function bufferSetting(
  statement: Statement,
  rowBytes: number = UNKNOWN_ROW_BYTES,
): string | undefined {
  const counted = statement.columns.reduce((sum, { type }) => sum + entryOf(type).bytes, 0)
  const size = Math.round((READY_KIB * counted) / Math.max(rowBytes, 1))
  return size < READY_KIB ? `SET SESSION streaming_buffer_size = '${Math.max(1, size)}KiB'` : undefined
}

/**
 * Compares what a statement declares with the `duckdb_type` numbers of its result, because memory that is read as
 * another type gives no error, only nonsense.
 */
export function checkTypes(statement: Statement, types: readonly number[]): void {
  const { columns } = statement
  if (types.length !== columns.length) {
    throw new TypeError(`The statement returns ${types.length} columns where ${columns.length} are declared`)
  }
  for (const [index, { name, type }] of columns.entries()) {
    if (types[index] !== entryOf(type).duckdb) {
      throw new TypeError(
        `Column ${index + 1} '${name}' is declared ${type}; DuckDB returns its type ${types[index]}`,
      )
    }
  }
}

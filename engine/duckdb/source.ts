import { entryOf, type Statement } from '../types/index.ts'
import type { Arena, Batch } from './batch.ts'
import type { InstanceOptions } from './instance.ts'

/** Users' queries run here, so `allowedDirectories` is required: DuckDB must only read the folders of the rows. */
export type SourceOptions = InstanceOptions & Required<Pick<InstanceOptions, 'allowedDirectories'>>

export interface StartOptions {
  readonly signal?: AbortSignal
  /** Average bytes of a row. */
  readonly rowBytes?: number
  /** Whether rows come straight from the scan, without a filter or a sort, so that fetching them never takes long. */
  readonly steady?: boolean
  /** Whether all rows easily fit in memory. Then `start` waits for all of them, which takes fewer calls. */
  readonly whole?: boolean
}

/** The address of a result, with which a worker can fetch chunks by itself. */
export interface Handle {
  readonly result: bigint
  /** Rows that were fetched already and come first. They belong to the worker. */
  readonly before?: NativeChunk | undefined
  /** The worker gives back the rows that it fetches beyond this number. */
  readonly most?: number
}

/** What a worker has fetched. */
export interface Fetched {
  readonly rows: number
  /** Whether the result is at its end. */
  readonly ended: boolean
  /** What was fetched beyond the most rows. */
  readonly rest?: NativeChunk | undefined
}

/** Where results come from: a DuckDB instance, reached through its C API or its Node package. */
export interface Source {
  readonly kind: 'ffi' | 'node'
  /** Whether cursors can cut chunks. */
  readonly cuts: boolean
  /** Whether statements can name files by addresses below that of `http`. */
  readonly readsHttp: boolean
  /** Statements that have been started and not closed. */
  readonly open: number
  /** Runs a statement until its first rows are there. The caller closes the cursor. */
  start(statement: Statement, options: StartOptions): Promise<Cursor>
  close(): Promise<void>
}

/** A running statement. */
export interface Cursor {
  /**
   * The next rows in order, undefined after the last. One call at a time. The caller must either decode the chunk, here
   * or in a worker, or discard it, and only once.
   */
  fetch(): Promise<Chunk | undefined>
  /** Set if a worker may fetch the next rows; `fetch` must not be called until `fetched` was. */
  handle(): Handle | undefined
  /** Tells what a worker has fetched. */
  fetched?(by: Fetched): void
  /** Leaves a chunk its first `rows` rows, and gives the others as another chunk. Not every source can do this. */
  cut?(chunk: Chunk, rows: number): Chunk
  /** Finds out why a fetch in a worker failed; `error` is what the worker reported. */
  trueError?(error: unknown): Promise<unknown>
  /** Reads a chunk in this thread. With a `reused` arena, the batch is valid only until the next one is read. */
  decode(chunk: Chunk, arena: Arena): Batch
  discard(chunk: Chunk): void
  /** Makes the running call and all later ones reject with `cancelled`. */
  interrupt(): void
  /** Interrupts the running call and frees everything. All chunks must be decoded or discarded. May be called twice. */
  close(): Promise<void>
}

/** Rows as the source gives them: in DuckDB's memory, with the addresses that a worker needs, or already decoded. */
export type Chunk = NativeChunk | { readonly kind: 'batch'; readonly rows: number; readonly batch: Batch }

export interface NativeChunk {
  readonly kind: 'native'
  readonly rows: number
  readonly address: bigint
}

/**
 * How much of a result DuckDB keeps ready by default (1 MB): enough that readers don't wait, and little enough for a
 * hundred results at once.
 */
const READY_KIB = 976
/** Assumed for a result whose row size is not known; its texts may be long. */
const UNKNOWN_ROW_BYTES = 256

/**
 * A setting that makes DuckDB keep about a megabyte of a result ready; undefined if the default does so. DuckDB counts
 * 16 bytes for a text, however long it is, so the size is converted to the bytes that DuckDB counts.
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
 * Compares the columns that a statement declares with the `duckdb_type` numbers of its result, because reading memory
 * as a wrong type gives no error, only nonsense.
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

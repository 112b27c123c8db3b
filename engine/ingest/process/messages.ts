import type { HttpOptions } from '../../duckdb/instance.ts'
import type { PlainError } from '../../util/plain-error.ts'

/** The options with which a reader is started. */
export interface ReaderOptions {
  /** The number of threads of its DuckDB. */
  readonly threads?: number
  /** The most bytes of resident memory that it may use; it is killed if it uses more. */
  readonly memory: number
  /** How parts are encoded. */
  readonly encoding: 'plain' | 'compact'
  /** Its own folder, which exists while the reader works. */
  readonly directory: string
  /** Its DuckDB may open files only below these folders and below its own. */
  readonly folders: readonly string[]
  /** How its DuckDB reads parts over HTTP. */
  readonly http?: HttpOptions | undefined
  /** The program that it runs, without its extension; by default the one that reads uploads. */
  readonly program?: URL | undefined
}

/** The variable of the environment in which they are. */
export const OPTIONS = 'PARQUETRY_READER'

/** A message from the server's process to a child that does jobs. */
export type ToReader =
  | { readonly kind: 'start'; readonly id: number; readonly name: string; readonly input: unknown }
  | { readonly kind: 'abort'; readonly id: number }

/** A message from a child to the server's process. The first one says that it is ready for jobs. */
export type FromReader =
  | { readonly kind: 'usage'; readonly usage: Usage }
  | { readonly kind: 'progress'; readonly id: number; readonly done: { bytes: number; rows?: number } }
  | { readonly kind: 'settled'; readonly id: number; readonly outcome: Outcome; readonly usage: Usage }

/** How a job ended. */
export type Outcome = { readonly result: unknown } | { readonly error: PlainError }

/** The memory and CPU time that a child uses. */
export interface Usage {
  /** The bytes of resident memory at present. */
  readonly memory: number
  /** Seconds of CPU time of all threads since the process began. */
  readonly cpu: number
}

import type { Batch } from '../duckdb/batch.ts'
import { cancelled } from '../duckdb/errors.ts'
import type { Chunk, Cursor, Source } from '../duckdb/source.ts'
import type { Elsewhere, Statement } from '../types/index.ts'
import { TrinoClient } from './client.ts'
import { shownFailure } from './failure.ts'

export interface TrinoSourceOptions {
  /** `http://user:password@host:port/catalog`. */
  readonly url: string
  readonly maxRows: number
  /** After a failure of Trino DuckDB is asked, unless more time has passed by then, in milliseconds. */
  readonly retryWithin: number
  /** Called with each failure of Trino. */
  readonly onFailure: (cause: unknown) => void
}

/** How often Trino was asked, and what came of it. */
export interface TrinoStats {
  readonly answered: number
  /** Failures after which DuckDB was asked, and those after which there was no time left for that. */
  readonly repeated: number
  readonly failed: number
  readonly running: number
}

/** A source that runs some statements in a Trino, and all others in DuckDB. */
export interface TrinoSource extends Source {
  readonly trino: TrinoStats
}

/**
 * Adds a Trino to a source. Statements that have a form for it (`elsewhere`) run there; if that fails, they run in
 * DuckDB after all, as long as there is time.
 */
export function withTrino(duck: Source, options: TrinoSourceOptions): TrinoSource {
  const client = new TrinoClient(options.url)
  const stats = { answered: 0, repeated: 0, failed: 0, running: 0 }

  async function answer(statement: Statement, elsewhere: Elsewhere, signal: AbortSignal | undefined) {
    const types = statement.columns.map(({ type }) => type)
    stats.running++
    try {
      return await client.answer(elsewhere.sql, { types, maxRows: options.maxRows, signal })
    } finally {
      stats.running--
    }
  }

  return {
    kind: duck.kind,
    cuts: duck.cuts,
    readsHttp: duck.readsHttp,
    get open() {
      return duck.open + stats.running
    },
    get trino() {
      return { ...stats }
    },
    async start(statement, startOptions) {
      const { elsewhere } = statement
      if (!elsewhere) return duck.start(statement, startOptions)
      const { signal } = startOptions
      const began = performance.now()
      try {
        const batches = await answer(statement, elsewhere, signal)
        stats.answered++
        return new AnsweredCursor(batches)
      } catch (error) {
        if (signal?.aborted) throw cancelled(signal)
        options.onFailure(error)
        if (performance.now() - began > options.retryWithin) {
          stats.failed++
          throw shownFailure(error, elsewhere.fallible)
        }
        stats.repeated++
        await elsewhere.otherwise(signal)
        return duck.start(statement, startOptions)
      }
    },
    async close() {
      await client.close()
      await duck.close()
    },
  }
}

/** The rows of an answer that is complete. */
class AnsweredCursor implements Cursor {
  readonly #batches: Batch[]
  #interrupted = false

  constructor(batches: readonly Batch[]) {
    this.#batches = [...batches]
  }

  async fetch(): Promise<Chunk | undefined> {
    if (this.#interrupted) throw cancelled(undefined)
    const batch = this.#batches.shift()
    return batch && { kind: 'batch', rows: batch.rows, batch }
  }

  handle(): undefined {
    return undefined
  }

  decode(chunk: Chunk): Batch {
    if (chunk.kind !== 'batch') throw new TypeError('The chunk is of another source')
    return chunk.batch
  }

  discard(): void {}

  interrupt(): void {
    this.#interrupted = true
  }

  async close(): Promise<void> {
    this.#batches.length = 0
  }
}

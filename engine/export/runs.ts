import type { Arena, Batch } from '../duckdb/batch.ts'
import { CHUNK_ROWS, type Chunk, type Cursor, type Fetched, type Handle } from '../duckdb/source.ts'

/** How long a statement waits for the request for its next page, and how many wait at once. */
const WAIT_MS = 5_000
const MOST_WAITING = 8

/**
 * A statement whose rows are handed out in pages. Between two pages it waits: DuckDB then has about a megabyte of rows
 * ready and does nothing.
 */
export class Run {
  readonly #cursor: Cursor
  readonly #onClose: () => void
  /** The rows of a chunk that was cut at the end of a page. */
  #rest: Chunk | undefined
  #ended = false

  /** The cursor must be able to cut chunks, and belongs to the run. */
  constructor(cursor: Cursor, onClose: () => void) {
    this.#cursor = cursor
    this.#onClose = onClose
  }

  /**
   * The next `rows` rows as a cursor of their own.
   * @param onWhole called when all of them were fetched, there may be more, and the cursor was closed; otherwise the
   * cursor closes the run
   */
  page(rows: number, onWhole: () => void | Promise<void>): Cursor {
    const cursor = this.#cursor
    let left = rows
    return {
      fetch: async () => {
        if (left === 0) return undefined
        const chunk = await this.#next(left)
        left -= chunk?.rows ?? 0
        return chunk
      },
      // A worker fetches whole chunks, so it may fetch a few rows more than it was asked for.
      handle: (wanted): Handle | undefined =>
        this.#rest || left < wanted + CHUNK_ROWS ? undefined : cursor.handle(wanted),
      fetched: (by: Fetched) => {
        left -= by.rows
        if (by.ended) this.#ended = true
      },
      ...(cursor.trueError && { trueError: (error: unknown) => cursor.trueError!(error) }),
      decode: (chunk: Chunk, arena: Arena): Batch => cursor.decode(chunk, arena),
      discard: (chunk: Chunk) => cursor.discard(chunk),
      interrupt: () => {
        if (left > 0) cursor.interrupt()
      },
      close: async () => {
        if (left === 0 && !this.#ended) await onWhole()
        else await this.close()
      },
    }
  }

  async #next(most: number): Promise<Chunk | undefined> {
    const chunk = this.#rest ?? (await this.#cursor.fetch())
    this.#rest = undefined
    if (!chunk) this.#ended = true
    if (!chunk || chunk.rows <= most) return chunk
    this.#rest = this.#cursor.cut!(chunk, most)
    return { ...chunk, rows: most }
  }

  async close(): Promise<void> {
    if (this.#rest) this.#cursor.discard(this.#rest)
    this.#rest = undefined
    await this.#cursor.close()
    this.#onClose()
  }
}

/** Runs that wait for the request for their next page, by names that say which rows come next. */
export class WaitingRuns {
  readonly #waiting = new Map<string, { readonly run: Run; readonly timer: NodeJS.Timeout }>()

  /** The run that goes on with these rows, if one waits. The caller then has it for itself. */
  take(name: string): Run | undefined {
    const found = this.#waiting.get(name)
    if (!found) return undefined
    clearTimeout(found.timer)
    this.#waiting.delete(name)
    return found.run
  }

  /** Keeps a run for some seconds. */
  leave(name: string, run: Run): void {
    void this.take(name)?.close()
    const timer = setTimeout(() => void this.take(name)?.close(), WAIT_MS).unref()
    this.#waiting.set(name, { run, timer })
    const [oldest] = this.#waiting.keys()
    if (this.#waiting.size > MOST_WAITING) void this.take(oldest!)?.close()
  }

  async close(): Promise<void> {
    await Promise.all([...this.#waiting.keys()].map((name) => this.take(name)?.close()))
  }
}

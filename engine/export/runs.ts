import type { Arena, Batch } from '../duckdb/batch.ts'
import type { Chunk, Cursor, Fetched, Handle } from '../duckdb/source.ts'

/** A statement whose rows are handed out in pages. It ends when the last of its pages is closed. */
export class Run {
  readonly #cursor: Cursor
  readonly #onClose: () => void
  /** The rows of a chunk that was cut at the end of a page. */
  #rest: Chunk | undefined
  #ended = false
  #pages = 0

  /** The cursor must be able to cut chunks, and belongs to the run. */
  constructor(cursor: Cursor, onClose: () => void) {
    this.#cursor = cursor
    this.#onClose = onClose
  }

  /**
   * The next `rows` rows as a cursor of their own. All rows of the page before must have been fetched.
   * @param onFetched called when all of them were fetched and there may be more
   */
  page(rows: number, onFetched: () => void): Cursor {
    const cursor = this.#cursor
    let left = rows
    this.#pages += 1
    return {
      fetch: async () => {
        if (left === 0) {
          if (!this.#ended) onFetched()
          return undefined
        }
        const chunk = await this.#next(left)
        left -= chunk?.rows ?? 0
        return chunk
      },
      handle: (): Handle | undefined => {
        const rest = this.#rest
        // The rest of a chunk may itself be more than the page.
        if (left === 0 || rest?.kind === 'batch' || (rest && rest.rows > left)) return undefined
        const handle = cursor.handle()
        if (!handle) return undefined
        this.#rest = undefined
        return { ...handle, before: rest, most: left }
      },
      fetched: ({ rows, ended, rest }: Fetched) => {
        left -= rows
        this.#rest = rest
        if (ended) this.#ended = true
      },
      ...(cursor.trueError && { trueError: (error: unknown) => cursor.trueError!(error) }),
      decode: (chunk: Chunk, arena: Arena): Batch => cursor.decode(chunk, arena),
      discard: (chunk: Chunk) => cursor.discard(chunk),
      interrupt: () => {
        if (left > 0) cursor.interrupt()
      },
      close: async () => {
        this.#pages -= 1
        if (this.#pages === 0) await this.#close()
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

  async #close(): Promise<void> {
    if (this.#rest) this.#cursor.discard(this.#rest)
    this.#rest = undefined
    await this.#cursor.close()
    this.#onClose()
  }
}

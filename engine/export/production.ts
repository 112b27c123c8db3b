import { engineError } from '../duckdb/errors.ts'
import type { Chunk, Cursor } from '../duckdb/runner.ts'
import { Pieces } from './collect.ts'
import type { WorkerPool } from './dispatch.ts'
import { PieceEncoder, type Recipe } from './encode.ts'
import type { ExecutorParts } from './executor-parts.ts'
import type { Encoder } from './formats/encoder.ts'

/** The bytes that all exports together may have waiting or being encoded; each may have at least one piece. */
const ALL_BYTES = 32 << 20
/** Up to these sizes, encoding a piece here takes less time than sending it to another thread. */
const FEW_CELLS = 2048
const FEW_BYTES = 64 << 10

/** Taken for the size of a row where it is not known. */
const USUAL_ROW_BYTES = 64

/** Rows that are fetched and encoded. */
export class Production {
  readonly pieces: Pieces
  readonly #id: number
  readonly #cursor: Cursor
  readonly #pool: WorkerPool

  constructor(
    cursor: Cursor,
    { pool, running, memory }: ExecutorParts,
    recipe: Recipe,
    options: { readonly encoder: Encoder; readonly rowBytes: number | undefined },
  ) {
    const { encoder } = options
    const rowBytes = options.rowBytes || USUAL_ROW_BYTES
    const id = pool.newExport()
    this.#id = id
    this.#cursor = cursor
    this.#pool = pool
    const local = new PieceEncoder(encoder, memory)
    const isSmall = (chunks: readonly Chunk[]): boolean => {
      const rows = chunks.reduce((sum, chunk) => sum + chunk.rows, 0)
      return rows * recipe.columns.length <= FEW_CELLS && rows * rowBytes <= FEW_BYTES
    }
    const alone = () => running.size <= 1
    this.pieces = new Pieces(cursor, {
      rowBytes,
      // The first bytes needn't wait for a thread to start.
      encode: async (chunks, first) =>
        isSmall(chunks) || (!pool.warm && first === 0)
          ? local.encode(chunks, first, cursor)
          : pool.encode(id, recipe, chunks, first),
      turn(rows, first) {
        // Packing takes far longer than fetching. If a worker that is still packing were given the next turn, fetching
        // would wait for it.
        if (encoder.packing || first === 0 || !pool.warm) return undefined
        const handle = cursor.handle()
        if (!handle) return undefined
        const { fetched, piece } = pool.turn(id, recipe, handle, rows, first)
        let cause: Promise<unknown> | undefined
        const fail = async (error: unknown): Promise<never> => {
          cause ??= cursor.trueError?.(error) ?? Promise.resolve(error)
          throw engineError(await cause, 'query')
        }
        return { fetched: fetched.catch(fail), piece: piece.catch(fail) }
      },
      alone,
      allowance: (pieceBytes) => {
        const share = ALL_BYTES / Math.max(running.size, 1)
        return Math.max(pieceBytes, Math.min(share, (alone() ? 8 : 4) * pool.size * pieceBytes))
      },
    })
  }

  /** Ends everything under way; a waiting call of `pieces.next` rejects with `reason`. */
  async close(reason: unknown): Promise<void> {
    await this.pieces.stop(reason)
    this.#pool.forget(this.#id)
    await this.#cursor.close()
  }
}

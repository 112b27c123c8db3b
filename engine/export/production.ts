import { engineError } from '../duckdb/errors.ts'
import type { Chunk, Cursor } from '../duckdb/source.ts'
import { Pieces } from './collect.ts'
import type { WorkerPool } from './dispatch.ts'
import { PieceEncoder, type Recipe } from './encode.ts'
import type { Encoder } from './formats/encoder.ts'

/** What all productions of an executor share. */
interface Around {
  readonly pool: WorkerPool
  readonly running: { readonly size: number }
  /** Productions that nobody has asked for yet. */
  readonly waiting: { readonly size: number }
}

/** The bytes that all exports together may have waiting or being encoded; each may have at least one piece. */
const ALL_BYTES = 32 << 20
/** The bytes that are produced before somebody asks for them; none where a single piece is larger. */
const AHEAD_BYTES = 2 << 20
/** Up to these sizes, encoding a piece here takes less time than sending it to another thread. */
const FEW_CELLS = 2048
const FEW_BYTES = 64 << 10

/** Taken for the size of a row where it is not known. */
const USUAL_ROW_BYTES = 64

let nextExport = 0

/** Rows that are fetched and encoded. */
export class Production {
  readonly pieces: Pieces
  readonly #id = nextExport++
  readonly #cursor: Cursor
  readonly #around: Around
  #ahead: boolean

  /** @param ahead whether nobody has asked for the rows yet, see `asked` */
  constructor(
    cursor: Cursor,
    around: Around,
    recipe: Recipe,
    options: { encoder: Encoder; rowBytes: number | undefined; ahead?: boolean },
  ) {
    const { encoder, ahead = false } = options
    const rowBytes = options.rowBytes || USUAL_ROW_BYTES
    const { pool, running, waiting } = around
    const id = this.#id
    this.#cursor = cursor
    this.#around = around
    this.#ahead = ahead
    const local = new PieceEncoder(encoder)
    const alone = () => running.size + waiting.size <= 1
    const isSmall = (chunks: readonly Chunk[]): boolean => {
      const rows = chunks.reduce((sum, chunk) => sum + chunk.rows, 0)
      return rows * recipe.columns.length <= FEW_CELLS && rows * rowBytes <= FEW_BYTES
    }
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
        if (encoder.packing || (first === 0 && !ahead) || !pool.warm) return undefined
        const handle = cursor.handle()
        if (!handle) return undefined
        const { fetched, piece } = pool.turn(id, recipe, handle, rows, first)
        let cause: Promise<unknown> | undefined
        const fail = async (error: unknown): Promise<never> => {
          cause ??= cursor.trueError?.(error) ?? Promise.resolve(error)
          throw engineError(await cause, 'query')
        }
        const told = fetched.then((by) => {
          cursor.fetched?.(by)
          return by
        })
        return { fetched: told.catch(fail), piece: piece.catch(fail) }
      },
      alone,
      allowance: (pieceBytes) => {
        if (this.#ahead) return pieceBytes <= AHEAD_BYTES ? AHEAD_BYTES : 0
        const share = ALL_BYTES / (running.size + waiting.size)
        return Math.max(pieceBytes, Math.min(share, (alone() ? 8 : 4) * pool.size * pieceBytes))
      },
    })
  }

  /** Call this before the first piece is read. */
  asked(): void {
    this.#ahead = false
  }

  /** Ends everything under way; a waiting call of `pieces.next` rejects with `reason`. */
  async close(reason: unknown): Promise<void> {
    await this.pieces.stop(reason)
    this.#around.pool.forget(this.#id)
    await this.#cursor.close()
  }
}

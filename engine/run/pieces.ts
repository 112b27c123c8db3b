import type { Piece } from './piece.ts'
import type { Chunk, Cursor } from './source.ts'

/** A piece is large enough to be worth a message between threads, and small enough that several may wait. */
const PIECE_BYTES = 256 << 10

export interface PieceOptions {
  /** Encodes chunks, which are its own from then on; `first` is the number of rows before them. */
  readonly encode: (chunks: readonly Chunk[], first: number) => Promise<Piece>
  /** How many bytes may wait or be in work, given the size of a piece. */
  readonly allowance: (pieceBytes: number) => number
  /** A guess at the bytes of a row, until there are figures. */
  readonly rowBytes: number
}

/**
 * The pieces of a result, in order: fetches chunks one after another, gathers them, has them encoded side by side,
 * and hands the pieces out in the order of the rows. While as much waits as may wait nothing is fetched, and no
 * thread is held.
 */
export class Pieces {
  readonly #cursor: Cursor
  readonly #options: PieceOptions
  readonly #queue: Promise<Piece>[] = []
  readonly #inWork = new Set<Promise<unknown>>()
  readonly #fetching: Promise<void>
  #group: Chunk[] = []
  #groupRows = 0
  #first = 0
  #rowBytes: number
  #waitingBytes = 0
  #handedBytes = 0
  #state: 'running' | 'ended' | 'stopped' = 'running'
  #failure: unknown
  #wakeFetching = () => {}
  #wakeReader = () => {}

  constructor(cursor: Cursor, options: PieceOptions) {
    this.#cursor = cursor
    this.#options = options
    this.#rowBytes = options.rowBytes
    this.#fetching = this.#fetchAll()
  }

  /** The next piece; undefined after the last. One call at a time; the piece before counts as waiting until then. */
  async next(): Promise<Piece | undefined> {
    this.#waitingBytes -= this.#handedBytes
    this.#handedBytes = 0
    this.#wakeFetching()
    for (;;) {
      if (this.#failure !== undefined) throw this.#failure
      const head = this.#queue.shift()
      if (head) {
        const piece = await head
        if (this.#failure !== undefined) throw this.#failure
        this.#handedBytes = piece.bytes.length
        return piece
      }
      if (this.#state !== 'running') return undefined
      if (this.#group.length > 0 && this.#inWork.size === 0) this.#dispatch()
      else await new Promise<void>((resolve) => (this.#wakeReader = resolve))
    }
  }

  /** Ends everything under way; a `next` that waits rejects with `reason`. Resolves when no chunk is left. */
  async stop(reason: unknown): Promise<void> {
    this.#cursor.interrupt()
    this.#fail(reason)
    await this.#fetching
    await Promise.allSettled(this.#inWork)
  }

  async #fetchAll(): Promise<void> {
    try {
      while (this.#state === 'running') {
        if (this.#waitingBytes >= this.#options.allowance(this.#pieceBytes())) {
          await new Promise<void>((resolve) => (this.#wakeFetching = resolve))
          continue
        }
        const chunk = await this.#cursor.fetch()
        if (chunk) {
          this.#group.push(chunk)
          this.#groupRows += chunk.rows
        }
        // While nobody encodes, a small piece now is better than a large one later.
        if (!chunk || this.#inWork.size === 0 || this.#groupRows * this.#rowBytes >= PIECE_BYTES)
          this.#dispatch()
        if (!chunk) break
      }
      if (this.#state === 'running') this.#state = 'ended'
      this.#wakeReader()
    } catch (error) {
      this.#fail(error)
    } finally {
      for (const chunk of this.#group) this.#cursor.discard(chunk)
      this.#group = []
    }
  }

  #dispatch(): void {
    const chunks = this.#group
    if (chunks.length === 0 || this.#state !== 'running') return
    const rows = this.#groupRows
    const guess = rows * this.#rowBytes
    this.#group = []
    this.#groupRows = 0
    this.#waitingBytes += guess
    const encoding = this.#options.encode(chunks, this.#first)
    const done = encoding.then(
      (piece) => {
        this.#inWork.delete(done)
        this.#waitingBytes += piece.bytes.length - guess
        if (rows > 0) this.#rowBytes = Math.max(piece.bytes.length / rows, 1)
      },
      (error) => {
        this.#inWork.delete(done)
        this.#fail(error)
      },
    )
    this.#inWork.add(done)
    this.#first += rows
    this.#queue.push(encoding)
    this.#wakeReader()
  }

  #fail(error: unknown): void {
    if (this.#state === 'stopped') return
    this.#state = 'stopped'
    this.#failure = error
    this.#wakeFetching()
    this.#wakeReader()
  }

  /** A piece is at least a chunk, whose rows DuckDB chooses. */
  #pieceBytes(): number {
    return Math.max(PIECE_BYTES, 2048 * this.#rowBytes)
  }
}

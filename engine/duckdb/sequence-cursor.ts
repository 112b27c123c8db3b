import type { Statement } from '../types/index.ts'
import type { Arena, Batch } from './batch.ts'
import type { Chunk, Cursor } from './runner.ts'

/** The rows of several statements with the same columns, one statement after the other. */
export class SequenceCursor implements Cursor {
  readonly #following: Statement[]
  readonly #start: (statement: Statement) => Promise<Cursor>
  #current: Cursor
  #interrupted = false

  /** @param first is running already */
  constructor(
    first: Cursor,
    following: readonly Statement[],
    start: (statement: Statement) => Promise<Cursor>,
  ) {
    this.#current = first
    this.#following = [...following]
    this.#start = start
  }

  async fetch(): Promise<Chunk | undefined> {
    for (;;) {
      const chunk = await this.#current.fetch()
      const next = chunk ? undefined : this.#following.shift()
      if (!next) return chunk
      await this.#current.close()
      this.#current = await this.#start(next)
      if (this.#interrupted) this.#current.interrupt()
    }
  }

  /** Workers fetch from one statement only. */
  handle(): undefined {
    return undefined
  }

  decode = (chunk: Chunk, arena: Arena): Batch => this.#current.decode(chunk, arena)
  discard = (chunk: Chunk): void => this.#current.discard(chunk)

  interrupt(): void {
    this.#interrupted = true
    this.#current.interrupt()
  }

  close(): Promise<void> {
    return this.#current.close()
  }
}

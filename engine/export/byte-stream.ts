import { cancelled } from '../duckdb/errors.ts'

/** What belongs to the bytes of a stream. */
export interface StreamFacts {
  readonly rows: () => number
  readonly size?: number | undefined
  readonly coding?: 'gzip' | undefined
  readonly matches?: Promise<number | undefined> | number | undefined
  readonly recycle?: ((bytes: Uint8Array) => void) | undefined
  /** The streams that are neither read to their end nor closed; this one is among them as long as it is. */
  readonly running?: Set<AsyncDisposable> | undefined
  /** Ends what produces the bytes, so that a waiting call for the next of them rejects. */
  readonly close?: (() => Promise<void>) | undefined
}

/** What the rows of a stream are read from. */
export interface Guard extends Disposable {
  /** Resolves when it is known that what is read is as it was written; undefined where that is known. */
  readonly whole: (() => Promise<unknown>) | undefined
  /** The error as users see it. */
  explain(error: unknown): unknown
}

/**
 * Bytes in order. The reader pulls them: no more than some buffers are produced ahead. They can be read once. Leaving a
 * loop over the stream closes it.
 */
export class ByteStream implements AsyncIterable<Uint8Array>, AsyncDisposable {
  /** How many bytes there are in all, if that is known before the first of them. */
  readonly size: number | undefined
  /** How the bytes are compressed, if compression was asked for and the format has none of its own. */
  readonly coding: 'gzip' | undefined
  #chunks: AsyncGenerator<Uint8Array, void, undefined>
  #facts: StreamFacts
  #ended = false
  #closing: Promise<void> | undefined

  constructor(chunks: AsyncGenerator<Uint8Array, void, undefined>, facts: StreamFacts) {
    this.#chunks = chunks
    this.#facts = facts
    this.size = facts.size
    this.coding = facts.coding
    facts.running?.add(this)
  }

  /** Rows in the bytes handed out so far. */
  rows(): number {
    return this.#facts.rows()
  }

  /**
   * How many rows match the filter, before `top`, `last` and `skip`. Undefined if that is not known without reading
   * more, unless it was asked for (`counted`).
   */
  get matches(): Promise<number | undefined> {
    return Promise.resolve(this.#facts.matches)
  }

  /**
   * The reader calls this, once per handed-out array, when it no longer needs the bytes: their memory is then written
   * to again. The call is optional; it makes exports of many megabytes quicker.
   */
  recycle(bytes: Uint8Array): void {
    this.#facts.recycle?.(bytes)
  }

  /** Adds facts, and the guard of what the bytes are read from, which is disposed with them. */
  guard(guard: Guard, facts: Pick<StreamFacts, 'matches'>): this {
    const { close } = this.#facts
    this.#chunks = guarded(this.#chunks, guard)
    this.#facts = {
      ...this.#facts,
      ...facts,
      async close() {
        await close?.()
        guard[Symbol.dispose]()
      },
    }
    return this
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array, void, undefined> {
    return {
      next: async () => {
        // The end of a stream that was closed before must not look like the end of its bytes.
        if (this.#closing && !this.#ended) throw cancelled(undefined)
        try {
          const result = await this.#chunks.next()
          this.#ended = result.done === true
          if (result.done) await this[Symbol.asyncDispose]()
          return result
        } catch (error) {
          await this[Symbol.asyncDispose]()
          throw error
        }
      },
      return: async () => {
        await this[Symbol.asyncDispose]()
        return { done: true, value: undefined }
      },
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    await this.#facts.close?.()
    this.#facts.running?.delete(this)
    await this.#chunks.return()
  }
}

/**
 * The same items, and errors as users see them. If there is something to wait for, the last item is given when that
 * has resolved, and not if it rejects.
 */
export async function* guarded<Item>(
  items: AsyncIterable<Item>,
  guard: Guard,
): AsyncGenerator<Item, void, undefined> {
  const { whole } = guard
  try {
    if (!whole) return yield* items
    const held: Item[] = []
    for await (const item of items) {
      held.push(item)
      if (held.length > 1) yield held.shift()!
    }
    await whole()
    yield* held
  } catch (error) {
    throw guard.explain(error)
  } finally {
    guard[Symbol.dispose]()
  }
}

/** Bytes that are all there, as a stream. */
export function wholeStream(
  bytes: Uint8Array,
  rows: number,
  facts: Pick<StreamFacts, 'coding' | 'matches'>,
  signal?: AbortSignal,
): ByteStream {
  let handedOut = 0
  async function* once() {
    if (signal?.aborted) throw cancelled(signal)
    handedOut = rows
    if (bytes.length > 0) yield bytes
  }
  return new ByteStream(once(), { rows: () => handedOut, size: bytes.length, ...facts })
}

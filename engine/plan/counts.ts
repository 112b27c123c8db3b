import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { cancelled } from '../duckdb/errors.ts'
import { SingleFlight } from '../util/shared.ts'
import type { Plan } from './plan.ts'

/** What a count depends on, besides the rows. */
type Counted = Pick<Plan, 'filter'> & Partial<Pick<Plan, 'steps' | 'stepParameters'>>

/** The most counts that are remembered. Each takes some hundred bytes, because its key is a digest of the filter. */
const MOST = 1_000

/**
 * Remembers how many rows match a filter. Rows with the same identity never change, so a count stays true. When there
 * are too many counts, the least recently used ones are forgotten. If a count is asked for while it is already being
 * read, the second caller waits for the same reading.
 */
export class Counts {
  readonly #known = new LRUCache<string, number>({ max: MOST })
  readonly #reading = new SingleFlight<number>()

  /**
   * The remembered count, or the one that `read` finds.
   * @throws EngineError `cancelled` where the signal is aborted; whatever `read` throws
   */
  async of(
    identity: string,
    plan: Counted,
    read: (signal: AbortSignal) => Promise<number>,
    signal?: AbortSignal,
  ): Promise<number> {
    const key = keyOf(identity, plan)
    const known = this.#known.get(key)
    if (known !== undefined) return known
    try {
      const count = await this.#reading.run(key, read, signal)
      this.#known.set(key, count)
      return count
    } catch (error) {
      throw signal?.aborted ? cancelled(signal) : error
    }
  }

  /** Remembers a count that a query found while it read rows, if it found one, and gives it back. */
  set(identity: string, plan: Counted, count: number | undefined): number | undefined {
    if (count !== undefined) this.#known.set(keyOf(identity, plan), count)
    return count
  }
}

function keyOf(identity: string, { filter, steps, stepParameters }: Counted): string {
  return createHash('sha256')
    .update(JSON.stringify([identity, steps, stepParameters, filter?.sql, filter?.parameters]))
    .digest('base64')
}

import { createHash } from 'node:crypto'
import type { Plan } from './plan/plan.ts'

/** Most counts that are remembered; some hundred bytes each, because a digest stands for the filter. */
const MOST = 1_000

/**
 * How many rows matched filters that were counted before. Rows that have the same identity never change, so a count
 * stays true; the ones that nobody asked for longest are forgotten.
 */
export class Counts {
  readonly #known = new Map<string, number>()

  /** The remembered count, or that which `read` finds. */
  async of(identity: string, { filter }: Pick<Plan, 'filter'>, read: () => Promise<number>): Promise<number> {
    const key = createHash('sha256')
      .update(JSON.stringify([identity, filter?.sql, filter?.parameters]))
      .digest('base64')
    const count = this.#known.get(key) ?? (await read())
    // A map keeps the order of insertion: the first key is the one that was asked for longest ago.
    this.#known.delete(key)
    this.#known.set(key, count)
    if (this.#known.size > MOST) this.#known.delete(this.#known.keys().next().value!)
    return count
  }
}

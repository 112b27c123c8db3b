import { EngineError } from '../errors.ts'
import { runtimeFilterError } from '../filter/index.ts'
import type { ReadEstimate } from '../plan/parts.ts'
import type { Plan } from '../plan/plan.ts'
import { Users } from '../util/shared.ts'

/**
 * What a query holds while it reads rows. Dispose it when they have been read. This class is for rows that are always
 * there; others extend it.
 */
export class Reading implements Disposable {
  readonly plan: Plan
  /** Resolves when all that was read was compared with what was written, which no answer may precede. */
  whole: (() => Promise<unknown>) | undefined
  readonly #users = new Users(() => this.release())
  readonly #hiding: boolean

  /** @param hiding whether errors must not hold values of rows */
  constructor(plan: Plan, hiding = false) {
    this.plan = plan
    this.#hiding = hiding
  }

  /**
   * Makes everything readable that DuckDB reads for the plan. Gives the plan with the names under which DuckDB finds it.
   * @param estimate what is read of the parts, if they need not be there as files
   * @throws EngineError `storage_damaged`, `storage_unavailable`, `storage_full`, `cancelled`
   */
  async ready(_estimate: ReadEstimate | undefined, _signal: AbortSignal | undefined): Promise<Plan> {
    return this.plan
  }

  /** The error as users see it: a value of the data can make a correct query fail. */
  explain(error: unknown): unknown {
    if (error instanceof EngineError) return error
    const { fallible } = this.plan
    const values = fallible === undefined ? undefined : runtimeFilterError(error, fallible, this.#hiding)
    return values ?? this.unreadable(error) ?? error
  }

  /** Turns an error of DuckDB about stored rows into one of ours; undefined for all other errors. */
  protected unreadable(_error: unknown): EngineError | undefined {
    return undefined
  }

  /** Keeps everything readable until the returned function is called, even if the reading is disposed before. */
  hold(): () => void {
    return this.#users.enter()
  }

  readonly [Symbol.dispose] = this.#users.enter()

  protected release(): void {}
}

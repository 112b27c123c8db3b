import {
  choose,
  chooseCount,
  type OutputKind,
  type ReadingStrategy,
  type Strategy,
} from '../export/choose.ts'
import type { Plan } from '../plan/plan.ts'
import type { QueryContext } from '../query-context.ts'
import type { BytesOptions, RunOptions } from '../run-options.ts'
import { prepare, type Run } from './prepare.ts'
import type { RemoteQuery } from './remote.ts'

/** The runs of a planned query, and the number of matching rows that any of them has found. */
export class Runs {
  readonly #plan: Plan
  readonly #context: QueryContext
  readonly #remote: RemoteQuery | undefined
  #count: number | undefined

  /** @param remote the other database that may be asked, if there is one */
  constructor(plan: Plan, context: QueryContext, remote: RemoteQuery | undefined) {
    this.#plan = plan
    this.#context = context
    this.#remote = remote
  }

  /** How an output would be made. */
  choose(wish: OutputKind, { paged, encoding }: BytesOptions = {}): Strategy {
    return choose(this.#plan, wish, {
      matches: this.#count,
      paged,
      encoding,
      remote: this.#remote !== undefined,
    })
  }

  /** Runs a strategy. If that fails, what it reads is released; else `use` sees to that. */
  async run<T>(strategy: ReadingStrategy, { signal }: RunOptions, use: (run: Run) => Promise<T>): Promise<T> {
    const reading = this.#context.reading(strategy.plan)
    const options = { signal, remote: this.#remote, count: () => this.count({ signal }) }
    try {
      return await use(await prepare(strategy, reading, this.#context, options))
    } catch (error) {
      reading[Symbol.dispose]()
      throw reading.explain(error)
    }
  }

  /** Rows that match the filter. They are counted once, also if other queries of the same version ask. */
  async count({ signal }: RunOptions): Promise<number> {
    const { counts, identity } = this.#context
    const known = this.#plan.matches ?? this.#count
    this.#count = known ?? (await counts.of(identity, this.#plan, (joint) => this.#read(joint), signal))
    return this.#count
  }

  /** Remembers a count that was found while rows were read, if one was found. */
  found(count: number | undefined): void {
    const { counts, identity } = this.#context
    this.#count ??= counts.set(identity, this.#plan, count)
  }

  /** How many rows match, if that is known or wanted. */
  matches({ counted, signal }: BytesOptions): Promise<number | undefined> {
    if (!counted) return Promise.resolve(this.#plan.matches ?? this.#count)
    const counting = this.count({ signal })
    // The reading may fail first; nobody waits for this then.
    counting.catch(() => {})
    return counting
  }

  #read(signal: AbortSignal): Promise<number> {
    const strategy = chooseCount(this.#plan, this.#remote !== undefined)
    return this.run(strategy, { signal }, async ({ executor, statement, start, reading }) => {
      using _ = reading
      const [[count]] = (await executor.rows(statement, start)) as [[bigint]]
      await reading.whole
      return Number(count)
    })
  }
}

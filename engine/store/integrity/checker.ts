import { setTimeout as wait } from 'node:timers/promises'
import type { Part } from '../../catalog/records.ts'
import { EngineError } from '../../errors.ts'
import type { StoreContext } from '../context.ts'
import type { Integrity } from './integrity.ts'

/** How often and how fast stored rows are read again, to find files that have decayed on disk. */
export interface CheckOptions {
  /** The most bytes read in a second; 0 turns the checks off. */
  readonly bytesPerSecond: number
  /** After how many days an undamaged part is checked again. */
  readonly everyDays: number
}

export const CHECKS: CheckOptions = { bytesPerSecond: 8 * 2 ** 20, everyDays: 7 }

/** How long to wait after all due parts were checked, before looking for due parts again. */
const PAUSE_MS = 30_000
const DAY_MS = 86_400_000

/** Checks parts in the background, one after the other, and begins with those that were never checked. */
export class Checker {
  readonly #context: StoreContext
  readonly #integrity: Integrity
  readonly #options: CheckOptions
  readonly #stop = new AbortController()
  #running: Promise<void> | undefined

  constructor(context: StoreContext, integrity: Integrity, options: CheckOptions) {
    this.#context = context
    this.#integrity = integrity
    this.#options = options
  }

  start(): void {
    if (this.#options.bytesPerSecond > 0) this.#running ??= this.#run()
  }

  /** Resolves when nothing is read any more. */
  async end(): Promise<void> {
    this.#stop.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop
    while (!signal.aborted) {
      try {
        await this.#checkAll()
      } catch (cause) {
        if (signal.aborted) return
        this.#context.events.tell('check_failed', 'Stored rows could not be checked; tried again later.', {
          cause,
        })
      }
      await wait(PAUSE_MS, undefined, { signal, ref: false }).catch(() => {})
    }
  }

  /** Checks the parts that are due. */
  async #checkAll(): Promise<void> {
    const before = new Date(Date.now() - this.#options.everyDays * DAY_MS).toISOString()
    let last: number | undefined
    for (;;) {
      const part = await this.#context.parts.toCheck(before)
      // The same part again means that its check could not be recorded, for example on a full disk. Try again later.
      if (!part || part.id === last) return
      last = part.id
      await this.#checkOne(part)
    }
  }

  async #checkOne(part: Part): Promise<void> {
    const { bytesPerSecond } = this.#options
    try {
      await this.#integrity.check(part, { signal: this.#stop.signal, bytesPerSecond })
    } catch (error) {
      // The part was removed meanwhile, because no version needs it any more.
      if ((error as NodeJS.ErrnoException).code === 'ENOENT' && !(await this.#context.parts.has(part.id)))
        return
      throw error instanceof EngineError
        ? error
        : new Error(`part ${part.id} could not be read`, { cause: error })
    }
  }
}

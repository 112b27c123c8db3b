import { setTimeout as delay } from 'node:timers/promises'
import { type Engine, EngineError } from '../../engine/index.ts'
import type { Sources, StoredQuery } from './sources.ts'

/** How often a process looks whether tables have changed. */
const WATCH_MS = 250
/** How often it is listed which queries are stored. Those that are new have just been run. */
const LIST_MS = 10_000

interface Parts {
  readonly engine: Engine
  readonly sources: Sources
  readonly now: () => Date
  /** Called with failures. */
  readonly warn: (message: string, cause?: unknown) => void
}

/**
 * Notices when a table of a query changes whose rows are stored on change. Looking costs next to nothing, because records
 * are cached until they change, also by other nodes.
 */
export class TableWatch {
  readonly #engine: Engine
  readonly #sources: Sources
  readonly #now: () => Date
  #queries: readonly StoredQuery[] = []
  #listed = 0
  /** The versions of each query's tables, by the id of its dataset. */
  #versions = new Map<number, string>()

  readonly #warn: Parts['warn']

  constructor({ engine, sources, now, warn }: Parts) {
    this.#engine = engine
    this.#sources = sources
    this.#now = now
    this.#warn = warn
  }

  /** Looks until the signal is aborted. @param onDue called when queries have become due */
  async run(onDue: () => void, signal: AbortSignal): Promise<void> {
    for (let pause = WATCH_MS; ; ) {
      // That it was aborted is seen next.
      await delay(pause, undefined, { signal, ref: false }).catch(() => {})
      if (signal.aborted) return
      try {
        if ((await this.look()) > 0) onDue()
        pause = WATCH_MS
      } catch (cause) {
        if (signal.aborted) return
        this.#warn('Looking whether tables of stored queries have changed failed.', cause)
        pause = LIST_MS
      }
    }
  }

  /** Makes queries due whose tables have changed since the last look, and gives how many these are. */
  async look(): Promise<number> {
    const now = this.#now()
    if (now.getTime() - this.#listed >= LIST_MS) {
      this.#queries = await this.#sources.storedOnChange()
      this.#listed = now.getTime()
    }
    const before = this.#versions
    this.#versions = new Map()
    for (const { datasetId, tables } of this.#queries) {
      const versions = await Promise.all(tables.map((id) => this.#versionOf(id)))
      this.#versions.set(datasetId, String(versions))
    }
    const changed = [...this.#versions].filter(([id, versions]) => (before.get(id) ?? versions) !== versions)
    return changed.length === 0
      ? 0
      : this.#sources.hasten(
          changed.map(([id]) => id),
          now,
        )
  }

  async #versionOf(datasetId: number): Promise<number | undefined> {
    try {
      return (await (await this.#engine.dataset(datasetId)).record()).version
    } catch (error) {
      if (error instanceof EngineError && error.code === 'not_found') return undefined
      throw error
    }
  }
}

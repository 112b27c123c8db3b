import { isAttached } from '../catalog/records.ts'
import type { ColumnProfile } from '../ingest/profile.ts'
import { Semaphore } from '../util/semaphore.ts'
import type { WorkContext } from './commits.ts'

/** What the values of each column of a version are like. */
export interface Profile {
  readonly version: number
  readonly rowCount: number
  readonly columns: readonly ColumnProfile[]
}

/** Profiles of versions, each made once, in the background, and kept with its version. */
export class Profiles {
  readonly #context: WorkContext
  readonly #making = new Set<number>()
  /** Why the profile of a version could not be made, until somebody has been told. */
  readonly #failures = new Map<number, unknown>()
  readonly #turns = new Semaphore(1)
  readonly #giveUp = new AbortController()

  constructor(context: WorkContext) {
    this.#context = context
  }

  /** Makes no more, not even those under way: thousands of columns take a minute. */
  giveUp(): void {
    this.#giveUp.abort()
  }

  /**
   * The profile of the current version; undefined while it is being made.
   * @throws EngineError `not_found`; once, the error with which making it failed
   */
  async get(datasetId: number): Promise<Profile | undefined> {
    const { storage, background, events } = this.#context
    const stored = await storage.database.get<{ id: number; profile: string | null }>(
      'SELECT v.id, v.profile FROM datasets d JOIN versions v ON v.id = d.version_id WHERE d.id = ?',
      datasetId,
    )
    if (stored?.profile) return JSON.parse(stored.profile)
    const failure = stored && this.#failures.get(stored.id)
    if (failure !== undefined) {
      this.#failures.delete(stored!.id)
      throw failure
    }
    if (this.#making.has(datasetId)) return undefined
    this.#making.add(datasetId)
    background.later(
      async () => {
        try {
          using _ = await this.#turns.enter()
          if (!this.#giveUp.signal.aborted) await this.#make(datasetId)
        } finally {
          this.#making.delete(datasetId)
        }
      },
      events.failure('profile_failed', 'The profile could not be made.', { dataset: datasetId }),
    )
    return undefined
  }

  async #make(datasetId: number): Promise<void> {
    const { storage, members, integrity } = this.#context
    using lease = await members.take(datasetId)
    const { id, number, rows, columns, parts } = lease.version
    try {
      using pinned = await integrity.pinWhole(parts)
      const { jobs } = await this.#context.ingestor()
      const profiles = await jobs.profile(
        { parts: pinned.files, columns, attached: isAttached(parts) },
        { signal: this.#giveUp.signal },
      )
      const profile = { version: number, rowCount: rows, columns: profiles }
      await storage.database.run('UPDATE versions SET profile = ? WHERE id = ?', JSON.stringify(profile), id)
    } catch (error) {
      if (this.#giveUp.signal.aborted) return
      this.#failures.set(id, error)
      throw error
    }
  }
}

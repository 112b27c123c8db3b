import { hostname } from 'node:os'
import { DEAD_MS, NodeTables } from '../../catalog/postgres/nodes.ts'
import type { NumberedVersion, RemovedPart } from '../../catalog/versions.ts'
import { EngineError } from '../../errors.ts'
import { within } from '../../util/in-flight.ts'
import type { StoreContext } from '../context.ts'
import { removeDeadMarks } from './mark.ts'
import { type ClusterStats, type Job, type Lease, Leases, type Membership } from './membership.ts'

const BEAT_MS = 10_000
/** How long figures may wait for the database. */
const COUNTED_MS = 2_000

/** After how many milliseconds jobs are due again that come by themselves. */
const AGAIN: Partial<Record<Job['kind'], number>> = {
  gc: 60_000,
  // It lists everything in the store, which takes minutes and costs money.
  sweep: 86_400_000,
}

/**
 * The nodes of a cluster. Each writes down every ten seconds that it lives and which versions it reads; what it has not
 * told yet is covered by the time for which versions stay. One that is silent for too long is dead: the others take up
 * its jobs and remove what it left.
 */
export class Nodes implements Membership {
  readonly #context: StoreContext
  readonly #work: (job: Job) => Promise<void>
  readonly #looksForJobs: boolean
  readonly #id: string
  readonly #tables: NodeTables
  readonly #leases = new Leases()
  #timer: NodeJS.Timeout | undefined
  /** When the last heartbeat that succeeded was begun. */
  #heard = 0
  #isSilent = false
  #beating: Promise<void> = Promise.resolve()
  #working: Promise<void> | undefined
  /** The jobs that this node is just trying to take. */
  readonly #assigning = new Set<string>()

  /** @param looksForJobs a command does only what it brings about itself */
  constructor(context: StoreContext, work: (job: Job) => Promise<void>, looksForJobs: boolean) {
    this.#context = context
    this.#work = work
    this.#looksForJobs = looksForJobs
    this.#id = context.storage.mark.id
    this.#tables = new NodeTables(context.storage.database, context.keep)
  }

  async start(): Promise<void> {
    // What crashed processes of this machine have left there, nobody else can remove.
    await removeDeadMarks(this.#context.storage.layout)
    await this.#beat()
    if (this.#looksForJobs) {
      for (const kind of ['gc', 'sweep']) await this.#tables.expect({ kind, subject: 0 })
    }
    const { database } = this.#context.storage
    this.#timer = setInterval(() => database.unattended(() => this.#tick()), BEAT_MS).unref()
  }

  get readers(): number {
    return this.#leases.total
  }

  async cluster(): Promise<ClusterStats> {
    const counted = await within(COUNTED_MS, this.#tables.count(), () => new Error('late')).catch(() => ({}))
    return {
      heartbeatAge: (performance.now() - this.#heard) / 1000,
      waiting: this.#context.storage.database.waiting,
      ...counted,
    }
  }

  /** @throws EngineError `not_found`; `catalog_unavailable` if the others take this node for dead by now */
  async take(datasetId: number): Promise<Lease> {
    this.#requireHeard()
    return this.#leases.take(datasetId, await this.#context.versions.current(datasetId))
  }

  /** @throws EngineError `catalog_unavailable` as `take` does */
  async takeNumbered(datasetId: number, wanted: NumberedVersion): Promise<Lease | undefined> {
    this.#requireHeard()
    await this.#tables.prolong(datasetId, wanted.number)
    const version = await this.#context.versions.numbered(datasetId, wanted)
    return version && this.#leases.take(datasetId, version)
  }

  #requireHeard(): void {
    if (performance.now() - this.#heard > DEAD_MS) {
      throw new EngineError(
        'catalog_unavailable',
        'This node could not reach the database for a while. It reads again as soon as it can. Try again in a moment.',
      )
    }
  }

  async assign(job: Job): Promise<void> {
    const name = `${job.kind} ${job.subject}`
    if (AGAIN[job.kind] !== undefined || this.#assigning.has(name)) return
    this.#assigning.add(name)
    let isMine: boolean
    try {
      isMine = await this.#tables.begin(job, this.#id)
    } catch (error) {
      // Another node is just taking it, and perhaps was cut off while it did.
      if (!(error instanceof EngineError && error.code === 'locked')) throw error
      isMine = false
    } finally {
      this.#assigning.delete(name)
    }
    if (isMine) await this.#do(job)
  }

  async forgetDead(): Promise<number> {
    await removeDeadMarks(this.#context.storage.layout)
    return this.#tables.forgetDead()
  }

  async reclaim(remove: (part: RemovedPart) => Promise<boolean>): Promise<void> {
    await this.#beat()
    await this.#tables.reclaim()
    for (const part of await this.#tables.givenUp()) {
      if (await remove(part)) await this.#tables.forgetPart(part.id)
    }
  }

  end(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  async leave(): Promise<void> {
    await this.#beating
    await this.#working
    await this.#tables.leave(this.#id)
  }

  #tick(): void {
    const { events } = this.#context
    this.#beating = this.#beat().then(
      () => {
        this.#isSilent = false
      },
      (cause) => {
        const message = 'Telling the other nodes that this one is running failed.'
        if (!this.#isSilent) events.tell('heartbeat_failed', message, { cause })
        this.#isSilent = true
      },
    )
    if (!this.#looksForJobs || this.#working) return
    this.#working = this.#lookForJobs()
      .catch(events.failure('tidy_failed', 'Background work of the cluster failed.'))
      .finally(() => {
        this.#working = undefined
      })
  }

  async #beat(): Promise<void> {
    const begun = performance.now()
    await this.#tables.beat(this.#id, `${hostname()} ${process.pid}`, this.#leases.versions)
    this.#heard = begun
  }

  async #lookForJobs(): Promise<void> {
    if (await this.#tables.areDead()) await this.#tables.forgetDead()
    for (;;) {
      const job = this.#timer && ((await this.#tables.takeDue(this.#id)) as Job | undefined)
      if (!job) return
      await this.#do(job)
    }
  }

  async #do(job: Job): Promise<void> {
    try {
      await this.#work(job)
    } finally {
      await this.#tables.done(job, this.#id, AGAIN[job.kind])
    }
  }
}

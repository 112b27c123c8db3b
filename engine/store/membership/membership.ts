import type { RemovedPart } from '../../catalog/parts.ts'
import type { Version } from '../../catalog/records.ts'
import type { NumberedVersion } from '../../catalog/versions.ts'

/** Work that nobody waits for, and that one process at a time does. `subject` is the id of a dataset; 0 stands for all. */
export interface Job {
  readonly kind: 'merge' | 'gc' | 'sweep'
  readonly subject: number
}

export type RemoveParts = (parts: readonly RemovedPart[]) => Promise<RemovedPart[]>

/** How a cluster is doing, as one node sees it. */
export interface ClusterStats {
  /** Seconds since this node last said that it lives. */
  readonly heartbeatAge: number
  /** Statements and transactions of this node that wait for a connection to the database. */
  readonly waiting: number
  /**
   * Nodes that live, and jobs that have been due for longer than a node needs to look for them; undefined if the database
   * does not answer.
   */
  readonly nodes?: number
  readonly overdueJobs?: number
}

/**
 * What the processes that share a catalog know of each other: which of them live, which versions each reads, and who
 * does what. On one machine they hold locks on files, over several they write down regularly that they live.
 */
export interface Membership {
  /** Registers this process; call it before anything else. @throws EngineError `catalog_unavailable` */
  start(): Promise<void>
  /** How many readers there are in this process. */
  readonly readers: number
  /** Figures of a cluster; undefined on one machine. */
  cluster(): Promise<ClusterStats | undefined>
  /** Keeps the version that a dataset shows now from being removed. @throws EngineError `not_found` */
  take(datasetId: number): Promise<Lease>
  /** Keeps a version that a dataset may no longer show from being removed. Undefined if it is no longer there. */
  takeNumbered(datasetId: number, version: NumberedVersion): Promise<Lease | undefined>
  /** Says that there is work. It is done before this resolves, unless another process does it. */
  assign(job: Job): Promise<void>
  /** Forgets processes that have died; gives how many. */
  forgetDead(): Promise<number>
  /**
   * Removes from the catalog what is needed by nobody: versions that no dataset shows and no process reads, and parts of
   * no version.
   * @param remove removes the bytes of such parts; gives those of which it could
   * @param datasetId whose versions have to be looked at; 0 stands for all
   */
  reclaim(remove: RemoveParts, datasetId: number): Promise<void>
  /** Takes no new reader. Queries that end later may still release their versions. */
  end(): void
  /** Removes what the catalog knows of this process. */
  leave(): Promise<void>
}

/** A version that stays on disk until the lease is disposed. Disposing it twice is harmless. */
export interface Lease extends Disposable {
  readonly version: Version
}

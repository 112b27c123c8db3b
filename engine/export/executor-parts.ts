import type { Runner } from '../duckdb/runner.ts'
import type { WorkerPool } from './dispatch.ts'
import type { PieceMemory } from './encode.ts'
import type { WaitingPages } from './pages.ts'

/** What all exports of an executor share. */
export interface ExecutorParts {
  readonly runner: Runner
  readonly pool: WorkerPool
  /** For what is encoded in this thread. */
  readonly memory: PieceMemory
  readonly waiting: WaitingPages
  /** The exports that have begun and not ended. */
  readonly running: Set<AsyncDisposable>
  /** Where files are written that are sent and removed. */
  readonly directory: string
}

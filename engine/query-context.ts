import type { Counts } from './counts.ts'
import type { EngineError } from './errors.ts'
import type { Executor } from './export/index.ts'
import type { PlanSource, Scan } from './plan/plan.ts'
import type { Reach } from './plan/reach.ts'
import type { TrinoTable } from './trino/index.ts'

/** What a query needs: rows, an executor, and a function that gives back what it holds at the end. */
export interface QueryContext {
  readonly source: PlanSource
  readonly executor: () => Promise<Executor>
  /**
   * Makes sure that everything a plan reads stays readable until `release`; undefined where it always is. Gives the scan
   * with the names under which DuckDB finds it. Without `reach`, all of it is read as files.
   */
  readonly ready?:
    | ((scan: Scan, reach: Reach | undefined, signal: AbortSignal | undefined) => Promise<Scan>)
    | undefined
  /**
   * Makes sure that everything a plan reads is as it was written; undefined where that is known. It goes on beside the
   * reading, and no result is complete before it.
   */
  readonly whole?: ((scan: Scan, signal: AbortSignal | undefined) => Promise<void> | undefined) | undefined
  /** The rows as Trino sees them, if there is one. */
  readonly trino?: TrinoTable | undefined
  /** Identifies the rows: two contexts with the same text have the same rows. */
  readonly identity: string
  readonly release?: () => void
  /** Remembers counts beyond this query. */
  readonly counts: Counts
  /** Turns an error of DuckDB about the stored rows into one of ours; undefined for all other errors. */
  readonly readable?: (error: unknown) => EngineError | undefined
}

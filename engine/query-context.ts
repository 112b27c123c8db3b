import type { QueryExecutor } from './export/index.ts'
import type { Counts } from './plan/counts.ts'
import type { Plan, PlanSource } from './plan/plan.ts'
import type { Reading } from './reading/reading.ts'
import type { RemoteTable } from './reading/remote.ts'
import type { DatasetWords } from './types/file-metadata.ts'
import type { Column } from './types/index.ts'

/** What a query needs. */
export interface QueryContext {
  readonly source: PlanSource
  /** Identifies the rows: two contexts with the same text have the same rows. */
  readonly identity: string
  /** What is written down about the dataset, and about the columns of the source. */
  readonly words?: { readonly dataset: DatasetWords; readonly columns: readonly Column[] } | undefined
  /** Whether the same query can give other rows the next time. */
  readonly volatile?: boolean
  readonly executor: () => Promise<QueryExecutor>
  /** Remembers counts beyond this query. */
  readonly counts: Counts
  /** Begins to read what a plan needs. */
  readonly reading: (plan: Plan) => Reading
  /** The ids of the datasets that saved queries below read with the rights of others. */
  readonly borrowed?: readonly number[] | undefined
  /** Called when the query is disposed, perhaps more than once. */
  readonly release?: () => void
  /** Whether parts may have to be fetched before they can be read. */
  readonly fetches?: boolean
  /** The rows as another database sees them, if there is one. */
  readonly remote?: RemoteTable | undefined
}

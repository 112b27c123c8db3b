import type { Column } from '../types/index.ts'
import type { PartStatistics } from '../types/statistics.ts'

export interface Repository {
  readonly id: number
  readonly name: string
  readonly description: string
  /** ISO 8601, UTC. */
  readonly createdAt: string
  readonly updatedAt: string
}

export interface DatasetRecord {
  readonly id: number
  readonly name: string
  readonly description: string
  readonly repositoryId: number
  /** Grows by one with each change of rows or columns; 0 before the first change. */
  readonly version: number
  readonly rowCount: number
  /** Bytes on disk. */
  readonly bytes: number
  readonly columns: readonly Column[]
  readonly createdAt: string
  readonly updatedAt: string
}

/** What a dataset is called. */
export type DatasetName = Pick<DatasetRecord, 'id' | 'name' | 'description' | 'repositoryId'>

/** A dataset in a list. Its columns are left out if there are many. */
export interface DatasetSummary extends Omit<DatasetRecord, 'columns'> {
  readonly columnCount: number
  readonly columns?: readonly Column[]
}

/** A Parquet file of a version. */
export interface Part {
  readonly id: number
  readonly rows: number
  readonly bytes: number
  /** Bytes of the uncompressed values; the average width of a row is computed from it. */
  readonly rawBytes: number
  /** The hash of the file's bytes; null if an older program wrote the part and its hash was not computed yet. */
  readonly hash: string | null
  /** null if an older program wrote the part. */
  readonly statistics: PartStatistics | null
}

/** What a dataset holds at one moment; immutable. */
export interface Version {
  readonly id: number
  readonly number: number
  readonly columns: readonly Column[]
  readonly rows: number
  readonly bytes: number
  readonly rawBytes: number
  /** ISO 8601, UTC. */
  readonly createdAt: string
  /** In the order of the rows. */
  readonly parts: readonly Part[]
}

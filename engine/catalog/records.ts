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
  /** Grows by one with each change of rows or columns; 0 before any. */
  readonly version: number
  readonly rowCount: number
  /** Bytes on disk. */
  readonly bytes: number
  readonly columns: readonly Column[]
  readonly createdAt: string
  readonly updatedAt: string
}

/** A dataset in a list: its columns are left out where they are many. */
export interface DatasetSummary extends Omit<DatasetRecord, 'columns'> {
  readonly columnCount: number
  readonly columns?: readonly Column[]
}

/** A Parquet file of a version. */
export interface Part {
  readonly id: number
  readonly rows: number
  readonly bytes: number
  /** Bytes of the values unpacked, from which the average width of a row comes. */
  readonly rawBytes: number
  /** Of the file's bytes; null in a part of an older program that was not read for it yet. */
  readonly hash: string | null
  /** null in a part of an older program. */
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

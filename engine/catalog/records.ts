import type { DeclaredColumn } from '../types/columns.ts'
import type { Column, PartStatistics } from '../types/index.ts'
import type { Metadata, MetadataChanges } from './metadata.ts'

export interface Repository {
  readonly id: number
  readonly name: string
  readonly description: string
  /** ISO 8601, UTC. */
  readonly createdAt: string
  readonly updatedAt: string
}

export interface RepositoryChanges {
  readonly name?: string
  readonly description?: string
}

/**
 * How long a version stays after another took its place: as long as it is among the newest `versions`, the current one
 * included, and was replaced less than `days` days ago.
 */
export interface Keep {
  readonly versions: number
  readonly days: number
}

export interface DatasetRecord extends Metadata {
  readonly id: number
  readonly name: string
  readonly description: string
  readonly repositoryId: number
  /** Grows by one with each change of rows or columns; 0 before the first change. */
  readonly version: number
  /** null for a saved query: its rows are counted when they are read. */
  readonly rowCount: number | null
  /** Bytes on disk. */
  readonly bytes: number
  /** The query whose rows these are; absent where the dataset has rows of its own. */
  readonly query?: QueryDefinition
  readonly columns: readonly Column[]
  /** The columns by which a row is known: no two rows have the same values in all of them. Absent without a key. */
  readonly key?: readonly string[]
  /**
   * How the last upload was read, each option as it is written in HTTP: a later one that does not name it is read so, too.
   * Absent where no option was given or chosen.
   */
  readonly uploadOptions?: Readonly<Record<string, string>>
  /** How long past versions are kept; absent where that is as the engine keeps them unless told otherwise. */
  readonly keep?: Keep
  readonly createdAt: string
  readonly updatedAt: string
}

/** What a dataset is created with. */
export interface NewDataset {
  readonly repositoryId: number
  readonly name: string
  readonly description?: string
  readonly columns?: readonly DeclaredColumn[]
  readonly key?: readonly string[]
  readonly query?: SavedQuery
  /** Who creates it, for its list of versions. */
  readonly by?: string
}

/** A query as users write it down: a SELECT, or options of a query of one dataset by their names in HTTP without `$`. */
export type QueryDefinition =
  | { readonly sql: string; readonly dataset?: undefined }
  | { readonly sql?: undefined; readonly dataset: number; readonly [option: string]: unknown }

/** A query that a dataset stands for. */
export interface SavedQuery {
  readonly given: QueryDefinition
  /** The datasets that it names, in the order of its text: they stay the same if others take their names. */
  readonly tables: readonly number[]
  /** With whose rights they are read, as the engine's caller names accounts. */
  readonly by?: string | undefined
}

/** Fields of a dataset to change; null removes one, so that it is as where it was never set. */
export interface DatasetChanges extends MetadataChanges {
  readonly name?: string
  readonly description?: string | null
  readonly repositoryId?: number
  readonly keep?: Partial<Keep> | null
}

/** What a dataset is called. */
export type DatasetName = Pick<DatasetRecord, 'id' | 'name' | 'description' | 'repositoryId'>

/** A dataset in a list. Its columns are left out if there are many. */
export interface DatasetSummary extends Omit<DatasetRecord, 'columns'> {
  readonly columnCount: number
  readonly columns?: readonly Column[]
}

/** What may make a version. */
export const OPERATIONS = [
  'create',
  'replace',
  'append',
  'upsert',
  'edit',
  'delete',
  'columns',
  'refresh',
  'restore',
] as const

export type Operation = (typeof OPERATIONS)[number]

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
  /** Set for a file that was there before and stays where it is. Its `hash` is that of its footer. */
  readonly attached?: AttachedFile
}

/** A Parquet file that others wrote and keep, as it was when it was attached. */
export interface AttachedFile {
  /** The folder that was attached: absolute, or `s3://bucket/prefix`. */
  readonly folder: string
  /** Its path below the folder: by this, errors name it. */
  readonly name: string
  /** When it was last changed, in nanoseconds since 1970; of an object its ETag. */
  readonly changed: string
  /** A hash of its columns' names and types, in their order. */
  readonly form: string
  /** Whether its schema numbers columns, as Iceberg's writers do; undefined where an older program attached it. */
  readonly hasIds?: boolean
}

/**
 * What a part is made of whose rows are those of another one, in order, but for some: a change has set these, or left
 * them out where the part has fewer rows.
 */
export interface Origin {
  /** The hash of the other part. */
  readonly hash: string
  /** The changed rows' numbers in the other part, from 0, in order. */
  readonly rows: readonly number[]
}

/** What is needed to find the bytes of a part and to check them. */
export type PartBytes = Pick<Part, 'id' | 'bytes' | 'hash' | 'attached'>

/** Whether the rows are in files that others keep, so that they are only read. A version has such files alone, or none. */
export function isAttached(parts: readonly Pick<Part, 'attached'>[]): boolean {
  return parts[0]?.attached !== undefined
}

/** Whether the rows are in an object that others keep in a bucket. */
export function isInBucket({ attached }: Pick<Part, 'attached'>): boolean {
  return attached?.folder.startsWith('s3://') === true
}

/** What a dataset holds at one moment; immutable. */
export interface Version {
  readonly id: number
  readonly number: number
  readonly columns: readonly Column[]
  /** The names of the key's columns; none without a key. */
  readonly key: readonly string[]
  readonly rows: number
  readonly bytes: number
  readonly rawBytes: number
  /** The number of the version to whose rows others have only been appended since; null where that is not known. */
  readonly appendedSince: number | null
  /** ISO 8601, UTC. */
  readonly createdAt: string
  /** In the order of the rows. */
  readonly parts: readonly Part[]
}

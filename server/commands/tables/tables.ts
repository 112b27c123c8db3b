import type { Readable } from 'node:stream'
import type { Format, UploadFormat } from '../../../engine/index.ts'
import type { OptionsOf, QUERY, REPLACING, VERSION, WRITING } from '../../../engine/options.ts'
import type {
  Dataset,
  DatasetPatch,
  DatasetSummary,
  Member,
  NewSource,
  Repository,
  Source,
  Version,
  WrittenDataset,
} from '../../client/index.ts'

/** Which rows are exported, and how they are written. */
export type ExportOptions = OptionsOf<typeof QUERY & typeof WRITING & typeof VERSION>

/** The most versions that are listed at once. */
export const MOST_VERSIONS = 1000

export type RepositoryLine = Pick<Repository, 'id' | 'name'>
export type DatasetLine = Pick<DatasetSummary, 'id' | 'name' | 'repositoryId' | 'rowCount'>

/** The file or standard input that is imported. */
export interface ImportedFile {
  readonly from: { readonly file: string; readonly bytes: number } | Readable
  readonly format: UploadFormat
  readonly gzip: boolean
  /** How the file is to be read. */
  readonly options: OptionsOf<typeof REPLACING>
}

export type WriteMode = 'append' | 'replace' | 'upsert'

export interface WriteOptions {
  /** The columns by which an upsert finds rows. */
  readonly on: readonly string[] | undefined
  readonly note: string | undefined
  readonly signal: AbortSignal
  /** Called with the bytes that were read or sent, and the rows if their number is known. */
  readonly onProgress: (done: { readonly bytes: number; readonly rows?: number }) => void
}

export type Written = Pick<WrittenDataset, 'id' | 'rowCount' | 'version' | 'columns' | 'options'>

/** The tables that commands work on: in a data directory, or on a server. */
export interface Tables {
  repositories(): Promise<readonly RepositoryLine[]>
  datasets(): Promise<readonly DatasetLine[]>
  createRepository(fields: { name: string; description: string }): Promise<RepositoryLine>
  members(repositoryId: number): Promise<readonly Member[]>
  setMember(repositoryId: number, account: string, permission: Member['permission']): Promise<unknown>
  removeMember(repositoryId: number, account: string): Promise<unknown>
  createDataset(fields: { name: string; repositoryId: number }): Promise<{ readonly id: number }>
  deleteDataset(id: number): Promise<void>
  dataset(id: number): Promise<Dataset>
  /** Changes what is written down about a dataset. */
  describe(id: number, fields: DatasetPatch): Promise<void>
  write(id: number, mode: WriteMode, file: ImportedFile, options: WriteOptions): Promise<Written>
  /** The versions of a dataset that are kept, newest first. */
  versions(id: number): Promise<readonly Version[]>
  /** Makes an earlier version of a dataset current again. */
  restore(id: number, version: number, note: string | undefined): Promise<{ readonly version: number }>
  /** The series or the file that a dataset follows, and the state of its refreshes; undefined if it follows none. */
  source(id: number): Promise<Source | undefined>
  follow(id: number, fields: NewSource): Promise<Source>
  unfollow(id: number): Promise<void>
  /** Creates a dataset whose rows are those of a SELECT. */
  saveQuery(fields: {
    name: string
    repositoryId: number
    query: { sql: string }
  }): Promise<{ readonly id: number }>
  /** The rows of a SELECT over datasets. */
  sql(
    text: string,
    format: Format,
    options: Pick<ExportOptions, 'top' | 'skip' | keyof typeof WRITING>,
    signal: AbortSignal,
  ): AsyncIterable<Uint8Array>
  read(id: number, format: Format, options: ExportOptions, signal: AbortSignal): AsyncIterable<Uint8Array>
}

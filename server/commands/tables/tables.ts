import type { Readable } from 'node:stream'
import type { Format, UploadFormat } from '../../../engine/index.ts'
import type { CHANGE, OptionsOf, QUERY, REPLACING, VERSION, WRITING } from '../../../engine/options.ts'
import type {
  ApiKey,
  Dataset,
  DatasetPatch,
  DatasetSummary,
  ManagedAccount,
  Member,
  NewSource,
  Repository,
  Source,
  Version,
  WrittenDataset,
} from '../../client/index.ts'

/** Which rows are exported, and how they are written. */
export type ExportOptions = OptionsOf<typeof QUERY & typeof WRITING & typeof VERSION>

type SqlOptions = Pick<ExportOptions, 'top' | 'skip' | keyof typeof WRITING>
type Change = OptionsOf<typeof CHANGE>

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

export interface WriteOptions extends Change {
  /** The columns by which an upsert finds rows. */
  readonly on: readonly string[] | undefined
  readonly signal: AbortSignal
  /** Called with the bytes that were read or sent, and the rows if their number is known. */
  readonly onProgress: (done: { readonly bytes: number; readonly rows?: number }) => void
}

export type Written = Pick<WrittenDataset, 'id' | 'rowCount' | 'version' | 'columns' | 'options'>

/** The part of the client that commands use, which a data directory offers as well. */
export interface Tables {
  readonly repositories: {
    list(): Promise<readonly RepositoryLine[]>
    create(fields: { name: string; description: string }): Promise<RepositoryLine>
    members(id: number): Promise<readonly Member[]>
    setMember(id: number, account: string, permission: Member['permission']): Promise<unknown>
    removeMember(id: number, account: string): Promise<unknown>
  }
  readonly datasets: {
    list(): Promise<readonly DatasetLine[]>
    get(id: number): Promise<Dataset>
    create(fields: {
      name: string
      repositoryId: number
      query?: { sql: string }
    }): Promise<{ readonly id: number }>
    patch(id: number, fields: DatasetPatch): Promise<unknown>
    delete(id: number): Promise<unknown>
    versions(id: number, page: { readonly limit: number }): Promise<readonly Version[]>
    restore(id: number, version: number, change: Change): Promise<{ readonly version: number }>
    source(id: number): Promise<Source | undefined>
    follow(id: number, fields: NewSource): Promise<Source>
    unfollow(id: number): Promise<unknown>
  }
  readonly accounts: {
    list(): Promise<readonly ManagedAccount[]>
    create(account: { name: string; plan: string }): Promise<ApiKey>
    update(name: string, changes: { plan?: string; disabled?: boolean }): Promise<unknown>
    rotateKey(name: string): Promise<ApiKey>
  }
  write(id: number, mode: WriteMode, file: ImportedFile, options: WriteOptions): Promise<Written>
  /** The rows of a SELECT over datasets. */
  sql(text: string, format: Format, options: SqlOptions, signal: AbortSignal): AsyncIterable<Uint8Array>
  read(id: number, format: Format, options: ExportOptions, signal: AbortSignal): AsyncIterable<Uint8Array>
}

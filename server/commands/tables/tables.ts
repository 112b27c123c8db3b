import type { Readable } from 'node:stream'
import type { Dialect, Format, UploadFormat } from '../../../engine/index.ts'
import type { Source as Following } from '../../client/index.ts'
import type { GivenOptions } from '../../transfers/upload-options.ts'

/** Query options as typed on the command line; `$select` and `$orderby` are passed on as text. */
export interface Asked {
  readonly filter?: string
  readonly apply?: string
  readonly compute?: string
  readonly search?: string
  readonly select?: string
  readonly orderby?: string
  readonly skip?: number
  readonly top?: number
  readonly last?: number
}

/** Options of the export format. */
export interface Manner extends Dialect {
  readonly overlong?: 'cut' | undefined
}

export interface RepositoryLine {
  readonly id: number
  readonly name: string
}

export interface DatasetLine extends RepositoryLine {
  readonly repositoryId: number
  readonly rowCount: number
}

/** The file or standard input that is imported. */
export interface Source {
  readonly from: { readonly file: string; readonly bytes: number } | Readable
  readonly format: UploadFormat
  readonly gzip: boolean
  /** How the file is to be read. */
  readonly manner: GivenOptions
}

export interface WriteOptions {
  readonly signal: AbortSignal
  /** Called with the bytes that were read or sent, and the rows if their number is known. */
  readonly onProgress: (done: { readonly bytes: number; readonly rows?: number }) => void
}

export interface Written extends DatasetLine {
  readonly version: number
  readonly columns: readonly unknown[]
}

/** The tables that commands work on: in a data directory, or on a server. */
export interface Tables {
  repositories(): Promise<readonly RepositoryLine[]>
  datasets(): Promise<readonly DatasetLine[]>
  createRepository(fields: { name: string; description: string }): Promise<RepositoryLine>
  createDataset(fields: { name: string; repositoryId: number }): Promise<{ readonly id: number }>
  deleteDataset(id: number): Promise<void>
  write(id: number, mode: 'append' | 'replace', source: Source, options: WriteOptions): Promise<Written>
  /** The series that a dataset follows, and the state of its refreshes; undefined if it follows none. */
  source(id: number): Promise<Following | undefined>
  follow(id: number, fields: Pick<Following, 'series' | 'start' | 'every'>): Promise<Following>
  unfollow(id: number): Promise<void>
  read(id: number, format: Format, asked: Asked & Manner, signal: AbortSignal): AsyncIterable<Uint8Array>
}

import type { Readable } from 'node:stream'
import type { Dialect, Format, UploadFormat } from '../../../engine/index.ts'
import type { Source as Following } from '../../client/index.ts'

/** A question as it is typed: the texts of `$select` and `$orderby` go on as they are. */
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

/** How the format is written, as the options of a download say it. */
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

/** A file, or the standard input, that becomes rows. */
export interface Source {
  readonly from: { readonly file: string; readonly bytes: number } | Readable
  readonly format: UploadFormat
  readonly gzip: boolean
}

export interface WriteOptions {
  readonly signal: AbortSignal
  /** Bytes read or sent, and rows as far as they are known. */
  readonly onProgress: (done: { readonly bytes: number; readonly rows?: number }) => void
}

export interface Written extends DatasetLine {
  readonly version: number
  readonly columns: readonly unknown[]
}

/** The tables that commands work on: those of a data directory, or of a server elsewhere. */
export interface Tables {
  repositories(): Promise<readonly RepositoryLine[]>
  datasets(): Promise<readonly DatasetLine[]>
  createRepository(fields: { name: string; description: string }): Promise<RepositoryLine>
  createDataset(fields: { name: string; repositoryId: number }): Promise<{ readonly id: number }>
  deleteDataset(id: number): Promise<void>
  write(id: number, mode: 'append' | 'replace', source: Source, options: WriteOptions): Promise<Written>
  /** Which series a dataset follows, and how that goes; undefined where it follows none. */
  source(id: number): Promise<Following | undefined>
  follow(id: number, fields: Pick<Following, 'series' | 'start' | 'every'>): Promise<Following>
  unfollow(id: number): Promise<void>
  read(id: number, format: Format, asked: Asked & Manner, signal: AbortSignal): AsyncIterable<Uint8Array>
}

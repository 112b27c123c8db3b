import type { ColumnType } from '../../../client/index.ts'
import type { Field } from '../csv.ts'
import type { Dialect } from './dialect.ts'

/** What the beginning of a file shows before the upload. */
export interface Preview {
  readonly columns: readonly PreviewColumn[]
  readonly rows: readonly (readonly Field[])[]
  /** The number of rows in the file, if it can be known from the part that was read. */
  readonly rowCount: number | undefined
  /** Whether the types come from the file itself rather than from its first values. */
  readonly typed: boolean
  /** The number of rows from which the types were inferred. */
  readonly lookedAt: number
}

/** How a file is read, as far as its format leaves a choice. */
export interface Reading {
  /** Only for csv and tsv. */
  readonly dialect?: Dialect | undefined
  /** The name of a sheet of a workbook; the first one by default. */
  readonly sheet?: string | undefined
}

export interface PreviewColumn {
  readonly name: string
  readonly type: ColumnType
}

/** An error in the file. The message is shown to the user. */
export class PreviewError extends Error {
  override readonly name = 'PreviewError'
}

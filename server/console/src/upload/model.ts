import type { ColumnType } from '../../../client/index.ts'
import type { Field } from '../csv.ts'

/** What the beginning of a file tells, before anything is sent. */
export interface Preview {
  readonly columns: readonly PreviewColumn[]
  readonly rows: readonly (readonly Field[])[]
  /** All rows of the file, where its beginning or its footer gives their number. */
  readonly rowCount: number | undefined
  /** Whether types are the file's own, or a forecast from the rows looked at. */
  readonly typed: boolean
  /** Rows from which types were forecast. */
  readonly lookedAt: number
}

export interface PreviewColumn {
  readonly name: string
  readonly type: ColumnType
}

/** What is wrong with a file, in a sentence. */
export class PreviewError extends Error {
  override readonly name = 'PreviewError'
}

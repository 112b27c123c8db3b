import type { RunOptions } from '../../duckdb/duck.ts'
import type { Column } from '../../types/index.ts'
import type { PartStatistics } from '../../types/statistics.ts'
import type { Cut } from '../cut.ts'
import type { Described, IngestRequest, IngestResult, PartSize, ReadRequest } from '../request.ts'

/** Identifies a job among those of one reader's process. */
export type JobId = number

/** The signal and the callback that a job gets in addition to its input. */
export interface JobHooks extends RunOptions {
  readonly onProgress?: IngestRequest['onProgress']
}

/** The request for an upload in the form in which it is sent to a reader. */
export type IngestInput = Omit<ReadRequest, 'signal' | 'onProgress' | 'early'> & {
  /** The job of the same reader that began to scan the file. */
  readonly early?: JobId
}
export type ScanInput = Pick<IngestRequest, 'file' | 'format' | 'existing' | 'declared'>

/** The jobs of a reader by name: inputs and results are plain data. */
export interface Jobs {
  readonly ingest: (input: IngestInput) => Described<IngestResult>
  readonly scanEarly: (input: ScanInput) => void
  readonly rewrite: (input: RewriteInput) => Described<PartSize>
  readonly cut: (input: CutInput) => Described<PartSize>[]
  readonly verify: (input: { readonly part: string }) => { rows: number; columns: string[] }
  readonly statistics: (input: {
    readonly part: string
    readonly columns: readonly Column[]
  }) => PartStatistics
}

export interface RewriteInput {
  readonly parts: readonly string[]
  readonly target: string
  readonly from: readonly Column[]
  readonly to: readonly Column[]
}

export interface CutInput {
  readonly part: string
  readonly cuts: readonly Cut[]
  readonly columns: readonly Column[]
  readonly rawBytes: number
}

export type JobName = keyof Jobs
export type Input<Name extends JobName> = Parameters<Jobs[Name]>[0]
export type Result<Name extends JobName> = ReturnType<Jobs[Name]>

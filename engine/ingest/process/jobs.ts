import type { RunOptions } from '../../duckdb/duck.ts'
import type { Column } from '../../types/index.ts'
import type { PartStatistics } from '../../types/statistics.ts'
import type { Cut } from '../cut.ts'
import type { Reader } from '../reader.ts'
import type { Described, IngestRequest, IngestResult, PartSize, ReadRequest } from '../request.ts'
import type { Arrival } from '../threads/arrival.ts'
import type { JobId } from './messages.ts'

/** What a job gets beside its input. */
export interface JobHooks extends RunOptions {
  readonly onProgress?: IngestRequest['onProgress']
}

/** An upload, as it is described to a reader. */
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

type Runs = {
  readonly [Name in JobName]: (
    reader: Reader,
    input: Input<Name>,
    hooks: JobHooks,
    place: { readonly job: JobId; readonly arrival: Arrival },
  ) => Promise<Result<Name>>
}

/** How a reader does each of its jobs. */
export const JOBS: Runs = {
  ingest: (reader, input, hooks) => reader.ingest(input, hooks),
  scanEarly: (reader, input, hooks, { job, arrival }) => reader.scanEarly(job, input, hooks, arrival),
  rewrite: (reader, { parts, target, from, to }, hooks) => reader.rewrite(parts, target, from, to, hooks),
  cut: (reader, input, hooks) => reader.cut(input, hooks),
  verify: (reader, { part }, hooks) => reader.verify(part, hooks),
  statistics: (reader, { part, columns }, hooks) => reader.statistics(part, columns, hooks),
}

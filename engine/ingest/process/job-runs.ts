import type { Reader } from '../reader.ts'
import type { Arrival } from '../threads/arrival.ts'
import type { Input, JobHooks, JobId, JobName, Result } from './jobs.ts'

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
  statistics: (reader, { part, columns }) => reader.statistics(part, columns),
}

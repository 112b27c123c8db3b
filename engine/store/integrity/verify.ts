import { isInBucket, type Part, type Version } from '../../catalog/records.ts'
import { EngineError, type ErrorCode } from '../../errors.ts'
import { requireKnown } from '../../types/known-options.ts'
import type { Names } from '../../types/option-values.ts'
import { counted } from '../../util/counted.ts'
import type { Store } from '../store.ts'

export interface VerifyReport {
  readonly datasets: number
  readonly parts: number
  readonly rows: number
  readonly bytes: number
  /** Everything that does not agree with the catalog; empty if all is well. */
  readonly problems: readonly { readonly dataset: number; readonly part?: number; readonly problem: string }[]
  /** What is right in parts, but not as this version writes it, and what that means. */
  readonly notes: readonly { readonly dataset: number; readonly part: number; readonly note: string }[]
  /** The first dataset that was not read to its end, where the signal ended the work. */
  readonly next?: number
}

export interface VerifyOptions {
  /** The id of the first dataset to read: the `next` of a report that ended early. */
  readonly from?: number
  /** Ends the work before the next part. */
  readonly signal?: AbortSignal
}

const KNOWN: Names<VerifyOptions> = { from: true, signal: true }

/** Errors that say nothing about the part that was read. */
const NOT_OF_THE_PART: ReadonlySet<ErrorCode> = new Set([
  'cancelled',
  'overloaded',
  'storage_full',
  'storage_read_only',
  'storage_failed',
  'too_many_open_files',
  'storage_unavailable',
])

/**
 * Reads every part of every version that is kept completely and compares its bytes and its rows with the catalog. The
 * results are recorded: damaged parts are not read any more, and parts that have been repaired are read again.
 */
export async function verifyStore(
  store: Store,
  onProgress?: (done: { parts: number; of: number; bytes: number }) => void,
  options: VerifyOptions = {},
): Promise<VerifyReport> {
  requireKnown(options, KNOWN)
  const { from = 1, signal } = options
  const records = (await store.datasets.list()).filter(({ id }) => id >= from)
  let of = 0
  for (const { id } of records) of += await store.history.partCount(id)
  const report = { datasets: 0, parts: 0, rows: 0, bytes: 0 }
  const problems: { dataset: number; part?: number; problem: string }[] = []
  const notes: { dataset: number; part: number; note: string }[] = []
  for (const { id } of records) {
    const versions = await store.history.numbers(id)
    const read = new Set<number>()
    for (const number of versions) {
      using lease = await ifThere(store.readPast(id, { version: number }))
      for (const part of lease?.version.parts ?? []) {
        if (read.has(part.id)) continue
        if (signal?.aborted) return { ...report, problems, notes, next: id }
        read.add(part.id)
        const { problem, note } = await verified(store, part, lease!.version)
        if (note !== undefined) notes.push({ dataset: id, part: part.id, note })
        if (problem === undefined) report.rows += part.rows
        else problems.push({ dataset: id, part: part.id, problem })
        report.parts += 1
        report.bytes += part.bytes
        onProgress?.({ parts: report.parts, of, bytes: report.bytes })
      }
    }
    if (versions.length > 0) report.datasets += 1
  }
  return { ...report, problems, notes }
}

interface Verified {
  /** In what a part does not agree with the catalog; undefined if it does in all. */
  readonly problem?: string | undefined
  readonly note?: string | undefined
}

async function verified(store: Store, part: Part, { columns }: Version): Promise<Verified> {
  const problem = await store.integrity.check(part).catch(whyUnread)
  // The tag of an object of others has been compared; reading all of it would take time and money.
  if (problem !== undefined || isInBucket(part)) return { problem }
  try {
    using _ = await store.integrity.pin([part])
    const { jobs } = await store.ingestor()
    const read = await jobs.verify({
      part: store.integrity.file(part),
      attached: part.attached && columns,
    })
    if (read.rows !== part.rows)
      return { problem: `it has ${counted(read.rows, 'row')}; the catalog says ${part.rows}` }
    if (read.columns.length !== columns.length)
      return {
        problem: `it has ${counted(read.columns.length, 'column')}; the catalog says ${columns.length}`,
      }
    return { note: filteredNote(read.filtered.map((index) => columns[index]!.name)) }
  } catch (error) {
    if (error instanceof EngineError && NOT_OF_THE_PART.has(error.code)) throw error
    return { problem: 'its file can not be read' }
  }
}

function filteredNote(names: readonly string[]): string | undefined {
  if (names.length === 0) return undefined
  const quoted = names.map((name) => JSON.stringify(name)).join(', ')
  return (
    `written by an older version, it has Bloom filters for binary columns (${quoted}). Parquetry does not use them; ` +
    'DuckDB 1.5, reading the file itself, finds no rows by them. Replacing the rows writes it without them'
  )
}

/** What is read of a version; undefined if it was removed since the versions were listed. */
async function ifThere<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading
  } catch (error) {
    if (error instanceof EngineError && ['not_found', 'version_gone'].includes(error.code)) return undefined
    throw error
  }
}

/** Turns an error of the operating system into a problem of the part; rethrows every other error. */
function whyUnread(error: NodeJS.ErrnoException): string {
  if (error.errno === undefined) throw error
  return `its file can't be read (${error.code})`
}

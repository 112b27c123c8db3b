import { createHash } from 'node:crypto'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { ConnectorError } from '../../connectors/errors.ts'
import type { Caller, Connectors, Series } from '../../connectors/index.ts'
import { mapConcurrent } from '../../connectors/pipeline/map-concurrent.ts'
import type { Dataset } from '../../engine/index.ts'
import { errorAnswer, ServerError } from '../http/errors.ts'
import { hasTimes, type SeriesRow, seriesColumns, seriesLine, seriesRows } from './rows.ts'
import type { Followed, StoredSource } from './sources.ts'

/** How many series are requested at once in one refresh. The provider's own limits apply as well. */
const AT_ONCE = 4

/** Statuses of failures that may soon pass, so that it is worth trying again before the scheduled time. */
const PASSING = new Set([429, 503, 504])

/** The result of requesting one of the followed series. */
export interface Answer {
  readonly series: readonly (Series & { readonly provider: string })[]
  readonly error?: { readonly code: string; readonly message: string; readonly passes: boolean }
  /** Seconds after which the provider may be asked again, if it says so. */
  readonly retryAfter?: number | undefined
}

/**
 * Requests series. One that fails gets its error as the answer, and the others go on. `callerOf` gives the caller and
 * its key for a provider, or throws a ServerError if the plan does not allow the provider.
 * @throws ConnectorError `cancelled`
 */
export async function ask(
  connectors: Connectors,
  wanted: readonly Followed[],
  start: string | null,
  callerOf: (slug: string) => Promise<Caller>,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Answer>> {
  const answers = await mapConcurrent(AT_ONCE, wanted, async ({ id }): Promise<[string, Answer]> => {
    const slash = id.indexOf('/')
    try {
      const provider = id.slice(0, slash)
      const caller = { ...(await callerOf(provider)), signal, onlyFresh: true }
      const one = { provider, id: id.slice(slash + 1), caller }
      const { series } = await connectors.many([one], start === null ? {} : { start })
      return [id, { series }]
    } catch (thrown) {
      signal.throwIfAborted()
      return [id, failed(thrown)]
    }
  })
  return new Map(answers)
}

function failed(thrown: unknown): Answer {
  if (!(thrown instanceof ConnectorError || thrown instanceof ServerError)) throw thrown
  const { body, status } = errorAnswer(thrown)
  return {
    series: [],
    error: { code: body.code, message: body.error, passes: PASSING.has(status) },
    retryAfter: thrown instanceof ConnectorError ? thrown.retryAfter : undefined,
  }
}

/**
 * The rows of all followed series, in their order. If a series was not requested or its request failed, the dataset's
 * present rows of that series are kept. `digest` is a hash of columns and rows.
 */
export async function newRows(source: StoredSource, answers: ReadonlyMap<string, Answer>, dataset: Dataset) {
  const isKept = ({ id }: Followed) => answers.get(id) === undefined || answers.get(id)?.error !== undefined
  const old = source.series.some((one) => isKept(one) && one.found.length > 0)
    ? await rowsById(dataset)
    : new Map<string, readonly SeriesRow[]>()
  const blocks = new Map<string, readonly SeriesRow[]>()
  let times = false
  const followed = source.series.map((one): Followed => {
    const { id, found } = one
    if (isKept(one)) {
      for (const each of found) {
        const rows = old.get(each) ?? []
        times ||= rows.some((row) => row['time'] !== undefined)
        if (!blocks.has(each)) blocks.set(each, rows)
      }
      const error = answers.get(id)?.error ?? one.error
      return { id, found, ...(error && { error: { code: error.code, message: error.message } }) }
    }
    const { series } = answers.get(id)!
    const ids = series.map(({ provider, series_id }) => `${provider}/${series_id}`)
    for (const [index, each] of series.entries()) {
      times ||= hasTimes(each)
      blocks.set(ids[index]!, seriesRows(each, ids[index]!))
    }
    return { id, found: ids }
  })
  const columns = seriesColumns({ provider: false, times })
  const lines = [...blocks.values()].flatMap((rows) => rows.map((row) => seriesLine(withTime(row), columns)))
  const hash = createHash('sha256').update(JSON.stringify(columns))
  for (const line of lines) hash.update(line)
  return { columns, lines, followed, digest: hash.digest('hex') }
}

/** Adds a time to a kept row that has only a date, because other series may now have a time of day. */
function withTime(row: SeriesRow): SeriesRow {
  return row['time'] === undefined ? { ...row, time: `${row['date']}T00:00:00` } : row
}

/** The present rows of a dataset, by their `series_id`. */
async function rowsById(dataset: Dataset): Promise<ReadonlyMap<string, readonly SeriesRow[]>> {
  const byId = new Map<string, SeriesRow[]>()
  using query = await dataset.query()
  await using stream = await query.bytes('ndjson')
  const lines = createInterface({ input: Readable.from(stream, { objectMode: false }), crlfDelay: Infinity })
  for await (const line of lines) {
    const row = JSON.parse(line) as SeriesRow
    const id = String(row['series_id'])
    const rows = byId.get(id)
    if (rows === undefined) byId.set(id, [row])
    else rows.push(row)
  }
  return byId
}

import { createHash } from 'node:crypto'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { ConnectorError } from '../../connectors/errors.ts'
import type { Caller, Connectors, Series } from '../../connectors/index.ts'
import { mapConcurrent } from '../../connectors/pipeline/map-concurrent.ts'
import type { Dataset, DeclaredColumn } from '../../engine/index.ts'
import { errorAnswer, ServerError } from '../http/errors.ts'
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
  // A kept row may have only a date, while other series now have a time of day.
  const timed = (row: SeriesRow) => ({ time: `${row['date']}T00:00:00`, ...row })
  const lines = [...blocks.values()].flatMap((rows) => rows.map((row) => seriesLine(timed(row), columns)))
  const hash = createHash('sha256').update(JSON.stringify(columns))
  for (const line of lines) hash.update(line)
  return { columns, lines, followed, digest: hash.digest('hex') }
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

/** A row of a series as it is stored in a dataset. */
type SeriesRow = Readonly<Record<string, string | number | null>>

/** The columns for series in a dataset. Each row has the description of its series and one observation. */
const COLUMNS: readonly DeclaredColumn[] = [
  { name: 'provider', type: 'string' },
  { name: 'series_id', type: 'string' },
  { name: 'name', type: 'string' },
  { name: 'unit', type: 'string' },
  { name: 'frequency', type: 'string' },
  { name: 'date', type: 'date' },
  { name: 'time', type: 'timestamp' },
  { name: 'period', type: 'string' },
  { name: 'value', type: 'double' },
  { name: 'status', type: 'string' },
]

const NAMES = new Set(COLUMNS.map(({ name }) => name))

/** Whether a dataset has only columns of series, so that no other data is lost when series replace its rows. */
export function holdsSeriesAlone(columns: readonly { readonly name: string }[]): boolean {
  return columns.every(({ name }) => NAMES.has(name))
}

/** Refuses a dataset with other data, which series would replace. @throws ServerError `other_data` */
export function requireSeriesAlone({ name, columns }: Awaited<ReturnType<Dataset['record']>>): void {
  if (holdsSeriesAlone(columns)) return
  throw new ServerError(
    'other_data',
    `The dataset ${JSON.stringify(name)} holds other data, which the series would replace. Create a new dataset for ` +
      'them.',
  )
}

/** The columns of rows; `time` replaces `date` if a series has a time of day. */
export function seriesColumns({
  provider,
  times,
}: {
  readonly provider: boolean
  readonly times: boolean
}): readonly DeclaredColumn[] {
  return COLUMNS.filter(({ name }) =>
    name === 'provider' ? provider : name === 'date' ? !times : name === 'time' ? times : true,
  )
}

/** Whether a series has a time of day. */
export function hasTimes({ frequency, observations }: Pick<Series, 'frequency' | 'observations'>): boolean {
  return frequency === 'intraday' || observations.some(({ period }) => isInstant(period))
}

/** The rows of a series with a value for every column that a dataset may have; `id` is the value of `series_id`. */
export function seriesRows(series: Series & { readonly provider: string }, id: string): SeriesRow[] {
  const { provider, name, unit, frequency } = series
  const head = { provider, series_id: id, name, unit, frequency }
  return series.observations.map(({ date, period = null, value, status = null }) => ({
    ...head,
    date,
    time: isInstant(period) ? period.padEnd(19, ':00') : `${date}T00:00:00`,
    period,
    value,
    status,
  }))
}

/** A line of newline-delimited JSON with the values of some columns. */
export function seriesLine(row: SeriesRow, columns: readonly DeclaredColumn[]): string {
  return `${JSON.stringify(Object.fromEntries(columns.map(({ name }) => [name, row[name] ?? null])))}\n`
}

/** Whether a period has a time of day, such as `2024-01-05T13:45` in `Observation.period`. */
function isInstant(period: string | null | undefined): period is string {
  return period?.charAt(10) === 'T'
}

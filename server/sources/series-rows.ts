import { createHash } from 'node:crypto'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { ConnectorError } from '../../connectors/errors.ts'
import type { Caller, Connectors, Series } from '../../connectors/index.ts'
import { mapConcurrent } from '../../connectors/pipeline/map-concurrent.ts'
import type { Dataset, DeclaredColumn } from '../../engine/index.ts'
import { errorAnswer, ServerError } from '../http/errors.ts'
import type { Followed } from './followed.ts'
import { isLoss, lossOf } from './losses.ts'
import type { StoredSource } from './sources.ts'

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
  followed: readonly Followed[],
  start: string | null,
  callerOf: (slug: string) => Promise<Caller>,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Answer>> {
  const answers = await mapConcurrent(AT_ONCE, followed, async ({ id }): Promise<[string, Answer]> => {
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
 * The rows of all followed series, in their order. The dataset's present rows of a series are kept if it was not
 * requested, if its request failed, and, unless losses are confirmed, if it came back without values or with far fewer
 * than there are (`lost`). `digest` is a hash of columns and rows.
 */
export async function newRows(
  source: StoredSource,
  answers: ReadonlyMap<string, Answer>,
  dataset: Dataset,
  confirmed: boolean,
) {
  const answered = source.series.map((one) => ({ one, answer: answers.get(one.id) }))
  const received = answered.flatMap(({ one, answer }) => (answer && !answer.error ? [{ one, answer }] : []))
  const counts =
    confirmed || received.length === 0 ? new Map<string, Count>() : await counted(dataset, source.start)
  const lost = new Map(received.map(({ one, answer }) => [one.id, lostOf(one, answer, counts)]))
  const isStored = ({ id }: Followed) => answers.get(id) === undefined || answers.get(id)?.error !== undefined
  const old = source.series.some((one) => isStored(one) || lost.get(one.id)!.size > 0)
    ? await rowsById(dataset)
    : new Map<string, readonly SeriesRow[]>()
  const blocks = new Map<string, readonly SeriesRow[]>()
  let times = false
  const keep = (id: string) => {
    const rows = old.get(id) ?? []
    times ||= rows.some((row) => row['time'] !== undefined)
    if (!blocks.has(id)) blocks.set(id, rows)
  }
  const followed = answered.map(({ one, answer }): Followed => {
    const { id } = one
    if (isStored(one)) {
      presentIds(one).forEach(keep)
      const error = answer?.error ?? one.error
      return { ...one, error: error && { code: error.code, message: error.message } }
    }
    const losses = lost.get(id)!
    const ids = answer!.series.map(idOf)
    for (const [index, each] of answer!.series.entries()) {
      const name = ids[index]!
      if (losses.has(name)) {
        keep(name)
        continue
      }
      times ||= hasTimes(each)
      blocks.set(name, seriesRows(each, name))
    }
    for (const name of losses.keys()) keep(name)
    const [loss] = losses.values()
    const error = loss && { code: loss.code, message: loss.message }
    const all = [...new Set([...ids, ...losses.keys()])]
    const digest = source.every === 'release' ? digestOf(all.map((name) => blocks.get(name))) : undefined
    return { ...one, found: all, error, digest }
  })
  const columns = seriesColumns({ provider: false, times })
  // A kept row may have only a date, while other series now have a time of day.
  const timed = (row: SeriesRow) => ({ time: `${row['date']}T00:00:00`, ...row })
  const lines = [...blocks.values()].flatMap((rows) => rows.map((row) => seriesLine(timed(row), columns)))
  const hash = createHash('sha256').update(JSON.stringify(columns))
  for (const line of lines) hash.update(line)
  const hasLosses = [...lost.values()].some(({ size }) => size > 0)
  return { columns, lines, followed, hasLosses, digest: hash.digest('hex') }
}

function digestOf(rows: unknown): string {
  return createHash('sha256').update(JSON.stringify(rows)).digest('hex')
}

const idOf = ({ provider, series_id }: Answer['series'][number]) => `${provider}/${series_id}`

/** The `series_id` of the rows that a followed id has, even if it was followed by an earlier source. */
const presentIds = ({ id, found }: Followed) => (found.length > 0 ? found : [id])

/** How many rows a series has, and how many of them have a value. */
interface Count {
  readonly rows: number
  readonly values: number
}

/** Of the series that a followed id has, those that an answer would lose, each with what is wrong. */
function lostOf(
  one: Followed,
  { series }: Answer,
  counts: ReadonlyMap<string, Count>,
): ReadonlyMap<string, ServerError> {
  const now = new Map(series.map((each) => [idOf(each), each.observations]))
  return new Map(
    presentIds(one).flatMap((id) => {
      const before = counts.get(id) ?? { rows: 0, values: 0 }
      const observations = now.get(id) ?? []
      const values = observations.filter(({ value }) => value !== null).length
      const isLost =
        before.values > 0 ? isLoss(values, before.values) : before.rows > 0 && observations.length === 0
      const where = id === one.id ? '' : ` of ${id}`
      return isLost ? [[id, lossOf('value', where, values, before.values || before.rows)] as const] : []
    }),
  )
}

/** The counts of the present rows since a date, by their `series_id`. */
async function counted(dataset: Dataset, start: string | null): Promise<ReadonlyMap<string, Count>> {
  const { columns, rowCount } = await dataset.record()
  if (rowCount === 0 || !columns.some(({ name }) => name === 'series_id')) return new Map()
  const since = columns.some(({ name }) => name === 'time')
    ? `time ge ${start}T00:00:00Z`
    : `date ge ${start}`
  using query = await dataset.query({
    apply: `${start === null ? '' : `filter(${since})/`}compute(value eq null as empty)/groupby((series_id,empty),aggregate($count as rows))`,
  })
  const counts = new Map<string, Count>()
  for await (const { series_id, empty, rows } of query.rows()) {
    const id = String(series_id)
    const before = counts.get(id) ?? { rows: 0, values: 0 }
    const more = Number(rows)
    counts.set(id, { rows: before.rows + more, values: before.values + (empty === true ? 0 : more) })
  }
  return counts
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
    time: isInstant(period) ? wallTime(period) : `${date}T00:00:00`,
    period,
    value,
    status,
  }))
}

/** A line of newline-delimited JSON with the values of some columns. */
export function seriesLine(row: SeriesRow, columns: readonly DeclaredColumn[]): string {
  return `${JSON.stringify(Object.fromEntries(columns.map(({ name }) => [name, row[name] ?? null])))}\n`
}

/** The time that a clock shows at an instant; the offset stays in `period`. */
function wallTime(instant: string): string {
  return instant.replace(/[+-]\d{2}:\d{2}$/, '').padEnd(19, ':00')
}

/** Whether a period has a time of day, such as `2024-01-05T13:45` in `Observation.period`. */
function isInstant(period: string | null | undefined): period is string {
  return period?.charAt(10) === 'T'
}

/** Names and types of columns, without their descriptions, which a refresh does not change. */
export function shapeOf(columns: readonly DeclaredColumn[]): string {
  return JSON.stringify(columns.map(({ name, type }) => [name, type]))
}

import type { Series } from '../../connectors/index.ts'
import type { Dataset, DeclaredColumn } from '../../engine/index.ts'
import { ServerError } from '../http/errors.ts'

/** A row of a series as it is stored in a dataset. */
export type SeriesRow = Readonly<Record<string, string | number | null>>

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
    time: isInstant(period) ? withSeconds(period) : `${date}T00:00:00`,
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

function withSeconds(instant: string): string {
  return instant.length === 16 ? `${instant}:00` : instant
}

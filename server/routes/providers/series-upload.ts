import { mapConcurrent } from '../../../connectors/pipeline/map-concurrent.ts'
import type { Column, Upload } from '../../../engine/index.ts'
import type { Account } from '../../accounts/accounts.ts'
import { ServerError } from '../../http/errors.ts'
import type { Services } from '../../services.ts'
import { callerOf } from '../../sources/caller.ts'
import {
  hasTimes,
  holdsSeriesAlone,
  seriesColumns,
  seriesLine,
  seriesRows,
} from '../../sources/series-rows.ts'

/** How many series are fetched at once. The provider's own limits apply as well. */
const AT_ONCE = 4

/**
 * Fetches series of a provider as rows to be written, all of them or an error. If the dataset has only some of the
 * series' columns and no others, only those columns are written.
 * @throws ServerError `invalid_body`, `plan_limit`, ConnectorError
 */
export async function seriesUpload(
  services: Services,
  account: Account,
  wanted: unknown,
  existing: readonly Column[],
  signal: AbortSignal,
): Promise<Upload> {
  const { provider, ids } = checked(wanted, services.config.limits.savedSeries)
  const { info, caller } = await callerOf(services, account, provider, signal)
  const connectors = await services.connectors()
  const fetched = await mapConcurrent(AT_ONCE, ids, (id) => connectors.series(info.slug, id, {}, caller))
  const times = fetched.some(hasTimes) || existing.some(({ name }) => name === 'time')
  const all = seriesColumns({ provider: true, times })
  const has = new Set(existing.map(({ name }) => name))
  // If the series have times but the dataset has only days, all columns are sent, so that the engine reports a conflict
  // instead of losing the times.
  const isPart = existing.length > 0 && holdsSeriesAlone(existing) && has.has(times ? 'time' : 'date')
  const columns = isPart ? all.filter(({ name }) => has.has(name)) : all
  const lines = fetched.map((series) =>
    seriesRows(series, series.series_id)
      .map((row) => seriesLine(row, columns))
      .join(''),
  )
  return { format: 'ndjson', columns, body: bytes(lines) }
}

async function* bytes(texts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text)
}

function checked(wanted: unknown, most: number): { provider: string; ids: readonly string[] } {
  const { provider, series, ...unknown } = wanted as Record<string, unknown>
  const extra = Object.keys(unknown)[0]
  if (extra !== undefined) {
    throw invalid(`The body has an unknown field ${JSON.stringify(extra)}; valid fields: provider, series.`)
  }
  if (typeof provider !== 'string') throw invalid('provider must be the slug of a provider.')
  if (!Array.isArray(series) || series.length === 0 || !series.every((id) => typeof id === 'string')) {
    throw invalid('series must be a list of at least one series id.')
  }
  if (series.length > most)
    throw invalid(`series has ${series.length} ids; one request saves at most ${most}.`)
  return { provider, ids: series }
}

function invalid(message: string): ServerError {
  return new ServerError('invalid_body', message)
}

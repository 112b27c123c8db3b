import type { DeclaredColumn, Upload } from '../../../engine/index.ts'
import type { Account } from '../../accounts/accounts.ts'
import { ServerError } from '../../http/errors.ts'
import type { Services } from '../../services.ts'
import { callerOf } from './caller.ts'

const COLUMNS: readonly DeclaredColumn[] = [
  { name: 'provider', type: 'string' },
  { name: 'series_id', type: 'string' },
  { name: 'date', type: 'date' },
  { name: 'value', type: 'double' },
]

/** Series fetched at once; the provider's limits order them anyway. */
const AT_ONCE = 4

/**
 * Series of a provider as rows to be written: all of them or an error.
 * @throws ServerError `invalid_body`, `plan_limit`, ConnectorError
 */
export async function seriesUpload(
  services: Services,
  account: Account,
  wanted: unknown,
  signal: AbortSignal,
): Promise<Upload> {
  const { provider, ids } = checked(wanted, services.config.limits.savedSeries)
  const { info, caller } = callerOf(services, account, provider, signal)
  const fetched = new Array<string>(ids.length)
  let next = 0
  const work = async () => {
    while (next < ids.length) {
      const index = next++
      const series = await services.connectors.series(info.slug, ids[index]!, {}, caller).catch((error) => {
        // The provider isn't asked for what nobody wants any more.
        next = ids.length
        throw error
      })
      fetched[index] = series.observations
        .map(
          ({ date, value }) =>
            `${JSON.stringify({ provider: info.slug, series_id: series.series_id, date, value })}\n`,
        )
        .join('')
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return { format: 'ndjson', columns: COLUMNS, body: bytes(fetched) }
}

async function* bytes(texts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text)
}

function checked(wanted: unknown, most: number): { provider: string; ids: readonly string[] } {
  const { provider, series, ...unknown } = wanted as Record<string, unknown>
  const extra = Object.keys(unknown)[0]
  if (extra !== undefined) {
    throw invalid(`The body has an unknown field ${JSON.stringify(extra)}; known beside series is provider.`)
  }
  if (typeof provider !== 'string') throw invalid('provider must be the slug of a provider.')
  if (!Array.isArray(series) || series.length === 0 || !series.every((id) => typeof id === 'string')) {
    throw invalid('series must be a list of ids of series that is not empty.')
  }
  if (series.length > most)
    throw invalid(`series has ${series.length} ids; at most ${most} are saved at once.`)
  return { provider, ids: series }
}

function invalid(message: string): ServerError {
  return new ServerError('invalid_body', message)
}

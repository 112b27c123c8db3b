import type { FastifyBaseLogger } from 'fastify'
import { ConnectorError } from '../../connectors/errors.ts'
import type { Connectors } from '../../connectors/index.ts'

/** Long enough for the first requests of a start, which need the same thread. */
const INDEX_DELAY = 5_000

/** After so many providers in a row that can not be reached there is probably no network. */
const MOST_UNREACHABLE = 3

/**
 * Fetches the catalogues that the index lacks of the providers that need no key, one after the other. One that does not
 * answer is asked again at the next start. Gives the function that ends it.
 */
export function indexProviders(
  open: () => Promise<Pick<Connectors, 'unindexed' | 'index'>>,
  log: Pick<FastifyBaseLogger, 'info' | 'warn'>,
  delay = INDEX_DELAY,
): () => Promise<void> {
  const stopping = new AbortController()
  const { signal } = stopping
  const fill = async () => {
    const connectors = await open()
    let unreachable = 0
    for (const slug of connectors.unindexed()) {
      if (signal.aborted || unreachable === MOST_UNREACHABLE) break
      try {
        await connectors.index(slug, {}, { signal })
        unreachable = 0
      } catch (error) {
        if (!(error instanceof ConnectorError)) throw error
        unreachable = error.code === 'provider_down' ? unreachable + 1 : 0
      }
    }
    const providers = connectors.unindexed()
    if (signal.aborted || providers.length === 0) return
    log.info({ providers }, 'The catalogues of these providers were not fetched; the next start tries again.')
  }
  let filling = Promise.resolve()
  const timer = setTimeout(() => {
    filling = fill().catch((err: unknown) => log.warn({ err }, 'The index of series could not be filled.'))
  }, delay).unref()
  return async () => {
    clearTimeout(timer)
    stopping.abort()
    await filling
  }
}

import { join } from 'node:path'
import type { ConnectorEvent, Connectors } from '../connectors/index.ts'
import type { Database } from '../engine/index.ts'
import { ProviderAnswers } from './accounts/provider-answers.ts'
import { providerLimits } from './accounts/provider-limits.ts'
import { ConfigError } from './config/read.ts'
import type { Config } from './config/schema.ts'

/**
 * Opens the connectors as they are configured, with their limits and search index in the data directory. Used by the
 * server and by commands.
 * @throws ConfigError if the configuration names an unknown provider
 */
export async function openProviders(
  config: Config,
  database: Database,
  log: (event: ConnectorEvent) => void,
): Promise<Connectors> {
  // Not imported at the top, because most starts need no provider soon, and there are many of them.
  const { ConnectorError, openConnectors } = await import('../connectors/index.ts')
  const limitStore = await providerLimits(database)
  try {
    return openConnectors({
      overrides: overridesOf(config),
      limitStore,
      ...(database.isShared && {
        answers: new ProviderAnswers(database, (cause) =>
          log({
            level: 'warn',
            provider: 'all',
            message: 'An answer could not be shared with other nodes.',
            cause,
          }),
        ),
      }),
      searchFile: join(config.data, 'search.db'),
      timeouts: { headersMs: config.timeouts.provider, bodyMs: config.timeouts.provider },
      log,
    })
  } catch (error) {
    if (!(error instanceof ConnectorError) || error.code !== 'unknown_provider') throw error
    throw new ConfigError(`providers.${error.provider}: there is no such provider.`)
  }
}

function overridesOf({ providers }: Config) {
  return Object.fromEntries(
    Object.entries(providers).map(([slug, { url, key, limits }]) => [
      slug,
      {
        ...(url !== undefined && { baseUrl: url }),
        ...(key !== undefined && { key }),
        ...(limits && { limits }),
      },
    ]),
  )
}

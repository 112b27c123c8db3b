import { setTimeout as delay } from 'node:timers/promises'
import type { Command } from 'commander'
import { ConnectorError } from '../../connectors/errors.ts'
import type { Connectors } from '../../connectors/index.ts'
import { openProviders } from '../providers.ts'
import { type Progress, startProgress } from './progress.ts'
import type { Workplace } from './tables/local.ts'
import { abortOnInterrupt, Failed, UsageError, wholeNumber } from './usage.ts'
import type { On } from './workplace.ts'

/** If a provider's limit resets later than in this many seconds, the command doesn't wait for it. */
const LONGEST_WAIT = 120

export function addProviderCommands(program: Command, on: On<Workplace>): void {
  const providers = program.command('providers').description('providers of series')

  providers
    .command('index [slugs...]')
    .description('fetch the catalogues of the named providers, or of all, so that search finds their series')
    .option('--depth <levels>', 'levels of categories to go down', '1')
    .action((slugs: string[], options: { depth: string }) => {
      const depth = wholeNumber('--depth', options.depth)
      return on(async ({ config, engine }) => {
        const connectors = await openProviders(config, engine.database, () => {})
        try {
          const failed = await indexAll(connectors, slugs, depth)
          if (failed === 0) return
          throw new Failed(
            `${failed} of the providers could not be indexed completely; search finds what could be fetched.`,
          )
        } finally {
          await connectors.close()
        }
      })
    })
}

/** Indexes providers one after the other, also if some of them fail. Returns the number of failures. */
async function indexAll(connectors: Connectors, named: readonly string[], depth: number): Promise<number> {
  const chosen = named.length > 0 ? named.map((slug) => known(connectors, slug)) : connectors.list()
  using stop = abortOnInterrupt()
  let failed = 0
  for (const { slug } of chosen) {
    using progress = startProgress(`index ${slug}`, null)
    try {
      const count = await indexOne(connectors, slug, depth, progress, stop.signal)
      progress[Symbol.dispose]()
      console.log(`${slug}: ${count} entries`)
    } catch (error) {
      stop.signal.throwIfAborted()
      if (!(error instanceof ConnectorError)) throw error
      progress[Symbol.dispose]()
      console.error(`parquetry: ${slug}: ${error.message}`)
      // Without names, providers that need a missing key are skipped without being counted as failures.
      if (named.length > 0 || error.code !== 'key_required') failed += 1
    }
  }
  return failed
}

/**
 * Indexes one provider. If its limit is used up, waits for the reset and starts again; what was fetched before comes
 * from the cache.
 */
async function indexOne(
  connectors: Connectors,
  slug: string,
  depth: number,
  progress: Progress,
  signal: AbortSignal,
): Promise<number> {
  for (;;) {
    try {
      const onFound = (count: number) => progress.note(`${count.toLocaleString('en')} found`)
      return await connectors.index(slug, { depth, onFound }, { signal })
    } catch (error) {
      if (!(error instanceof ConnectorError) || error.code !== 'provider_limit') throw error
      const seconds = error.retryAfter ?? LONGEST_WAIT
      if (seconds > LONGEST_WAIT) throw error
      progress.note(`waiting ${seconds} s for the limit`)
      await delay(seconds * 1000, undefined, { signal })
    }
  }
}

function known(connectors: Connectors, slug: string) {
  try {
    return connectors.get(slug)
  } catch {
    const slugs = connectors.list().map((one) => one.slug)
    throw new UsageError(
      `There is no provider ${JSON.stringify(slug)}; valid providers: ${slugs.join(', ')}.`,
    )
  }
}

import type { Connector, ProviderInfo } from '../connector.ts'
import {
  ConnectorError,
  limitReached,
  pathNotFound,
  providerDown,
  quoted,
  seriesNotFound,
} from '../errors.ts'
import { SdmxFailure } from './failures.ts'
import type { SdmxProvider } from './provider.ts'
import { fetchMany, fetchSeries } from './series/series.ts'
import { openSession } from './session.ts'
import { allFlows } from './tree/branches.ts'
import { list } from './tree/list.ts'
import { browse } from './tree/tree.ts'

/** Seconds to wait if a body says 'too many requests' and no header says how long to wait. */
const PAUSE = 60

/** A connector for a provider of the SDMX family. */
export function sdmxConnector(provider: SdmxProvider): Connector {
  const atPath = <T>(path: string, work: Promise<T>) => translated(provider, pathNotFound, path, work)
  return {
    info: provider.info,
    vintages: provider.requests.history !== undefined,
    browse: (path, context) => atPath(path, browse(openSession(provider, context), path)),
    list: (path, page, context) => atPath(path, list(openSession(provider, context), path, page)),
    catalogue: async (context) => {
      const flows = translated(provider, pathNotFound, '', allFlows('', openSession(provider, context)))
      return { series: [], categories: (await flows) ?? [] }
    },
    series: (id, range, context) =>
      translated(provider, seriesNotFound, id, fetchSeries(openSession(provider, context), id, range)),
    many: (id, range, context) =>
      translated(provider, seriesNotFound, id, fetchMany(openSession(provider, context), id, range)),
  }
}

/**
 * Turns a failure that the readers found into an error for the user who asked for `subject`; the readers' own words go
 * to the log.
 */
async function translated<T>(
  { info }: SdmxProvider,
  notFound: (info: ProviderInfo, subject: string) => ConnectorError,
  subject: string,
  work: Promise<T>,
): Promise<T> {
  try {
    return await work
  } catch (cause) {
    if (!(cause instanceof SdmxFailure)) throw cause
    const { name, slug } = info
    switch (cause.kind) {
      case 'no-results':
      case 'refused':
        throw notFound(info, subject)
      case 'no-history':
        throw new ConnectorError(
          'series_not_found',
          `${name} has no figures of ${quoted(subject)} as they were on that day. Ask for a later asOf, or leave it out.`,
          { provider: slug, cause },
        )
      case 'too-large':
        throw new ConnectorError(
          'answer_too_large',
          `The answer of ${name} for ${quoted(subject)} is too large. Ask for less with start and end, or choose a narrower path.`,
          { provider: slug, cause },
        )
      case 'limited':
        throw limitReached(info, PAUSE)
      case 'unavailable':
        throw providerDown(info)
      case 'unreadable':
        throw new ConnectorError('not_understood', `The answer of ${name} was not understood.`, {
          provider: slug,
          cause,
        })
      default:
        throw cause.kind satisfies never
    }
  }
}

import { SERIES_OPTIONS } from '../../connectors/transform/series-options.ts'
import { fromPlain } from '../../engine/options.ts'
import type { Client } from '../client/index.ts'
import { object } from '../records/schema.ts'
import { argumentsOf, fitting, MOST_CHARACTERS, noted, type Tool } from './tool.ts'

const MOST_SERIES = 100
const MOST_OBSERVATIONS = 500

const provider = { type: 'string', description: 'Slug of the provider, from list_providers.' } as const

export const listProviders: Tool = {
  name: 'list_providers',
  title: 'List providers of series',
  description:
    'Institutions whose economic and financial time series can be read: FRED, ECB, Eurostat, World Bank and more, with ' +
    'what each has and whether it needs a key.',
  arguments: object([], {}),
  async run(client, _given, signal) {
    const providers = await client.providers.list({ signal })
    return {
      providers: providers.map(({ slug, name, description, tier, keyRequired, userKey }) => ({
        slug,
        name,
        description,
        tier,
        ...(keyRequired && { needsKey: true, keySaved: userKey }),
      })),
    }
  },
}

export const findSeries: Tool = {
  name: 'find_series',
  title: 'Find series of a provider',
  description:
    'Without a path, finds series by words: those of one provider or, without provider, the known series of all ' +
    'providers. With a path, lists the subcategories and the series of that category; words filter both. With neither ' +
    'path nor words, lists the top categories of a provider.',
  arguments: object([], {
    provider,
    path: { type: 'string', description: 'Path of a category, from an earlier answer.' },
    text: { type: 'string', description: 'Words to search for.' },
    offset: { type: 'integer', minimum: 0, description: 'Number of series to skip.' },
  }),
  async run(client, given: { provider?: string; path?: string; text?: string; offset?: number }, signal) {
    const { provider: slug, path = '', offset = 0 } = given
    if (path === '' && given.text?.trim()) return searched(client, slug, given.text, offset, signal)
    if (slug === undefined)
      return { note: 'Give words to search all providers, or a provider to list its categories.' }
    const terms = (given.text ?? '').toLowerCase().split(/\s+/).filter(Boolean)
    const fits = (name: string) => terms.every((word) => name.toLowerCase().includes(word))
    const { categories } = await client.providers.browse(slug, path, { signal })
    const page =
      path === ''
        ? undefined
        : await client.providers.seriesPage(slug, path, {
            limit: terms.length > 0 ? 1000 : MOST_SERIES,
            offset,
            signal,
          })
    const listed = page?.series ?? []
    const series = listed.filter((one) => fits(`${one.name} ${one.series_id}`))
    const shown = fitting(series.slice(0, MOST_SERIES))
    // The offset counts all series of the category, also those without the words.
    const left = series[shown.length]
    const next = offset + (left ? listed.indexOf(left) : listed.length)
    const more = page && (page.total === null ? listed.length === page.limit : next < page.total)
    const total = page?.total ? ` (${page.total} in all)` : ''
    return noted(
      { categories: fitting(categories.filter(({ name, series }) => series || fits(name))), series: shown },
      (more || left) && `There are more series${total}; continue with offset ${next}, or give words.`,
    )
  },
}

/** Searches by words. Finds series, and categories that may contain more of them. */
async function searched(
  client: Client,
  slug: string | undefined,
  terms: string,
  offset: number,
  signal: AbortSignal,
) {
  const options = { limit: MOST_SERIES, offset, signal }
  const found = await (slug === undefined
    ? client.search(terms, options)
    : client.providers.search(slug, terms, options))
  const series = fitting(found.series)
  const more =
    found.total === null ? found.series.length === MOST_SERIES : offset + series.length < found.total
  return noted(
    { series, categories: fitting(found.categories, MOST_CHARACTERS / 4) },
    more && `There are more series; continue with offset ${offset + series.length}, or give more words.`,
  )
}

export const listReleases: Tool = {
  name: 'list_releases',
  title: 'List announced releases',
  description:
    'When a provider releases new figures: those of all its series, or of one. Some providers have no calendar; the ' +
    'error then names those that do.',
  arguments: object(['provider'], {
    provider,
    from: { type: 'string', description: 'The first day, ISO. Default today.' },
    to: { type: 'string', description: 'The last day, ISO. By default a month after from; at most a year.' },
    series_id: { type: 'string', description: 'Id of a series, from find_series.' },
  }),
  async run(client, given: { provider: string; from?: string; to?: string; series_id?: string }, signal) {
    const { provider: slug, series_id: series, ...days } = given
    const { releases, ...about } = await client.providers.releases(slug, { ...days, series, signal })
    const shown = fitting(releases)
    const left = releases[shown.length]
    return noted(
      { ...about, releases: shown },
      left && `There are more releases; continue with from ${left.date}.`,
    )
  },
}

export const readSeries: Tool = {
  name: 'read_series',
  title: 'Read a series',
  description: `Observations of one series with its unit and frequency, oldest first; at most the newest ${MOST_OBSERVATIONS}.`,
  arguments: object(['provider', 'series_id'], {
    provider,
    series_id: { type: 'string', description: 'Id of the series, from find_series.' },
    ...argumentsOf(SERIES_OPTIONS),
  }),
  async run(client, given: { readonly provider: string; readonly series_id: string }, signal) {
    const options = fromPlain(given, SERIES_OPTIONS)
    const series = await client.providers.series(given.provider, given.series_id, { ...options, signal })
    const newest = series.observations.slice(-MOST_OBSERVATIONS)
    // If not all of them fit, the oldest are left out, because the newest are wanted most often.
    const shown = [...fitting([...newest].reverse())].reverse()
    const { observations, ...about } = series
    return noted(
      { ...about, observations: shown },
      shown.length < observations.length &&
        `The newest ${shown.length} of ${observations.length} observations; use start and end for others.`,
    )
  },
}

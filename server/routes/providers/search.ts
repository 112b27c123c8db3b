import type { DatasetSummary } from '../../../engine/index.ts'
import { parameters } from '../../http/query.ts'
import { errors, json } from '../../openapi/describe.ts'
import { SEARCH, SEARCH_ALL } from '../../records/providers.ts'
import type { Services } from '../../services.ts'
import { callerOf } from '../../sources/caller.ts'
import { Transfer } from '../../transfers/transfer.ts'
import { pathParameter } from '../dataset-for.ts'
import type { Routes } from '../routes.ts'

const tags = ['Providers']

const QUERY = parameters({
  q: {
    type: 'string',
    description: 'Words, all of which must be found; or an id.',
    examples: ['unemployment'],
  },
  limit: {
    type: 'integer',
    minimum: 0,
    maximum: 1000,
    default: 20,
    description: 'The largest number of series to return.',
  },
  offset: {
    type: 'integer',
    minimum: 0,
    default: 0,
    description:
      'Number of series to skip. Where no provider searches itself, only the first 2000 matches can be read.',
  },
})

/** The routes for a search in one provider, and in everything that is known of all providers. */
const SEARCH_PROVIDER = {
  operationId: 'searchProvider',
  summary: 'Find series of a provider',
  description:
    "Uses the provider's own search where it has one. Otherwise searches its dataflows, its categories and the " +
    'series known here.',
  tags,
  querystring: QUERY,
  response: { 200: json(SEARCH, 'What was found, best first.'), ...errors(402, 404, 429, 504) },
} as const

const SEARCH_EVERYWHERE = {
  operationId: 'search',
  summary: 'Find series of all providers, and your datasets',
  description:
    'Searches what is known here: what was browsed or found before, and what `parquetry providers index` has ' +
    'fetched, which a server does by itself for providers that need no key. No provider is asked. Datasets are ' +
    'found by their names, titles, descriptions, keywords and columns.',
  tags,
  querystring: QUERY,
  response: { 200: json(SEARCH_ALL, 'What was found, best first.') },
} as const

export function searchRoutes(app: Routes, services: Services): void {
  const { access, engine } = services

  app.get('/providers/:slug/search', {
    schema: SEARCH_PROVIDER,
    handler: async (request, reply) => {
      const { q = '', limit = 20, offset = 0 } = request.query
      const { signal } = new Transfer(request, reply, services)
      const slug = pathParameter(request, 'slug')
      const { info, caller } = await callerOf(services, request.account, slug, signal)
      const found =
        q.trim() === ''
          ? { total: 0, series: [], categories: [] }
          : await (await services.connectors()).search(info.slug, q, { limit, offset }, caller)
      const series = found.series.map((one) => ({ ...one, provider: info.slug }))
      const categories = found.categories.map((one) => ({ ...one, provider: info.slug }))
      return { query: q, total: found.total, limit, offset, series, categories }
    },
  })

  app.get('/search', {
    schema: SEARCH_EVERYWHERE,
    handler: async ({ query, account }) => {
      const { q = '', limit = 20, offset = 0 } = query
      const connectors = await services.connectors()
      const { total, series, categories } = connectors.searchAll(q, { limit, offset })
      const readable = await access.readable(account)
      const words = q.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
      const datasets: DatasetSummary[] = []
      for await (const page of words.length > 0 ? engine.datasetList(Number.POSITIVE_INFINITY) : []) {
        const seen = page.filter(({ repositoryId }) => readable.has(repositoryId))
        datasets.push(...seen.filter((one) => words.every((word) => textOf(one).includes(word))))
        if (datasets.length >= limit) break
      }
      const missing = connectors.unindexed().length
      return {
        query: q,
        total,
        limit,
        offset,
        series,
        categories,
        datasets: datasets
          .slice(0, limit)
          .map(({ id, name, repositoryId, description }) => ({ id, name, repositoryId, description })),
        hint:
          missing > 0
            ? `The catalogues of ${missing} providers are not here, so only series of theirs that were seen are found: \`parquetry providers index\` fetches them.`
            : null,
      }
    },
  })
}

/** All that is said about a dataset and its columns, in lower case. */
function textOf({ name, title, description, keywords = [], columns = [] }: DatasetSummary): string {
  const words = columns.flatMap((column) => [column.name, column.title, column.description])
  return [name, title, description, ...keywords, ...words].join(' ').toLowerCase()
}

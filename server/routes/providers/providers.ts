import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Provenance, Series } from '../../../connectors/index.ts'
import { ONE_SERIES } from '../../../connectors/transform/series-options.ts'
import type { Column, DatasetSummary, QueryOptions } from '../../../engine/index.ts'
import { fromHttp } from '../../../engine/options.ts'
import { pageOf, parameters, parametersOf } from '../../http/input.ts'
import { errors, json } from '../../openapi/describe.ts'
import { CATEGORIES, PROVIDER, SEARCH, SEARCH_ALL, SERIES, SERIES_LIST } from '../../records/providers.ts'
import { listOf } from '../../records/schema.ts'
import type { Services } from '../../services.ts'
import { callerOf, providerRecord } from '../../sources/caller.ts'
import { Transfer } from '../../transfers/transfer.ts'
import { PIECES, rowAnswers, rowParameters, rowsAsked } from '../data.ts'
import { answerLink, openedLink } from '../link-page.ts'
import { pathParameter, type Routes } from '../routes.ts'

const UPSTREAM = errors(402, 404, 429, 504)

const LIST_PROVIDERS = {
  operationId: 'listProviders',
  summary: 'List the providers',
  response: { 200: json(listOf(PROVIDER), 'The providers, in one list.') },
} as const

const GET_PROVIDER = {
  operationId: 'getProvider',
  summary: 'Get a provider',
  response: { 200: json(PROVIDER, 'The provider.') },
} as const

const BROWSE_PROVIDER = {
  operationId: 'browseProvider',
  summary: 'List the categories of a provider under a path, or the series there',
  querystring: parameters({
    path: {
      type: 'string',
      description: 'The category to look in; without it, the top level.',
      default: '',
      examples: ['13'],
    },
    series: { type: 'boolean', description: 'With true, lists the series instead of the categories.' },
    ...pageOf('series', { minimum: 1, default: 200, maximum: 1000 }),
  }),
  response: {
    200: json({ oneOf: [CATEGORIES, SERIES_LIST] }, 'Categories, or series.'),
    ...UPSTREAM,
  },
} as const

const GET_SERIES = {
  operationId: 'getSeries',
  summary: 'Get a series of a provider',
  description:
    'The id may contain slashes, plain or percent-encoded. The format json is an object with the observations; ' +
    'the other formats are a table of the observations.',
  querystring: parameters({
    ...rowParameters('json'),
    ...parametersOf(ONE_SERIES),
  }),
  response: {
    ...rowAnswers('The series.', SERIES),
    ...PIECES,
    ...UPSTREAM,
  },
} as const

export function providerRoutes(app: Routes, services: Services): void {
  const { engine, exports } = services

  app.get('/providers', { schema: LIST_PROVIDERS }, async ({ account }) => {
    const infos = (await services.connectors()).list()
    return Promise.all(infos.map((info) => providerRecord(services, account, info)))
  })

  app.get('/providers/:slug', { schema: GET_PROVIDER }, async (request) => {
    const info = (await services.connectors()).get(pathParameter(request, 'slug'))
    return providerRecord(services, request.account, info)
  })

  app.get('/providers/:slug/browse', { schema: BROWSE_PROVIDER }, async (request, reply) => {
    const { path = '', series = false, limit = 200, offset = 0 } = request.query
    const { info, caller } = await callerFor(services, request, reply)
    const connectors = await services.connectors()
    return series
      ? withoutProvenance(reply, await connectors.seriesList(info.slug, path, { limit, offset }, caller))
      : withoutProvenance(reply, await connectors.browse(info.slug, path, caller))
  })

  app.route({
    method: ['GET', 'HEAD'],
    url: '/providers/:slug/series/*',
    schema: GET_SERIES,
    handler: async (request, reply) => {
      const { window: options, ...download } = rowsAsked(request, request.query, 'json')
      const { format } = download
      const { info, caller } = await callerFor(services, request, reply)
      // Checks the options before the provider is asked, because a request counts against its limit.
      engine.relation(OBSERVATION_COLUMNS, []).query(options)[Symbol.dispose]()
      const id = pathParameter(request, '*')
      const connectors = await services.connectors()
      const answer = await connectors.series(info.slug, id, fromHttp(request.query, ONE_SERIES), caller)
      // Only JSON describes the series, so only JSON may cost further requests.
      const source =
        answer.source ?? (format === 'json' ? await connectors.source(info.slug, id, caller) : null)
      const series = { ...withoutProvenance(reply, answer), source }
      request.trace.stage('provider')
      const relation = engine.relation(OBSERVATION_COLUMNS, observationRows(series))
      const query = { open: () => relation.query(withColumns(options, series)) }
      const link = await openedLink(services, request)
      if (link) {
        const facts = { title: series.name, description: `${info.name}, ${series.series_id}` }
        return answerLink(services, request, reply, link, query, facts)
      }
      if (format === 'json' && Object.keys(options).length === 0) {
        return reply.header('row-count', series.observations.length).send(series)
      }
      const envelope = format === 'json' ? envelopeOf(series) : undefined
      return exports.send(request, reply, {
        ...download,
        query,
        name: `${info.slug}-${series.series_id}`,
        metered: false,
        ...(envelope && { envelope, variant: envelope.before }),
      })
    },
  })
}

/** The provider in the path, and the caller for it, who is gone when the client leaves. */
export function callerFor(services: Services, request: FastifyRequest, reply: FastifyReply) {
  const { signal } = new Transfer(request, reply, services)
  return callerOf(services, request.account, pathParameter(request, 'slug'), signal)
}

/** Moves the facts about the cache from the body to the headers (RFC 9111, 5.1). */
export function withoutProvenance<T extends Provenance>(reply: FastifyReply, answer: T) {
  const { stale, cachedAt, ...rest } = answer
  if (cachedAt !== undefined) {
    reply.header('age', Math.max(0, Math.round((Date.now() - Date.parse(cachedAt)) / 1000)))
  }
  if (stale) reply.header('warning', '110 - "Response is Stale"')
  return rest
}

const OBSERVATION_COLUMNS: readonly Column[] = [
  { name: 'date', type: 'date', nullable: false, description: '' },
  { name: 'period', type: 'string', nullable: true, description: '' },
  { name: 'value', type: 'double', nullable: true, description: '' },
  { name: 'status', type: 'string', nullable: true, description: '' },
  { name: 'known_from', type: 'date', nullable: true, description: '' },
  { name: 'known_to', type: 'date', nullable: true, description: '' },
]

/** Observations as rows of the columns above. */
function observationRows({ observations }: Series) {
  return observations.map(
    ({ date, period = null, value, status = null, known_from = null, known_to = null }) => [
      date,
      period,
      value,
      status,
      known_from,
      known_to,
    ],
  )
}

/** The options. If they name no columns, those that contain values are selected. */
function withColumns(options: QueryOptions, { observations }: Series): QueryOptions {
  const { select, apply, compute } = options
  if (select !== undefined || apply !== undefined || compute !== undefined) return options
  const hasPeriods = observations.some(({ period }) => period !== undefined)
  const hasStatuses = observations.some(({ status }) => status !== undefined)
  const names = ['date', ...(hasPeriods ? ['period'] : []), 'value', ...(hasStatuses ? ['status'] : [])]
  if (observations.some(({ known_from }) => known_from !== undefined)) names.push('known_from', 'known_to')
  return { ...options, select: names.join(',') }
}

/** The text before and after the observations in the JSON of a series. */
function envelopeOf(series: Series) {
  const { observations, ...head } = series
  return { before: `${JSON.stringify(head).slice(0, -1)},"observations":`, after: '}' }
}

const SEARCH_PAGE = pageOf('series', { minimum: 0, default: 20, maximum: 1000 })

const SEARCH_QUERY = parameters({
  q: {
    type: 'string',
    description: 'Words, all of which must be found; or an id.',
    examples: ['unemployment'],
  },
  limit: SEARCH_PAGE.limit,
  offset: {
    ...SEARCH_PAGE.offset,
    description: `${SEARCH_PAGE.offset.description} Where no provider searches itself, only the first 2000 matches can be read.`,
  },
})

const SEARCH_PROVIDER = {
  operationId: 'searchProvider',
  summary: 'Find series of a provider',
  description:
    "Uses the provider's own search where it has one. Otherwise searches its dataflows, its categories and the " +
    'series known here.',
  querystring: SEARCH_QUERY,
  response: { 200: json(SEARCH, 'What was found, best first.'), ...errors(402, 504) },
} as const

const SEARCH_EVERYWHERE = {
  operationId: 'search',
  summary: 'Find series of all providers, and your datasets',
  description:
    'Searches what is known here: what was browsed or found before, and what `parquetry providers index` has ' +
    'fetched, which a server does by itself for providers that need no key. No provider is asked. Datasets are ' +
    'found by their names, titles, descriptions, keywords and columns.',
  querystring: SEARCH_QUERY,
  response: { 200: json(SEARCH_ALL, 'What was found, best first.') },
} as const

/** The routes for a search in one provider, and in everything that is known of all providers. */
export function searchRoutes(app: Routes, services: Services): void {
  const { access, engine } = services

  app.get('/providers/:slug/search', { schema: SEARCH_PROVIDER }, async (request, reply) => {
    const { q = '', limit = 20, offset = 0 } = request.query
    const { info, caller } = await callerFor(services, request, reply)
    const found =
      q.trim() === ''
        ? { total: 0, series: [], categories: [] }
        : await (await services.connectors()).search(info.slug, q, { limit, offset }, caller)
    const series = found.series.map((one) => ({ ...one, provider: info.slug }))
    const categories = found.categories.map((one) => ({ ...one, provider: info.slug }))
    return { query: q, total: found.total, limit, offset, series, categories }
  })

  app.get('/search', { schema: SEARCH_EVERYWHERE }, async ({ query, account }) => {
    const { q = '', limit = 20, offset = 0 } = query
    const connectors = await services.connectors()
    const { total, series, categories } = connectors.searchAll(q, { limit, offset })
    const readable = await access.readable(account)
    const terms = q.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
    const own: DatasetSummary[] = []
    const others: DatasetSummary[] = []
    for await (const page of terms.length > 0 ? engine.datasetList(Number.POSITIVE_INFINITY) : []) {
      const seen = page.filter(({ repositoryId }) => readable.has(repositoryId))
      for (const one of seen.filter((each) => terms.every((word) => textOf(each).includes(word)))) {
        if (readable.get(one.repositoryId)?.relation !== 'other') own.push(one)
        else if (others.length < limit) others.push(one)
      }
      if (own.length >= limit) break
    }
    const missing = connectors.unindexed().length
    return {
      query: q,
      total,
      limit,
      offset,
      series,
      categories,
      datasets: [...own, ...others]
        .slice(0, limit)
        .map(({ id, name, repositoryId, description }) => ({ id, name, repositoryId, description })),
      hint:
        missing > 0
          ? `The catalogues of ${missing} providers are not here, so only series of theirs that were seen are found: \`parquetry providers index\` fetches them.`
          : null,
    }
  })
}

/** All that is said about a dataset and its columns, in lower case. */
function textOf({ name, title, description, keywords = [], columns = [] }: DatasetSummary): string {
  const terms = columns.flatMap((column) => [column.name, column.title, column.description])
  return [name, title, description, ...keywords, ...terms].join(' ').toLowerCase()
}

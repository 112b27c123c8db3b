import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyRequest } from 'fastify'
import { ServerError } from '../http/errors.ts'
import { empty, type JsonSchema, json } from '../openapi/describe.ts'
import { errors } from '../openapi/error-responses.ts'
import type { Services } from '../services.ts'
import { holdsOtherData } from '../sources/conflicts.ts'
import { holdsSeriesAlone } from '../sources/rows.ts'
import { INTERVALS } from '../sources/schedule.ts'
import type { Source } from '../sources/sources.ts'
import { checkedWanted, providersOf, type Wanted } from '../sources/wanted.ts'
import { datasetFor } from './dataset-for.ts'
import { callerOf } from './providers/caller.ts'
import type { Routes } from './routes.ts'

const tags = ['Sources']

/** How long an answer waits for the first refresh, which goes on after the answer if it takes longer. */
const PATIENCE_MS = 10_000

const momentOrNull: JsonSchema = { type: ['string', 'null'], format: 'date-time' }

export const SOURCE: JsonSchema = {
  type: 'object',
  description: 'The series that a dataset follows, and the state of the last refresh.',
  required: ['series', 'start', 'every', 'lastRun', 'nextRun', 'lastError', 'missing', 'lastVersion'],
  additionalProperties: false,
  properties: {
    series: {
      type: 'array',
      items: { type: 'string' },
      description: 'Ids, each with its provider in front.',
    },
    start: { type: ['string', 'null'], description: 'The first date to fetch.' },
    every: { type: 'string', enum: INTERVALS },
    lastRun: { ...momentOrNull, description: 'When the dataset was last refreshed; null: not yet.' },
    nextRun: {
      type: 'string',
      format: 'date-time',
      description: 'The next refresh: by the schedule, or sooner if a series could not be fetched.',
    },
    lastError: { type: ['string', 'null'], description: 'What went wrong in the last run; null: nothing.' },
    missing: {
      type: 'array',
      description: 'Series that could not be fetched in the last run; their earlier rows are kept.',
      items: {
        type: 'object',
        required: ['series', 'code', 'error'],
        additionalProperties: false,
        properties: { series: { type: 'string' }, code: { type: 'string' }, error: { type: 'string' } },
      },
    },
    lastVersion: { type: ['integer', 'null'], description: 'The last version that a refresh created.' },
  },
}

const EXAMPLE = {
  series: ['fred/GDP', 'ecb/EXR/M.USD.EUR.SP00.A'],
  start: '2000-01-01',
  every: 'day',
  lastRun: '2026-11-21T09:00:00.000Z',
  nextRun: '2026-11-22T09:00:00.000Z',
  lastError: null,
  missing: [],
  lastVersion: 3,
}

/** The routes for datasets that follow series of providers. */
export function sourceRoutes(app: Routes, services: Services): void {
  const { config, refresher, sources } = services

  const sourceFor = async (request: FastifyRequest, permission: 'Read' | 'Write') => {
    const { record } = await datasetFor(request, services, permission)
    return { record, source: await sources.get(record.id) }
  }
  const none = (id: number) =>
    new ServerError(
      'not_followed',
      `Dataset ${id} follows no series. To make it follow some, use PUT /datasets/${id}/source.`,
    )

  app.get('/datasets/:id/source', {
    schema: {
      operationId: 'getSource',
      summary: 'Get the series that a dataset follows',
      tags,
      response: { 200: json(SOURCE, 'The source.', { example: EXAMPLE }), ...errors(403, 404) },
    },
    handler: async (request) => {
      const { record, source } = await sourceFor(request, 'Read')
      if (source === undefined) throw none(record.id)
      return sourceRecord(source)
    },
  })

  app.put('/datasets/:id/source', {
    schema: {
      operationId: 'setSource',
      summary: 'Make a dataset follow series',
      description:
        'The series are fetched at once and then on the schedule, with your saved keys and within the limits of the ' +
        'providers. A new version is created only if something changed. The columns are `series_id`, `name`, `unit`, ' +
        '`frequency`, `date`, `period`, `value` and `status`; `time` takes the place of `date` where a series has a ' +
        'time of day. The dataset must be empty or hold rows of series; until the source is deleted, it accepts no ' +
        'other rows. The response waits up to ten seconds for the first refresh.',
      tags,
      body: {
        type: 'object',
        required: ['series'],
        additionalProperties: false,
        properties: {
          series: {
            type: 'array',
            minItems: 1,
            items: { type: 'string', maxLength: 2_100 },
            description:
              'Ids, each with its provider in front; an id with wildcards stands for several series.',
            examples: [['fred/GDP']],
          },
          start: {
            type: ['string', 'null'],
            description: 'The first date to fetch, as in ISO 8601.',
            documented: { format: 'date' },
          },
          every: { type: 'string', enum: INTERVALS, description: 'How often to refresh. Default day.' },
        },
      },
      response: {
        200: json(SOURCE, 'The source. Its first refresh has ended or is still running.', {
          example: EXAMPLE,
        }),
        ...errors(402, 403, 404, 409, 413, 415),
      },
    },
    handler: async (request) => {
      const { record } = await sourceFor(request, 'Write')
      const { account, body } = request
      const connectors = await services.connectors()
      const { series, start, every } = checkedWanted(body as Wanted, {
        slugs: connectors.list().map(({ slug }) => slug),
        most: config.limits.savedSeries,
      })
      if (!holdsSeriesAlone(record.columns)) throw holdsOtherData(record.name)
      const { signal } = new AbortController()
      for (const slug of providersOf(series)) await callerOf(services, account, slug, signal)
      const wanted = { datasetId: record.id, accountId: account.id, series, start, every }
      const { done } = await refresher.follow(wanted)
      await Promise.race([done, delay(PATIENCE_MS, undefined, { ref: false })])
      const source = await sources.get(record.id)
      if (source === undefined) throw none(record.id)
      return sourceRecord(source)
    },
  })

  app.delete('/datasets/:id/source', {
    schema: {
      operationId: 'deleteSource',
      summary: 'Stop following series; the rows stay',
      tags,
      response: { 204: empty('The dataset no longer follows any series.'), ...errors(403, 404) },
    },
    handler: async (request, reply) => {
      const { record } = await sourceFor(request, 'Write')
      if (!(await sources.remove(record.id))) throw none(record.id)
      return reply.code(204).send()
    },
  })
}

/** A source as clients see it. */
export function sourceRecord(source: Source) {
  const { series, start, every, lastRun, due, lastError, lastVersion } = source
  return {
    series: series.map(({ id }) => id),
    start,
    every,
    lastRun,
    nextRun: due,
    lastError,
    missing: series.flatMap(({ id, error }) =>
      error === undefined ? [] : [{ series: id, code: error.code, error: error.message }],
    ),
    lastVersion,
  }
}

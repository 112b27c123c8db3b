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
  description: 'What a dataset follows, and how that goes.',
  required: ['series', 'start', 'every', 'lastRun', 'nextRun', 'lastError', 'missing', 'lastVersion'],
  additionalProperties: false,
  properties: {
    series: { type: 'array', items: { type: 'string' }, description: 'Ids, each with its provider.' },
    start: { type: ['string', 'null'], description: 'The first date that is asked for.' },
    every: { type: 'string', enum: INTERVALS },
    lastRun: { ...momentOrNull, description: 'When it was last refreshed; null: not yet.' },
    nextRun: {
      type: 'string',
      format: 'date-time',
      description: 'By the schedule, or sooner where a series could not be had.',
    },
    lastError: { type: ['string', 'null'], description: 'What went wrong in the last run; null: nothing.' },
    missing: {
      type: 'array',
      description: 'Series that could not be had in the last run; their earlier rows are still there.',
      items: {
        type: 'object',
        required: ['series', 'code', 'error'],
        additionalProperties: false,
        properties: { series: { type: 'string' }, code: { type: 'string' }, error: { type: 'string' } },
      },
    },
    lastVersion: { type: ['integer', 'null'], description: 'The last version that a refresh made.' },
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
  const { config, connectors, refresher, sources } = services

  const sourceFor = async (request: FastifyRequest, permission: 'Read' | 'Write') => {
    const { record } = await datasetFor(request, services, permission)
    return { record, source: await sources.get(record.id) }
  }
  const none = (id: number) =>
    new ServerError('not_followed', `Dataset ${id} follows no series; PUT /datasets/${id}/source lets it.`)

  app.get('/datasets/:id/source', {
    schema: {
      operationId: 'getSource',
      summary: 'Get which series a dataset follows',
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
      summary: 'Let a dataset follow series',
      description:
        'The series are fetched at once, and from then on at the schedule, with your saved keys and within the limits ' +
        'of the providers. A new version is made only where something changed. The columns are `series_id`, `name`, ' +
        '`unit`, `frequency`, `date`, `period`, `value` and `status`; `time` stands in place of `date` where a series ' +
        'has a time of day. The dataset must be empty, or hold rows of series; until the source is ended it takes no ' +
        'other rows. The answer waits ten seconds for the first refresh.',
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
            description: 'Ids, each with its provider before it; with wildcards one stands for several.',
            examples: [['fred/GDP']],
          },
          start: { type: ['string', 'null'], description: 'The first date that is asked for, ISO.' },
          every: { type: 'string', enum: INTERVALS, description: 'How often; a day where it is not said.' },
        },
      },
      response: {
        200: json(SOURCE, 'The source, after its first refresh or in the middle of it.', {
          example: EXAMPLE,
        }),
        ...errors(402, 403, 404, 409, 413, 415),
      },
    },
    handler: async (request) => {
      const { record } = await sourceFor(request, 'Write')
      const { account, body } = request
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
      summary: 'End that a dataset follows series; its rows stay',
      tags,
      response: { 204: empty('It follows nothing any more.'), ...errors(403, 404) },
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

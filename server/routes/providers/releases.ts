import { parameters } from '../../http/input.ts'
import { errors, json } from '../../openapi/describe.ts'
import { RELEASES } from '../../records/providers.ts'
import type { Services } from '../../services.ts'
import type { Routes } from '../routes.ts'
import { callerFor, withoutProvenance } from './providers.ts'

const day = { type: 'string', examples: ['2026-08-01'], documented: { format: 'date' } } as const

const LIST_RELEASES = {
  operationId: 'listReleases',
  summary: 'List the releases that a provider has announced',
  description:
    'In the order of time. Providers without a calendar that programs can read are 404; the message names those with one.',
  querystring: parameters({
    from: { ...day, description: 'The first day. Default today, or a month before `to`.' },
    to: { ...day, description: 'The last day. By default a month after `from`; at most a year.' },
    series: {
      type: 'string',
      description:
        'Only the releases that change this series; 400 where the calendar does not say which series a release changes.',
      examples: ['GDP'],
    },
  }),
  response: { 200: json(RELEASES, 'The releases.'), ...errors(402, 404, 429, 504) },
} as const

export function releaseRoutes(app: Routes, services: Services): void {
  app.get('/providers/:slug/releases', { schema: LIST_RELEASES }, async (request, reply) => {
    const { info, caller } = await callerFor(services, request, reply)
    const connectors = await services.connectors()
    return withoutProvenance(reply, await connectors.releases(info.slug, request.query, caller))
  })
}

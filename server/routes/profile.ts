import { empty, json } from '../openapi/describe.ts'
import { errors } from '../openapi/error-responses.ts'
import { EXAMPLES } from '../records/examples.ts'
import { PROFILE } from '../records/profile.ts'
import type { Services } from '../services.ts'
import { datasetFor } from './dataset-for.ts'
import type { Routes } from './routes.ts'

export function profileRoutes(app: Routes, services: Services): void {
  app.get('/datasets/:id/profile', {
    schema: {
      operationId: 'getProfile',
      summary: 'Get the profile of the columns of a dataset',
      description:
        'Nulls, different values, the lowest and highest one, mean, quantiles, histogram and frequent values of each ' +
        'column. It is made once for a version, in the background, when it is first asked for.',
      tags: ['Datasets'],
      response: {
        200: json(PROFILE, 'The profile of the current version.', { example: EXAMPLES.profile }),
        202: empty('The profile is being made: ask again.', {
          'Retry-After': { description: 'Seconds.', schema: { type: 'integer' } },
        }),
        ...errors(403, 404),
      },
    },
    handler: async (request, reply) => {
      const { dataset } = await datasetFor(request, services, 'Read')
      const profile = await dataset.profile()
      return profile ? reply.send(profile) : reply.code(202).header('retry-after', 1).send()
    },
  })
}

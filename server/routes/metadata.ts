import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { addLink } from '../http/headers.ts'
import { croissant } from '../metadata/croissant.ts'
import { dataPackage } from '../metadata/datapackage.ts'
import { type Described, licenseUrl } from '../metadata/described.ts'
import { rowSchema } from '../metadata/row-schema.ts'
import { empty, json, RECORD_TAG } from '../openapi/describe.ts'
import type { Dataset } from '../records/index.ts'
import { PROFILE } from '../records/profile.ts'
import type { Services } from '../services.ts'
import { datasetFor, tagOf } from './dataset-for.ts'
import type { Routes } from './routes.ts'

interface Document {
  readonly operationId: string
  readonly summary: string
  readonly type: string
  readonly describe: (dataset: Described) => object
}

/** What describes a dataset to other programs, by the end of its path. */
const DOCUMENTS: Readonly<Record<string, Document>> = {
  'croissant.json': {
    operationId: 'getCroissant',
    summary: 'Describe a dataset in Croissant, for machine learning and dataset search',
    type: 'application/ld+json',
    describe: croissant,
  },
  'datapackage.json': {
    operationId: 'getDataPackage',
    summary: 'Describe a dataset as a Data Package, for Frictionless',
    type: 'application/vnd.datapackage+json',
    describe: dataPackage,
  },
  'schema.json': {
    operationId: 'getRowSchema',
    summary: 'Get the JSON Schema of a row',
    type: 'application/schema+json',
    describe: rowSchema,
  },
}

export function metadataRoutes(app: Routes, services: Services): void {
  for (const [ending, { operationId, summary, type, describe }] of Object.entries(DOCUMENTS)) {
    app.get(`/datasets/:id/${ending}`, {
      schema: {
        operationId,
        summary,
        response: {
          200: {
            description: 'The description of the current version.',
            headers: { ETag: RECORD_TAG },
            content: { [type]: { schema: { type: 'object', additionalProperties: true } } },
          },
        },
      },
      handler: async (request, reply) => {
        const { record } = await datasetFor(request, services, 'Read')
        const url = `${request.publicUrl}${app.prefix}/datasets/${record.id}`
        return reply
          .type(`${type}; charset=utf-8`)
          .header('etag', tagOf(record))
          .send(Readable.from([JSON.stringify(describe({ record, url }))]))
      },
    })
  }
}

/** Says with rows where their dataset is described, and under which license they are (RFC 8288). */
export function linkMetadata(reply: FastifyReply, prefix: string, record: Dataset): void {
  const links = Object.entries(DOCUMENTS).map(
    ([ending, { type }]) => `<${prefix}/datasets/${record.id}/${ending}>; rel="describedby"; type="${type}"`,
  )
  if (record.license) links.push(`<${encodeURI(licenseUrl(record.license))}>; rel="license"`)
  addLink(reply, ...links)
}

export function profileRoutes(app: Routes, services: Services): void {
  app.get('/datasets/:id/profile', {
    schema: {
      operationId: 'getProfile',
      summary: 'Get the profile of the columns of a dataset',
      description:
        'Nulls, different values, the lowest and highest one, mean, quantiles, histogram and frequent values of each ' +
        'column. It is made once for a version, in the background, when it is first asked for.',
      response: {
        200: json(PROFILE, 'The profile of the current version.'),
        202: empty('The profile is being made: ask again.', {
          'Retry-After': { description: 'Seconds.', schema: { type: 'integer' } },
        }),
      },
    },
    handler: async (request, reply) => {
      const { dataset } = await datasetFor(request, services, 'Read')
      const profile = await dataset.profile()
      return profile ? reply.send(profile) : reply.code(202).header('retry-after', 1).send()
    },
  })
}

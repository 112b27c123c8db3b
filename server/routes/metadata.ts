import type { FastifyReply } from 'fastify'
import { type TypeName, typeName } from '../../engine/types/index.ts'
import { LINK_SECONDS } from '../accounts/links.ts'
import { asSigned } from '../http/addresses.ts'
import { addLink } from '../http/headers.ts'
import { empty, json, RECORD_TAG } from '../openapi/describe.ts'
import { PROFILE } from '../records/datasets.ts'
import type { Column, Dataset } from '../records/index.ts'
import type { Services } from '../services.ts'
import { datasetFor, type Routes, tagOf } from './routes.ts'

interface Document {
  readonly operationId: string
  readonly summary: string
  readonly type: string
  readonly describe: (dataset: Described) => Readonly<Record<string, unknown>>
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
        const { account, keyId, publicUrl, url } = request
        const path = `${app.prefix}/datasets/${record.id}`
        const csv = `${path}/data?$format=csv&$version=${record.version}`
        // A program that has an address alone has to get the rows by one, too.
        const hasKey = asSigned(url) !== url
        const rows = hasKey ? await services.links.address(account.id, keyId, csv, LINK_SECONDS) : csv
        // A ticket is another one each time, so that the tag is made of the answer.
        if (!hasKey) reply.header('etag', tagOf(record))
        return reply
          .type(`${type}; charset=utf-8`)
          .send(describe({ record, url: publicUrl + path, rows: publicUrl + rows }))
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

/** A dataset to be described to other programs. */
interface Described {
  readonly record: Dataset
  /** Where it is, without a slash at the end. */
  readonly url: string
  /** Where the rows of its version are as csv; with a ticket, if the description was asked for by `apiKey`. */
  readonly rows: string
}

const isUrl = (text: string) => /^https?:\/\//.test(text)

/** The address of the license: SPDX has a page for each id. */
function licenseUrl(license: string): string {
  return isUrl(license) ? license : `https://spdx.org/licenses/${encodeURIComponent(license)}.html`
}

/** The fields whose value is set. */
function setFields<T extends object>(fields: T): { [Name in keyof T]?: NonNullable<T[Name]> } {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== ''),
  ) as never
}

/** A column's description with its unit, for formats that have no field for units. */
function described({ description, unit }: Column): string | undefined {
  const text = [description, unit && `Unit: ${unit}`].filter(Boolean).join(' ')
  return text === '' ? undefined : text
}

/** What our types are in Croissant, in the fields of a Data Package, and in JSON Schema. */
const TYPES = {
  boolean: { croissant: 'sc:Boolean', field: { type: 'boolean' }, schema: { type: 'boolean' } },
  integer: { croissant: 'sc:Integer', field: { type: 'integer' }, schema: { type: 'integer' } },
  double: {
    croissant: 'sc:Float',
    field: { type: 'number' },
    // NaN and infinities, which JSON lacks, are text.
    schema: { type: ['number', 'string'], pattern: '^(NaN|-?INF)$' },
  },
  decimal: { croissant: 'sc:Float', field: { type: 'number' }, schema: { type: 'number' } },
  string: { croissant: 'sc:Text', field: { type: 'string' }, schema: { type: 'string' } },
  date: { croissant: 'sc:Date', field: { type: 'date' }, schema: { type: 'string', format: 'date' } },
  time: { croissant: 'sc:Text', field: { type: 'time', format: 'any' }, schema: { type: 'string' } },
  timestamp: { croissant: 'sc:Date', field: { type: 'datetime', format: 'any' }, schema: { type: 'string' } },
  timestamptz: {
    croissant: 'sc:Date',
    field: { type: 'datetime', format: 'any' },
    schema: { type: 'string', format: 'date-time' },
  },
  uuid: {
    croissant: 'sc:Text',
    field: { type: 'string', format: 'uuid' },
    schema: { type: 'string', format: 'uuid' },
  },
  binary: {
    croissant: 'sc:Text',
    field: { type: 'string', format: 'binary' },
    schema: { type: 'string', contentEncoding: 'base64' },
  },
  json: { croissant: 'sc:Text', field: { type: 'any' }, schema: {} },
} as const satisfies Record<TypeName, { croissant: string; field: object; schema: object }>

/** Names of the vocabulary that stand for themselves. */
const WORDS =
  'citeAs column extract field fileObject fileProperty fileSet format includes isLiveDataset jsonPath key md5 ' +
  'parentField path recordSet references regex repeated replace separator source subField transform'

/** The context of Croissant 1.0, which its specification has every document repeat. */
const CONTEXT = {
  '@language': 'en',
  '@vocab': 'https://schema.org/',
  ...Object.fromEntries(WORDS.split(' ').map((word) => [word, `cr:${word}`])),
  conformsTo: 'dct:conformsTo',
  cr: 'http://mlcommons.org/croissant/',
  data: { '@id': 'cr:data', '@type': '@json' },
  dataType: { '@id': 'cr:dataType', '@type': '@vocab' },
  dct: 'http://purl.org/dc/terms/',
  examples: { '@id': 'cr:examples', '@type': '@json' },
  rai: 'http://mlcommons.org/croissant/RAI/',
  sc: 'https://schema.org/',
}

/** A dataset in Croissant 1.0 (https://docs.mlcommons.org/croissant/docs/croissant-spec.html). */
function croissant({ record, url, rows }: Described): Readonly<Record<string, unknown>> {
  const { title, name, description, license, source, creator, keywords, citation } = record
  return {
    '@context': CONTEXT,
    '@type': 'sc:Dataset',
    conformsTo: 'http://mlcommons.org/croissant/1.0',
    ...setFields({
      name,
      alternateName: title,
      description: description || title || name,
      license: license && licenseUrl(license),
      isBasedOn: source,
      creator: creator && { '@type': 'sc:Organization', name: creator },
      keywords,
      citeAs: citation,
    }),
    url,
    version: `${record.version}.0.0`,
    datePublished: record.createdAt,
    dateModified: record.updatedAt,
    // Rows are made when they are asked for, so that their files have no hash.
    isLiveDataset: true,
    distribution: [
      {
        '@type': 'cr:FileObject',
        '@id': 'rows.csv',
        name: 'rows.csv',
        description: 'All rows as csv. Needs an API key.',
        contentUrl: rows,
        encodingFormat: 'text/csv',
      },
    ],
    ...(record.columns.length > 0 && { recordSet: [recordSet(record)] }),
  }
}

function recordSet(record: Dataset): object {
  return {
    '@type': 'cr:RecordSet',
    '@id': 'rows',
    name: 'rows',
    field: record.columns.map((column, index) => ({
      '@type': 'cr:Field',
      // Ids may not have every character that names may have.
      '@id': `rows/${index + 1}`,
      name: column.name,
      ...setFields({ alternateName: column.title, description: described(column) }),
      dataType: TYPES[typeName(column.type)].croissant,
      source: { fileObject: { '@id': 'rows.csv' }, extract: { column: column.name } },
    })),
  }
}

/** A dataset as a Data Package (https://specs.frictionlessdata.io/data-package/). */
function dataPackage({ record, url, rows }: Described): Readonly<Record<string, unknown>> {
  const { title, description, license, source, creator, keywords } = record
  const name = slug(record.name) || `dataset-${record.id}`
  return {
    profile: 'data-package',
    name,
    ...setFields({
      title: title ?? record.name,
      description,
      licenses: license && [
        isUrl(license) ? { path: license } : { name: license.replace(/[^-a-zA-Z0-9._]/g, '-') },
      ],
      sources: source && [isUrl(source) ? { title: source, path: source } : { title: source }],
      contributors: creator && [{ title: creator, role: 'author' }],
      keywords,
    }),
    homepage: url,
    version: String(record.version),
    created: record.createdAt,
    resources: [
      {
        name,
        path: rows,
        profile: 'tabular-data-resource',
        format: 'csv',
        mediatype: 'text/csv',
        encoding: 'utf-8',
        schema: {
          fields: record.columns.map((column) => ({
            name: column.name,
            ...TYPES[typeName(column.type)].field,
            ...setFields({ title: column.title, description: described(column) }),
            ...(!column.nullable && { constraints: { required: true } }),
          })),
          missingValues: [''],
        },
      },
    ],
  }
}

/** Names of packages have only these characters. */
function slug(name: string): string {
  return name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9._]+/g, '-')
    .replace(/^-+|-+$/g, '')
}

/** The JSON Schema of one row, as json and ndjson have it. */
function rowSchema({ record, url }: Described): Readonly<Record<string, unknown>> {
  const properties = record.columns.map((column) => [column.name, propertyOf(column)] as const)
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: `${url}/schema.json`,
    ...setFields({ title: record.title ?? record.name, description: record.description }),
    type: 'object',
    properties: Object.fromEntries(properties),
    required: record.columns.map(({ name }) => name),
    additionalProperties: false,
  }
}

function propertyOf(column: Described['record']['columns'][number]): object {
  const fields = setFields({ title: column.title, description: described(column) })
  const plain: { readonly type?: string | readonly string[] } = TYPES[typeName(column.type)].schema
  return { ...fields, ...plain, ...(plain.type && column.nullable && { type: [plain.type, 'null'].flat() }) }
}

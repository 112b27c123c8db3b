import { readFileSync } from 'node:fs'
import { Ajv2020, type AnySchema } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { dataset, type Platform, platform } from '../platform.ts'

type Schema = Record<string, unknown>

interface Operation {
  readonly method: string
  readonly path: string
  readonly operationId: string
  readonly summary: string
  readonly tags: readonly string[]
  readonly security?: readonly unknown[]
  readonly parameters: readonly {
    name: string
    in: string
    schema: Schema
    required: boolean
    description: string
    example?: unknown
  }[]
  readonly requestBody?: { content: Record<string, { schema: Schema; example?: unknown }> }
  readonly responses: Record<string, Schema>
}

let at: Platform
let document: Schema & {
  paths: Record<string, Record<string, Operation>>
  components: Record<string, Record<string, Schema>>
}
let operations: Operation[]
let ajv: Ajv2020
beforeAll(async () => {
  at = await platform({
    config: {
      providers: { fred: { key: 'k', limits: { windows: [{ requests: 100_000, perSeconds: 60 }] } } },
    },
    routes: {
      '/fred/releases/dates': { body: { count: 0, release_dates: [] } },
      '/fred/series/release': { body: { releases: [{ id: 1, name: 'One' }] } },
      '/fred/release/dates': { body: { count: 0, release_dates: [] } },
      '/fred/release/sources': { body: { sources: [{ id: 1, name: 'One' }] } },
      '/fred/series/vintagedates': { body: { count: 1, vintage_dates: ['2020-01-01'] } },
      '/fred/category/children': { body: { categories: [{ id: 1, name: 'One', notes: '' }] } },
      '/fred/series/search': { body: { count: 1, seriess: [{ id: 'X', title: 'X' }] } },
      '/fred/category/series': { body: { count: 1, seriess: [{ id: 'X', title: 'X' }] } },
      '/fred/series': { body: { seriess: [{ id: 'X', title: 'X', frequency: 'Monthly', units: 'u' }] } },
      '/fred/series/observations': { body: { count: 1, observations: [{ date: '2020-01-01', value: '1' }] } },
    },
  })
  document = (await at.call(undefined, 'GET', '/openapi.json')).json()
  operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      parameters: operation.parameters ?? [],
      method: method.toUpperCase(),
      path,
    })),
  )
  ajv = new Ajv2020({
    strict: false,
    allErrors: true,
    formats: { 'date-time': /^\d{4}-\d\d-\d\dT[\d:.]+Z$/, binary: true, int64: true },
  })
  ajv.addSchema({ ...document, $id: 'api' } as AnySchema)
})
afterAll(() => at[Symbol.asyncDispose]())

/** A part of the document, its references followed. */
function resolved(part: Schema): Schema {
  const reference = part['$ref']
  if (typeof reference !== 'string') return part
  const found = reference
    .slice(2)
    .split('/')
    .reduce<unknown>((node, key) => (node as Schema)[key], document)
  return resolved(found as Schema)
}

function problems(schema: Schema, value: unknown): unknown {
  const absolute = JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"api#/'))
  const validate = ajv.compile(absolute)
  return validate(value) ? undefined : validate.errors
}

describe('the document', () => {
  it('is OpenAPI 3.1, names itself and its version', () => {
    expect(document).toMatchObject({ openapi: '3.1.0', info: { title: 'Parquetry', version: '1.2.3' } })
  })

  it('has references that lead somewhere', () => {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map((match) => match[1]!)
    expect(references.length).toBeGreaterThan(50)
    for (const reference of new Set(references))
      expect(resolved({ $ref: reference }), reference).toBeDefined()
  })

  it('describes every operation, parameter and answer', () => {
    const ids = operations.map((operation) => operation.operationId)
    expect(new Set(ids).size).toBe(ids.length)
    const tags = (document['tags'] as { name: string }[]).map((tag) => tag.name)
    for (const { operationId, summary, tags: given, path, parameters, responses, security } of operations) {
      expect(summary, operationId).toMatch(/^[A-Z].{8,}/)
      expect(tags, operationId).toEqual(expect.arrayContaining([...given]))
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1])
      expect(parameters.filter((one) => one.in === 'path').map((one) => one.name)).toEqual(inPath)
      for (const { name, description } of parameters)
        expect(description, `${operationId} ${name}`).toMatch(/.{3,}/)
      for (const status of ['400', '414', '431', '500', '503', ...(security ? [] : ['401'])])
        expect(responses).toHaveProperty(status)
      for (const response of Object.values(responses))
        expect(resolved(response)['description']).toBeTypeOf('string')
    }
  })

  it('has an example for every JSON answer and JSON body, each valid', () => {
    for (const { operationId, responses, parameters, requestBody } of operations) {
      for (const [status, reference] of Object.entries(responses)) {
        const content = resolved(reference)['content'] as
          | Record<string, { schema: Schema; example?: unknown }>
          | undefined
        const media = content?.['application/json']
        // The document itself, and rows, whose columns are a dataset's own.
        const isOpen = media && resolved(media.schema)['properties'] === undefined
        if (!media || (isOpen && media.example === undefined)) continue
        expect(problems(media.schema, media.example), `${operationId} ${status}`).toBeUndefined()
      }
      const body = requestBody?.content['application/json']
      if (body?.example !== undefined)
        expect(problems(body.schema, body.example), operationId).toBeUndefined()
      for (const { name, schema, example } of parameters) {
        if (example !== undefined) expect(problems(schema, example), `${operationId} ${name}`).toBeUndefined()
      }
    }
  })

  it('can be understood by generators of clients', () => {
    const found = { names: new Set<string>(), small: new Set<string>(), bare: new Set<string>() }
    const visit = (part: unknown, path: string): void => {
      if (typeof part !== 'object' || part === null || /\/examples?$/.test(path)) return
      const { type, maximum, format, items } = part as Schema
      if ([type].flat().includes('integer') && format !== 'int64' && !(Number(maximum) < 2 ** 31))
        found.small.add(path)
      if ([type].flat().includes('array') && items === undefined) found.bare.add(path)
      for (const [name, one] of Object.entries(part)) visit(one, `${path}/${name}`)
    }
    visit(document, '')
    for (const { parameters } of operations) for (const { name } of parameters) found.names.add(name)
    expect([...found.names].filter((name) => !/^\$?[A-Za-z]\w*$/.test(name))).toEqual([])
    expect([...found.small]).toEqual([])
    expect([...found.bare]).toEqual([])
    const schemas = Object.keys(document.components['schemas']!)
    // What Go calls the constructor of a type.
    expect(schemas.filter((name) => schemas.some((other) => name === `New${other}`))).toEqual([])
    const content = document.paths['/datasets/{id}/data']!['get']!.responses['200']!['content'] as Schema
    const binary = Object.entries(content).filter(
      ([, one]) => (one as { schema: Schema }).schema['format'] === 'binary',
    )
    expect(binary.map(([type]) => type.replace(/^.*[./]/, '')).sort()).toEqual([
      'file',
      'parquet',
      'sheet',
      'stream',
    ])
  })

  it('names the ways to send a key, those in a header first', () => {
    const schemes = document.components['securitySchemes']!
    expect((document['security'] as object[]).map((one) => schemes[Object.keys(one)[0]!])).toMatchObject([
      { type: 'http', scheme: 'bearer' },
      { type: 'http', scheme: 'basic' },
      { type: 'apiKey', in: 'header', name: 'X-API-Key' },
      { type: 'apiKey', in: 'query', name: 'apiKey' },
    ])
  })

  it('lists the headers that matter', () => {
    const download = document.paths['/datasets/{id}/data']!['get']!
    expect(Object.keys(resolved(download.responses['200']!)['headers'] as object)).toEqual(
      expect.arrayContaining([
        'Row-Count',
        'ETag',
        'Content-Disposition',
        'Content-Encoding',
        'Server-Timing',
      ]),
    )
    for (const { operationId, method, security, responses } of operations) {
      const own = method === 'GET' ? (security ? [] : ['304']) : ['413', '415']
      expect(Object.keys(responses), operationId).toEqual(expect.arrayContaining(own))
      const rows = resolved(responses['200'] ?? {})['headers'] as object | undefined
      const inPieces = method === 'GET' && rows !== undefined && 'Accept-Ranges' in rows
      expect('206' in responses, operationId).toBe(inPieces || operationId === 'readParquetFile')
    }
    expect(resolved(download.responses['401']!)['headers']).toHaveProperty('WWW-Authenticate')
    expect(resolved(download.responses['503']!)['headers']).toHaveProperty('Retry-After')
    expect(document.paths['/repositories']!['post']!.responses['201']).toHaveProperty('headers.Location')
  })
})

/** Values that a schema allows, mostly. */
function arbitrary(given: Schema): fc.Arbitrary<unknown> {
  const schema = resolved(given)
  if (Array.isArray(schema['oneOf']))
    return fc.oneof(...schema['oneOf'].map((one) => arbitrary(one as Schema)))
  if (schema['then'])
    return fc.oneof(arbitrary(schema['then'] as Schema), arbitrary(schema['else'] as Schema))
  if (Array.isArray(schema['enum'])) return fc.constantFrom(...schema['enum'])
  switch ([schema['type']].flat()[0]) {
    case 'integer':
      return fc.integer({
        min: (schema['minimum'] as number) ?? -5,
        max: Math.min((schema['maximum'] as number) ?? 50, 2 ** 31 - 1),
      })
    case 'boolean':
      return fc.boolean()
    case 'string':
      return fc.oneof(
        fc.string({ minLength: 1, maxLength: 20 }),
        fc.string({ unit: 'grapheme', maxLength: 10 }),
        fc.constantFrom('integer', 'string', 'n', 'word', 'n gt 3', 'n desc', 'X', '13', '2020-01-01'),
      )
    case 'array':
      return fc.array(arbitrary((schema['items'] ?? {}) as Schema), { maxLength: 4 })
    case 'object': {
      const properties = Object.entries((schema['properties'] ?? {}) as Record<string, Schema>)
      return properties.length === 0
        ? fc.dictionary(fc.string({ maxLength: 5 }), fc.jsonValue())
        : fc.record(Object.fromEntries(properties.map(([name, one]) => [name, arbitrary(one)])), {
            requiredKeys: (schema['required'] as string[]) ?? [],
          })
    }
    default:
      return fc.jsonValue()
  }
}

/** Mostly what the document allows, sometimes anything. */
const often = (right: fc.Arbitrary<unknown>, wrong: fc.Arbitrary<unknown>) =>
  fc.oneof({ arbitrary: right, weight: 3 }, { arbitrary: wrong, weight: 1 })

/** Mostly the first. */
const mostly = (right: string, ...others: string[]) =>
  often(fc.constant(right), fc.constantFrom(...others)) as fc.Arbitrary<string>

function calls(operation: Operation) {
  const query = operation.parameters.filter((one) => one.in === 'query')
  const known = Object.fromEntries(
    query.map(({ name, schema }) => [name, often(arbitrary(schema), fc.string())]),
  )
  const strange = fc.dictionary(
    fc.constantFrom('$top', 'TOP', '$nope', 'x', '', 'apiKey', '__proto__'),
    fc.string(),
    { maxKeys: 1 },
  )
  const types = Object.keys(operation.requestBody?.content ?? {})
  const json = operation.requestBody?.content['application/json']
  return fc.record({
    query: fc.tuple(
      fc.oneof(
        fc.constant({}),
        fc
          .constantFrom(...Object.keys(known), 'apiKey')
          .chain((name) => fc.record({ [name]: known[name] ?? fc.string() })),
        fc.record(known, { requiredKeys: [] }),
      ),
      often(fc.constant({}), strange),
    ),
    id: mostly('right', '0', '999999', 'abc', '%00', '-1'),
    slug: mostly('fred', 'FRED', 'nosuch', 'a%2Fb'),
    account: mostly('grace', 'nobody', '%20', 'a..b'),
    series: mostly('X', 'a/b', 'a%2Fb', '%2E%2E%2F', 'X%0D%0A', '%F0%9F%98%80'),
    type: often(fc.constant('application/json'), fc.constantFrom('text/plain', ...types)),
    body: json
      ? fc.oneof(
          arbitrary(json.schema).map((value) => JSON.stringify(value)),
          fc.json(),
          fc.string(),
        )
      : fc.constant(undefined),
  })
}

describe('every operation, called with what the document allows and with what it does not', () => {
  it('never gives 500, and answers as documented', async () => {
    const owner = await at.account('owner')
    await at.account('grace')
    let ids = { repository: 0, id: 0 }
    for (const operation of operations.filter(({ operationId }) => operationId !== 'rotateApiKey')) {
      await fc.assert(
        fc.asyncProperty(calls(operation), async (call) => {
          const exists = await at.call(owner, 'GET', `/datasets/${ids.id}`)
          if (exists.statusCode !== 200) ids = await dataset(at, owner)
          const right = operation.path.startsWith('/repositories') ? ids.repository : ids.id
          const path = operation.path
            .replace('{id}', call.id === 'right' ? String(right) : call.id)
            .replace('{slug}', call.slug)
            .replace('{account}', call.account)
            .replace('{series_id}', call.series)
          const search = new URLSearchParams(
            call.query.flatMap((part) =>
              Object.entries(part as object).map(([name, value]) => [
                name,
                (typeof value === 'object' ? JSON.stringify(value) : String(value)).toWellFormed(),
              ]),
            ),
          )
          const response = await at.call(owner, operation.method, `${path}?${search}`, {
            ...(call.body !== undefined && {
              body: call.body,
              headers: { 'content-type': String(call.type) },
            }),
          })
          const status = String(response.statusCode)
          const what = `${operation.operationId} ${status} ${response.body.slice(0, 300)}`
          expect(response.statusCode, what).not.toBe(500)
          // A path with an empty or a strange part may lead to no operation at all.
          const documented =
            operation.responses[status] ??
            (status === '404' || status === '405' ? { $ref: '#/components/responses/Error404' } : undefined)
          expect(documented, what).toBeDefined()
          const content = resolved(documented!)['content'] as Record<string, { schema: Schema }> | undefined
          if (!content || response.body === '') return
          const type = String(response.headers['content-type']).split(';')[0]!
          // Generated clients would have a text as the answer to every upload, so only words tell of these lines.
          if (operation.operationId === 'appendData' && type === 'application/x-ndjson') return
          expect(Object.keys(content), what).toContain(type)
          if (type === 'application/json')
            expect(problems(content[type]!.schema, response.json()), what).toBeUndefined()
        }),
        { numRuns: 10 },
      )
    }
  }, 300_000)
})

it('the configuration for openapi-python-client names each media type of a file', () => {
  const path = new URL('../../../examples/openapi-python-client.yml', import.meta.url)
  const { content_type_overrides: known } = parse(readFileSync(path, 'utf8'))
  const types = operations.flatMap(({ requestBody }) => Object.keys(requestBody?.content ?? {}))
  expect(Object.keys(known).sort()).toEqual(
    [...new Set(types)].filter((type) => type !== 'application/json' && type !== 'text/plain').sort(),
  )
})

it('rows and what stands in their place are as documented', async () => {
  const key = await at.account('explainer')
  const { id } = await dataset(at, key)
  const { responses } = operations.find(({ operationId }) => operationId === 'downloadData')!
  const content = resolved(responses['200']!)['content'] as Record<string, { schema: Schema }>
  for (const search of ['$format=json', '$explain=true', '$explain=sql', '$explain=true&$top=0']) {
    const answer = await at.call(key, 'GET', `/datasets/${id}/data?${search}`)
    expect(answer.statusCode, search).toBe(200)
    expect(problems(content['application/json']!.schema, answer.json()), search).toBeUndefined()
  }
})

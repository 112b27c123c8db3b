import { Command } from 'commander'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { planQuery } from '../../../engine/plan/plan.ts'
import { Client } from '../../../server/client/index.ts'
import { addExportCommand } from '../../../server/commands/export.ts'
import { addImportCommand } from '../../../server/commands/import.ts'
import { dataset, type Platform, platform } from '../platform.ts'

// Files share what they have loaded: here it is loaded anew with the other tables, and afterwards with the real ones.
vi.hoisted(() => vi.resetModules())
afterAll(() => vi.resetModules())

/** The tables of options with one more row each. */
vi.mock('../../../engine/options.ts', async (importOriginal) => {
  const real = await importOriginal<typeof import('../../../engine/options.ts')>()
  const sample = {
    http: '$sample',
    kind: 'count',
    excludes: ['last'],
    about: 'Returns this many rows, chosen by `$orderby`.',
  }
  const shout = { http: '$shout', kind: 'flag', formats: ['csv'], about: 'Writes text in capitals.' }
  const comment = { http: 'comment', kind: 'character', formats: ['csv'], about: 'Begins a comment.' }
  const DIALECT = { ...real.DIALECT, shout }
  const READING = { ...real.READING, comment }
  return {
    ...real,
    QUERY: { ...real.QUERY, sample },
    DIALECT,
    WRITING: { ...real.WRITING, shout },
    READING,
    UPLOADING: { ...real.UPLOADING, comment },
  }
})

const SAMPLE = 'Returns this many rows, chosen by `$orderby`. Not together with `$last`.'

let at: Platform
let ada: string
let id: number
beforeAll(async () => {
  at = await platform()
  ada = await at.account('ada')
  ;({ id } = await dataset(at, ada, { name: 'prices' }))
})
afterAll(() => at[Symbol.asyncDispose]())

const get = (url: string) => at.call(ada, 'GET', url)
const errorOf = async (url: string) => (await get(url)).json().error

test('a new row is an option of the library, with its checks', () => {
  const scan = () => ({ kind: 'slices', slices: [], of: 0 }) as const
  const check = (options: object) => () => planQuery({ columns: [], rows: 0, rowBytes: 0, scan }, options)
  expect(check({ sample: 5 })).not.toThrow()
  expect(check({ sample: -1 })).toThrow('sample must be a non-negative integer (got -1).')
  expect(check({ sample: 1, last: 1 })).toThrow("sample and last can't be used together.")
})

test('a new row is a parameter of HTTP, with its checks and a hint for its name', async () => {
  const data = `/datasets/${id}/data`
  expect((await get(`${data}?$sample=5&shout=true`)).statusCode).toBe(200)
  expect(await errorOf(`${data}?$sample=x`)).toBe('$sample must be a non-negative integer (got "x").')
  expect(await errorOf(`${data}?$sampel=5`)).toContain('Did you mean $sample?')
  expect(await errorOf(`${data}?$format=json&$shout=true`)).toBe('$shout is for csv; the format is json.')
  const upload = await at.call(ada, 'PUT', `${data}?comment=%23`, {
    body: 'a\n1\n',
    headers: { 'content-type': 'text/tab-separated-values' },
  })
  expect(upload.json().error).toBe('comment is for csv; the format is tsv.')
})

test('a new row is in the OpenAPI document', async () => {
  const { paths } = (await get('/openapi.json')).json()
  const parameter = (path: string, method: string, name: string) =>
    paths[path][method].parameters.find((one: { name: string }) => one.name === name)
  for (const path of ['/datasets/{id}/data', '/series', '/providers/{slug}/series/{series_id}']) {
    expect(parameter(path, 'get', '$sample')).toMatchObject({
      description: SAMPLE,
      schema: { type: 'integer', minimum: 0 },
    })
    expect(parameter(path, 'get', '$shout')).toMatchObject({ description: 'csv: writes text in capitals.' })
  }
  for (const method of ['put', 'post'])
    expect(parameter('/datasets/{id}/data', method, 'comment')).toMatchObject({ schema: { type: 'string' } })
})

test('a new row is an option of OData', async () => {
  const { repositoryId } = (await get(`/datasets/${id}`)).json()
  const set = `/repositories/${repositoryId}/odata/prices`
  expect((await get(`${set}?$sample=5`)).statusCode).toBe(200)
  expect((await get(`${set}?$sample=x`)).json().error).toMatchObject({ target: '$sample' })
})

test('a new row is an option of the client', () => {
  const client = new Client({ url: 'http://data.example.org' })
  const address = (options: object) => client.datasets.address(1, 'csv', options).search
  expect(address({ sample: 5, shout: true, top: 1 })).toBe('?$format=csv&$top=1&$sample=5&$shout=true')
  expect(() => address({ sample: 'x' })).toThrow('$sample must be a non-negative integer (got "x").')
})

test('a new row is an option of the commands', () => {
  const program = new Command()
  addExportCommand(program, async () => {})
  addImportCommand(program, async () => {})
  const [exporting, importing] = program.commands.map((command) => command.helpInformation())
  expect(exporting).toMatch(/--sample <number> +returns this many rows, chosen by --orderby/)
  expect(exporting).toMatch(/--shout +csv: writes text in capitals/)
  expect(importing).toMatch(/--comment <character\|tab> +csv: begins a comment/)
})

test('a new row is an argument of the tools for agents', async () => {
  const answer = await at.call(ada, 'POST', '/mcp', {
    json: { jsonrpc: '2.0', id: 1, method: 'tools/list' },
    headers: { accept: 'application/json, text/event-stream' },
  })
  const { tools } = answer.json().result
  const argument = (tool: string, name: string) =>
    tools.find((one: { name: string }) => one.name === tool).inputSchema.properties[name]
  const sample = SAMPLE.replaceAll('$', '')
  expect(argument('query_dataset', 'sample')).toEqual({ type: 'integer', minimum: 0, description: sample })
  expect(argument('export_link', 'sample')).toMatchObject({ description: sample })
  expect(argument('export_link', 'shout')).toMatchObject({ type: 'boolean' })
})

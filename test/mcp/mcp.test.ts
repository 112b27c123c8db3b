import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Client as Api } from '../../server/client/index.ts'
import { type Served, serveSamples } from '../client/served.ts'
import { startUpstream, type Upstream } from '../connectors/support/upstream.ts'

let upstream: Upstream
let served: Served
let api: Api

beforeAll(async () => {
  upstream = await startUpstream({
    '/v1/currencies': { body: { EUR: 'Euro', USD: 'US Dollar' } },
    '*': () => {
      const rates = { '2026-01-02': { USD: 1.25 }, '2026-01-05': { USD: 1.5 } }
      return { body: { amount: 1, base: 'EUR', start_date: '2026-01-02', end_date: '2026-01-05', rates } }
    },
  })
  served = await serveSamples({ PARQUETRY_PROVIDER_FRANKFURTER_URL: upstream.url })
  api = new Api({ url: served.url, key: served.key })
})
afterAll(async () => {
  await served[Symbol.asyncDispose]()
  await upstream.close()
})

async function overHttp(key = served.key): Promise<Client> {
  const client = new Client({ name: 'tests', version: '1' })
  const headers = { authorization: `Bearer ${key}` }
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${served.url}/mcp`), { requestInit: { headers } }),
  )
  return client
}

async function overStdio(key = served.key): Promise<Client> {
  const client = new Client({ name: 'tests', version: '1' })
  const bin = fileURLToPath(new URL('../../server/bin.js', import.meta.url))
  const env = { PARQUETRY_SERVER: served.url, PARQUETRY_KEY: key, PATH: process.env['PATH'] ?? '' }
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: [bin, 'mcp'], env, stderr: 'ignore' }),
  )
  return client
}

/** What a tool answers, read as the agent reads it. */
async function ask(agent: Client, name: string, given: object = {}) {
  const { content, isError } = await agent.callTool({ name, arguments: { ...given } })
  const [{ text }] = content as [{ text: string }]
  expect(text.length).toBeLessThan(32_000)
  return isError ? { error: text } : JSON.parse(text)
}

describe.each([
  ['over HTTP', overHttp],
  ['over stdio', overStdio],
])('an agent %s answers questions about the samples by tools alone', (_how, connect) => {
  let agent: Client
  beforeAll(async () => {
    agent = await connect()
  })
  afterAll(() => agent.close())

  const idOf = async (text: string): Promise<number> => {
    const { datasets } = await ask(agent, 'find_datasets', { text })
    expect(datasets).toHaveLength(1)
    return datasets[0].dataset
  }

  test('which tools are there? Only ones that read', async () => {
    const { tools } = await agent.listTools()
    expect(tools.map(({ name }) => name)).toEqual([
      'find_datasets',
      'describe_dataset',
      'query_dataset',
      'run_sql',
      'export_link',
      'list_providers',
      'find_series',
      'read_series',
      'list_releases',
    ])
    for (const { annotations } of tools) expect(annotations).toMatchObject({ readOnlyHint: true })
    expect(agent.getInstructions()).toContain('find_datasets')
  })

  test('how many penguins of each species are there, in SQL?', async () => {
    const sql = 'SELECT Species, count(*) AS n FROM penguins GROUP BY Species ORDER BY n DESC'
    expect(await ask(agent, 'run_sql', { sql, top: 1 })).toEqual({
      rows: [{ Species: 'Adelie', n: 152 }],
      note: 'There are more rows.',
    })
    const all = await ask(agent, 'run_sql', { sql, top: 3 })
    expect([all.rows.length, all.note]).toEqual([3, undefined])
  })

  test('numbers that are text in one row, for all their digits, are text in each', async () => {
    const sql = `SELECT * FROM (VALUES
      (1, 1.5, 1.5::DECIMAL(38,9), 'a', 2::DOUBLE, 2::DOUBLE, NULL),
      (9007199254740993, 2, 12345678901234567890.123456789, '7', 'NaN', 1e300, 5::DOUBLE))
      AS t(long, small, exact, text, nan, huge, whole)`
    expect((await ask(agent, 'run_sql', { sql })).rows).toEqual([
      { long: '1', small: 1.5, exact: '1.5', text: 'a', nan: '2', huge: 2, whole: null },
      {
        ...{ long: '9007199254740993', small: 2, exact: '12345678901234567890.123456789', text: '7' },
        ...{ nan: 'NaN', huge: 1e300, whole: 5 },
      },
    ])
  })

  test('which islands do the penguins live on, and how heavy is the heaviest?', async () => {
    const dataset = await idOf('penguins antarctica')
    const { columns, examples } = await ask(agent, 'describe_dataset', { dataset })
    const column = (name: string) => columns.find((one: { name: string }) => one.name === name)
    expect(Object.keys(column('Island').values).sort()).toEqual(['Biscoe', 'Dream', 'Torgersen'])
    expect(column('Body Mass (g)')).toMatchObject({ max: 6300, nulls: 2 })
    expect(examples).toHaveLength(5)
    const heaviest = await ask(agent, 'query_dataset', {
      dataset,
      select: ['Species', 'Body Mass (g)'],
      filter: '"Body Mass (g)" ne null',
      orderby: '"Body Mass (g)" desc',
      top: 1,
    })
    expect(heaviest).toMatchObject({ matching: 342, rows: [{ Species: 'Gentoo', 'Body Mass (g)': 6300 }] })
  })

  test('on how many days did it snow in Seattle?', async () => {
    const dataset = await idOf('seattle daily')
    const snow = { dataset, filter: "weather eq 'snow'", top: 0 }
    const { matching } = await ask(agent, 'query_dataset', snow)
    expect(matching).toBe(await api.datasets.count(dataset, { filter: "weather eq 'snow'" }))
    expect(matching).toBeGreaterThan(0)
  })

  test('how many rows has a dataset that is known by name?', async () => {
    for (const dataset of ['samples/penguins', 'root/samples/penguins', 'penguins']) {
      expect(await ask(agent, 'query_dataset', { dataset, top: 0 })).toMatchObject({ matching: 344 })
    }
    const { error } = await ask(agent, 'query_dataset', { dataset: 'samples/pinguins' })
    expect(error).toContain('There is no dataset "samples/pinguins"')
  })

  test('what was its warmest day?', async () => {
    const dataset = await idOf('temp_max')
    const { rows } = await ask(agent, 'query_dataset', {
      dataset,
      select: ['date', 'temp_max'],
      orderby: 'temp_max desc,date',
      top: 1,
    })
    const days = []
    for await (const row of api.datasets.rows<{ date: string; temp_max: number }>(dataset)) days.push(row)
    const warmest = days.reduce((best, day) => (day.temp_max > best.temp_max ? day : best))
    expect(rows).toEqual([{ date: warmest.date, temp_max: warmest.temp_max }])
  })

  test('what is a euro worth in dollars?', async () => {
    const { providers } = await ask(agent, 'list_providers')
    expect(providers.map(({ slug }: { slug: string }) => slug)).toContain('frankfurter')
    const found = await ask(agent, 'find_series', { provider: 'frankfurter' })
    const { path } = found.categories.find(({ name }: { name: string }) => /euro/i.test(name))
    const { series } = await ask(agent, 'find_series', { provider: 'frankfurter', path, text: 'dollar' })
    expect(series).toHaveLength(1)
    for (const words of [{ provider: 'frankfurter', text: 'dollar' }, { text: 'dollar' }]) {
      // The index takes in what was listed when the answers are gone.
      const ids = async () =>
        (await ask(agent, 'find_series', words)).series.map((one: { series_id: string }) => one.series_id)
      await expect.poll(ids).toContain(series[0].series_id)
    }
    expect((await ask(agent, 'find_series', {})).note).toContain('Give words')
    const rate = await ask(agent, 'read_series', {
      provider: 'frankfurter',
      series_id: series[0].series_id,
      start: '2026-01-01',
    })
    expect(rate.observations.at(-1)).toMatchObject({ date: '2026-01-05', value: 1.5 })
  })

  test('can I have all the rainy days as a file?', async () => {
    const dataset = await idOf('seattle daily')
    const filter = "weather eq 'rain'"
    const link = await ask(agent, 'export_link', { dataset, filter, format: 'csv' })
    const file = await (await fetch(link.url)).text()
    expect(file).toBe(await (await api.datasets.download(dataset, 'csv', { filter })).text())
    expect(file.trim().split('\n')).toHaveLength(link.rows + 1)
  })

  test('what is cut is told of', async () => {
    const dataset = await idOf('seattle daily')
    const cut = await ask(agent, 'query_dataset', { dataset, top: 500, skip: 10 })
    expect(cut.matching).toBe(1461)
    expect(cut.rows.length).toBeLessThan(500)
    expect(cut.note).toContain(`Rows 11 to ${10 + cut.rows.length} of 1461.`)
  })

  test('a wrong question is answered with what is wrong', async () => {
    const dataset = await idOf('seattle daily')
    expect((await ask(agent, 'query_dataset', { dataset, filter: 'Wind gt 3' })).error).toContain(
      'Filter contains invalid column(s): Wind.',
    )
    expect((await ask(agent, 'query_dataset', { dataset, top: 5_000 })).error).toBe(
      'top must be at most 500; it is 5000.',
    )
    expect((await ask(agent, 'query_dataset', { dataset, orderby: 'wind foo' })).error).toMatch(
      /^orderby: At/,
    )
    expect((await ask(agent, 'query_dataset', { dataset, where: 'x' })).error).toMatch(
      /^The call of query_dataset has an unknown field "where"; valid fields: dataset, filter, /,
    )
    expect((await ask(agent, 'describe_dataset', { id: dataset })).error).toMatch(/^dataset is missing\. /)
    expect((await ask(agent, 'describe_dataset', { dataset: 999 })).error).toContain(
      'There is no dataset 999',
    )
    expect((await ask(agent, 'delete_dataset', { dataset })).error).toContain('There is no tool')
  })
})

test('lowest and highest values are those of all rows, in the order of the type, and exact', async () => {
  const { id: repositoryId } = await api.repositories.create({ name: 'bounds' })
  const { id: dataset } = await api.datasets.create({ name: 'bounds', repositoryId })
  const type = 'decimal(38,10)'
  const columns = [
    { name: 'x', type: 'double' },
    { name: 'd "e"', type },
    { name: 'no', type: 'json' },
  ]
  const exact = '1234567890123456789012345678.0123456789'
  const rows = Array.from({ length: 2_000 }, (_, n) => [n + 7, String(n), null])
  rows[0] = ['INF', exact, null]
  rows[1_999] = [0.5, '-2', null]
  await api.datasets.replace(dataset, { columns, rows } as never)
  const agent = await overHttp()
  const described = await ask(agent, 'describe_dataset', { dataset })
  const [x, d, no] = described.columns
  expect(x).toMatchObject({ min: 0.5, max: 'INF' })
  expect(d).toMatchObject({ min: '-2.0000000000', max: exact })
  expect(no).toMatchObject({ nulls: 2_000 })
  expect(no).not.toHaveProperty('min')
  const { rows: found } = await ask(agent, 'query_dataset', { dataset, top: 1 })
  expect(found).toEqual([{ x: 'INF', 'd "e"': exact, no: null }])
  await agent.close()
})

test('an agent sees what its key may see, and nothing without one', async () => {
  const hidden = await api.repositories.create({ name: 'hidden', private: true })
  await api.datasets.create({ name: 'secret-plans', repositoryId: hidden.id })
  const own = await overHttp()
  expect((await ask(own, 'find_datasets', { text: 'secret-plans' })).datasets).toHaveLength(1)
  await own.close()
  await expect(overHttp('wrong')).rejects.toThrow(/The API key is not valid/)
  await expect(overStdio('wrong')).rejects.toThrow()
})

test("a name means one's own dataset before what a stranger has published under it", async () => {
  const { apiKey } = await api.accounts.create({ name: 'stranger', plan: 'free' })
  const publish = async (client: Api, isPrivate: boolean, rows: object[]) => {
    const { id: repositoryId } = await client.repositories.create({ name: 'ours', private: isPrivate })
    const { id } = await client.datasets.create({ name: 'figures', repositoryId })
    await client.datasets.append(id, { rows } as never)
  }
  await publish(new Api({ url: served.url, key: apiKey }), false, [{ n: 1 }])
  await publish(api, true, [{ n: 1 }, { n: 2 }])
  const agent = await overHttp()
  const count = async (dataset: string) => (await ask(agent, 'query_dataset', { dataset, top: 0 })).matching
  expect([await count('ours/figures'), await count('stranger/ours/figures'), await count('figures')]).toEqual(
    [2, 1, 2],
  )
  await agent.close()
})

describe('datasets as resources', () => {
  test('are listed and read as the key may see them', async () => {
    const agent = await overHttp()
    const { resources } = await agent.listResources()
    const penguins = resources.find(({ name }) => name === 'penguins')!
    expect(penguins).toMatchObject({ uri: expect.stringMatching(/^parquetry:\/\/datasets\/\d+$/) })
    expect(penguins.description).toContain('Palmer Station')
    const { contents } = await agent.readResource({ uri: penguins.uri })
    const [{ uri, text }] = contents as [{ uri: string; text: string }]
    expect(uri).toBe(penguins.uri)
    expect(JSON.parse(text)).toMatchObject({ name: 'penguins', rowCount: 344 })
    const { resourceTemplates } = await agent.listResourceTemplates()
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual(['parquetry://datasets/{id}'])
    await expect(agent.readResource({ uri: 'parquetry://datasets/999' })).rejects.toThrow(
      /There is no dataset 999/,
    )
    await expect(agent.readResource({ uri: 'file:///etc/hosts' })).rejects.toThrow(
      /There is no resource file/,
    )
    // A connection that does not last has nobody to tell.
    expect(agent.getServerCapabilities()?.resources).toEqual({})
    await agent.close()
  })

  test('tell their subscribers over stdio of each change, until nobody subscribes any more', async () => {
    const { id: repositoryId } = await api.repositories.create({ name: 'watched', private: true })
    const { id } = await api.datasets.create({ name: 'watched', repositoryId })
    const other = await api.datasets.create({ name: 'other', repositoryId })
    for (const one of [id, other.id]) await api.datasets.append(one, { rows: [{ n: 1 }] })
    const agent = await overStdio()
    const told: string[] = []
    agent.setNotificationHandler(
      ResourceUpdatedNotificationSchema,
      ({ params }) => void told.push(params.uri),
    )
    const [watched, second] = [`parquetry://datasets/${id}`, `parquetry://datasets/${other.id}`]
    await agent.subscribeResource({ uri: watched })
    await agent.subscribeResource({ uri: watched })
    await api.datasets.append(id, { rows: [{ n: 2 }] })
    await expect.poll(() => told, { timeout: 60_000 }).toEqual([watched])
    await agent.unsubscribeResource({ uri: watched })
    await api.datasets.append(id, { rows: [{ n: 3 }] })
    await agent.subscribeResource({ uri: second })
    await api.datasets.append(other.id, { rows: [{ n: 2 }] })
    await expect.poll(() => told, { timeout: 60_000 }).toEqual([watched, second])
    await api.datasets.delete(other.id)
    await expect.poll(() => told, { timeout: 60_000 }).toEqual([watched, second, second])
    await expect(agent.readResource({ uri: second })).rejects.toThrow(/There is no dataset/)
    await expect(agent.subscribeResource({ uri: second })).rejects.toThrow(/There is no dataset/)
    await agent.close()
  })
})

test('without sessions, /mcp takes POST alone', async () => {
  const headers = { authorization: `Bearer ${served.key}` }
  const answer = await fetch(`${served.url}/mcp`, { headers })
  expect(answer.status).toBe(405)
  expect(answer.headers.get('allow')).toBe('POST')
})

test('/llms.txt needs no key and names what exists', async () => {
  const text = await (await fetch(`${served.url}/llms.txt`)).text()
  const { paths } = await (await fetch(`${served.url}/openapi.json`)).json()
  for (const [, path] of text.matchAll(/^- (?:GET|POST) (\/[\w/{}]+)/gm)) {
    expect(Object.keys(paths)).toContain(path!.replace(/^\/datasets\/\{id\}\/data.*/, '/datasets/{id}/data'))
  }
  const agent = await overHttp()
  for (const { name } of (await agent.listTools()).tools) expect(text).toContain(` ${name}`)
  await agent.close()
})

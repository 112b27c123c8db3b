import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { openConnectors } from '../../connectors/index.ts'
import { run } from '../../server/commands/program.ts'
import { readConfig } from '../../server/config/read.ts'
import { serve } from '../../server/serve.ts'
import { IS_CLUSTER } from '../cluster/elsewhere.ts'
import { startUpstream, type Upstream } from '../connectors/support/upstream.ts'
import { fredRoutes } from './following.ts'

const folder = mkdtempSync(join(tmpdir(), 'parquetry-source-commands-'))
const KEY = 'the-root-key-of-the-tests'
const series = new Map<string, readonly number[]>([['A', [1, 2]]])
let upstream: Upstream

beforeAll(async () => {
  const categories = { body: { categories: [{ id: 13, name: 'Trade in goods', notes: '' }] } }
  upstream = await startUpstream({
    ...fredRoutes(series),
    '/fred/category/children': (hit) =>
      hit.query.get('category_id') === '0' ? categories : { body: { categories: [] } },
  })
  vi.stubEnv('PARQUETRY_DATA', folder)
  vi.stubEnv('PARQUETRY_ROOT_KEY', KEY)
  vi.stubEnv('PARQUETRY_LOG_LEVEL', 'silent')
  vi.stubEnv('PARQUETRY_PROVIDER_FRED_URL', `${upstream.url}/fred`)
  vi.stubEnv('PARQUETRY_PROVIDER_FRED_KEY', 'k')
})
afterAll(async () => {
  vi.unstubAllEnvs()
  await upstream.close()
  rmSync(folder, { recursive: true, force: true })
})

/** What a command prints, and its exit code. */
async function printed(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const out: string[] = []
  const err: string[] = []
  const log = vi.spyOn(console, 'log').mockImplementation((line) => void out.push(String(line)))
  const error = vi.spyOn(console, 'error').mockImplementation((line) => void err.push(String(line)))
  try {
    return { code: await run(args), out: out.join('\n'), err: err.join('\n') }
  } finally {
    log.mockRestore()
    error.mockRestore()
  }
}

describe('a dataset of the data directory', () => {
  it('follows series by a command, which says what a server would', async () => {
    // The first start makes the account in whose name providers are asked.
    await (await serve(readConfig({ port: '0', samples: false }))).close()
    expect((await printed('repository', 'create', 'home')).code).toBe(0)
    const set = await printed(
      'source',
      'set',
      'home/gdp',
      'fred/A',
      '--every',
      'week',
      '--start',
      '2024-02-01',
    )
    expect(set).toMatchObject({ code: 0, err: '' })
    expect(set.out).toMatch(
      /^series\tfred\/A\nstart\t2024-02-01\nevery\tweek\nlast run\t\S+Z\nnext run\t\S+Z\nversion\t2$/,
    )
    expect(await printed('source', 'show', 'home/gdp')).toEqual(set)
    expect((await printed('repository', 'list')).out).toContain('gdp\t1 row')
    expect(await printed('source', 'end', 'home/gdp')).toMatchObject({ code: 0 })
    expect((await printed('source', 'show', 'home/gdp')).out).toMatch(/follows neither series nor a file$/)
    expect(await printed('source', 'end', 'home/gdp')).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^parquetry: Dataset \d+ follows neither series nor a file\./),
    })
  })

  it('follows a file by a command, read with the options that are given or chosen', async () => {
    const file = createServer((_, response) => response.end('a;b\n1;x\n-;y\n')).listen(0, '127.0.0.1')
    await once(file, 'listening')
    const address = `http://127.0.0.1:${(file.address() as AddressInfo).port}/x.csv`
    const config = join(folder, 'config.json')
    writeFileSync(config, JSON.stringify({ sources: { privateHosts: ['127.0.0.1'] } }))
    vi.stubEnv('PARQUETRY_CONFIG', config)
    try {
      const set = await printed('source', 'set', 'home/file', address, '--dialect', 'standard')
      expect(set).toMatchObject({ code: 1, err: expect.stringContaining('has no comma') })
      const chosen = await printed('source', 'set', 'home/file', address, '--every', 'hour', '--nulls', '-')
      expect(chosen).toMatchObject({ code: 0, err: '' })
      const lines = [`file\t${address}`, 'mode\treplace', 'delimiter\t;', 'nulls\t-', 'every\thour']
      expect(chosen.out.split('\n')).toEqual(expect.arrayContaining(lines))
      expect((await printed('repository', 'list')).out).toContain('file\t2 rows')
      expect((await printed('source', 'set', 'home/file', address, '--mode', 'append')).code).toBe(0)
      expect((await printed('repository', 'list')).out).toContain('file\t4 rows')
      expect(await printed('source', 'set', 'home/file', address, '--mode', 'upsert')).toMatchObject({
        code: 1,
        err: expect.stringContaining('The dataset has no key'),
      })
    } finally {
      file.close()
    }
    expect(await printed('source', 'set', 'home/file', address, 'fred/A')).toMatchObject({
      code: 2,
      err: expect.stringContaining('one address, or series'),
    })
  })

  it('ends with 1 if the first fetch fails, and prints why', async () => {
    const set = await printed('source', 'set', 'home/none', 'fred/NOSUCH')
    expect(set).toMatchObject({ code: 1, out: '' })
    expect(set.err).toMatch(
      /^parquetry: .*NOSUCH.*\nNothing was fetched, so the new dataset is removed again\.$/,
    )
    expect((await printed('source', 'set', 'home/some', 'fred/A', 'fred/NOSUCH')).code).toBe(1)
    const { out } = await printed('repository', 'list')
    expect(out).toContain('some\t2 rows')
    expect(out).not.toContain('none')
  })

  it.each([
    [['source', 'set', 'home/gdp', 'GDP'], 1, /must be a provider and a series/],
    [['source', 'set', 'home/gdp', 'fred/A', '--every', 'minute'], 2, /not one of hour, day, week, month/],
    [['source', 'set', 'nowhere/gdp', 'fred/A'], 2, /no repository "nowhere"/],
  ])('%j is refused', async (args, code, sentence) => {
    expect(await printed(...args)).toMatchObject({ code, err: expect.stringMatching(sentence) })
  })
})

describe('parquetry providers index', () => {
  it('is not left empty if what it is to follow is refused', async () => {
    const refused = await printed('source', 'set', 'home/refused', 'nowhere/A')
    expect(refused.code).toBe(1)
    expect(refused.err).toContain('"nowhere/A" must be a provider and a series')
    expect((await printed('repository', 'list')).out).not.toContain('refused')
  })

  it('fills the index that search looks into', async () => {
    const made = await printed('providers', 'index', 'FRED')
    expect(made).toMatchObject({ code: 0, out: expect.stringMatching(/^fred: \d+ entries$/) })
    const connectors = openConnectors({ searchFile: join(folder, 'search.db') })
    const found = connectors.searchAll('goods trade', { limit: 5, offset: 0 })
    await connectors.close()
    expect(found.categories).toMatchObject([{ provider: 'fred', path: '13', name: 'Trade in goods' }])
  })

  // The processes of a cluster share answers, so the second indexing asks nobody there.
  it.skipIf(IS_CLUSTER)('names a provider that fails, and ends with 1', async () => {
    upstream.routes = {}
    const failed = await printed('providers', 'index', 'fred')
    expect(failed.code).toBe(1)
    expect(failed.err).toMatch(/^parquetry: fred: .*FRED/)
  })

  it('knows which providers there are', async () => {
    expect(await printed('providers', 'index', 'nobody')).toMatchObject({
      code: 2,
      err: expect.stringMatching(/There is no provider "nobody"; valid providers: .*fred/),
    })
  })
})

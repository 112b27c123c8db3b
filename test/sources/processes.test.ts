import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { type Connectors, openConnectors } from '../../connectors/index.ts'
import { type Engine, openEngine } from '../../engine/index.ts'
import { readConfig } from '../../server/config/read.ts'
import { providerLimits } from '../../server/providers.ts'
import { serve } from '../../server/serve.ts'
import { openServices, type Services } from '../../server/services.ts'
import { IS_CLUSTER } from '../cluster/elsewhere.ts'
import { startUpstream } from '../connectors/support/upstream.ts'
import { basic } from '../server/platform.ts'
import { type Following, following, fredRoutes } from './following.ts'

let at: Following
let second: { engine: Engine; connectors: Connectors; services: Services } | undefined
afterEach(async () => {
  await second?.services.refresher.close()
  await second?.connectors.close()
  await second?.engine.close()
  second = undefined
  await at[Symbol.asyncDispose]()
})

/** Another process on the same data directory, as far as the database can tell: connections of its own to everything. */
async function another(limits: object): Promise<Services> {
  const { directory, services, upstream } = at.at
  const engine = await openEngine({ directory, ...services.config.engine })
  const connectors = openConnectors({
    overrides: { fred: { baseUrl: `${upstream.url}/fred`, key: 'k', limits } },
    limitStore: await providerLimits(engine.database),
    retry: { attempts: 1 },
    now: () => at.clock.now.getTime(),
  })
  const opened = await openServices({
    config: services.config,
    engine,
    connectors,
    version: '1.2.3',
    now: () => at.clock.now,
  })
  second = { engine, connectors, services: opened }
  return opened
}

const LIMITS = { windows: [], withKey: [{ requests: 10_000, perSeconds: 60 }] }

describe('two processes on one data directory', () => {
  it('refresh each dataset once', async () => {
    at = await following(LIMITS)
    const other = await another(LIMITS)
    const names = Array.from({ length: 12 }, (_, n) => `S${n}`)
    for (const name of names) {
      at.series.set(name, [1])
      await at.follow(await at.dataset(), { series: [`fred/${name}`], every: 'hour' })
    }
    for (let round = 0; round < 3; round++) {
      for (const name of names) at.series.set(name, [round])
      at.asked()
      at.clock.now = new Date(at.clock.now.getTime() + 3_600_000)
      const counts = await Promise.all([at.at.services.refresher.runDue(), other.refresher.runDue()])
      expect(counts[0] + counts[1]).toBe(names.length)
      expect(at.asked().sort()).toEqual(names.toSorted())
      const versions = (await at.at.engine.datasets()).map(({ version }) => version)
      expect(new Set(versions).size).toBe(1)
    }
  })

  it('take over from one that died, and not before its time is over', async () => {
    at = await following(LIMITS)
    const other = await another(LIMITS)
    const id = await at.dataset()
    await at.follow(id, { series: ['fred/A'], every: 'hour' })
    const hour = 3_600_000
    const now = new Date(at.clock.now.getTime() + hour)
    const dead = { now, token: 'dead', until: new Date(now.getTime() + 120_000) }
    expect(await at.at.services.sources.take(dead)).toMatchObject({ datasetId: id })
    at.clock.now = new Date(now.getTime() + 119_000)
    expect(await other.refresher.runDue()).toBe(0)
    at.clock.now = new Date(now.getTime() + 120_000)
    expect(await other.refresher.runDue()).toBe(1)
    // The one that was thought dead finds that it is no longer its own.
    expect(await at.at.services.sources.keep(id, 'dead', now)).toBe(false)
    const { engine, services } = at.at
    const noted = engine.transaction((t) =>
      services.sources.noteVersion(t, id, { token: 'dead', version: 9, digest: 'x' }),
    )
    expect(await noted).toBe(false)
  })

  // Nodes of a cluster count by the database's clock, which a test doesn't set.
  it.skipIf(IS_CLUSTER)('spend one limit together, and fetch the rest once there is room', async () => {
    // Each series takes two requests.
    const limits = { windows: [], withKey: [{ requests: 8, perSeconds: 3600 }] }
    at = await following(limits)
    const other = await another(limits)
    const ids: number[] = []
    at.clock.now = new Date('2026-03-01T00:00:00Z')
    for (const name of ['A', 'B', 'C', 'D', 'E', 'F']) {
      at.series.set(name, [1])
      const id = await at.dataset()
      ids.push(id)
      await at.at.services.sources.set(
        {
          datasetId: id,
          accountId: (await at.at.services.accounts.byName('ada')).id,
          series: [`fred/${name}`],
          address: null,
          start: null,
          every: 'day',
        },
        { now: at.clock.now, token: 'nobody', until: at.clock.now },
      )
    }
    const run = () => Promise.all([at.at.services.refresher.runDue(), other.refresher.runDue()])
    await run()
    expect(at.at.upstream.requests.length).toBeLessThanOrEqual(8)
    const rows = async () => (await at.at.engine.datasets()).filter(({ rowCount }) => rowCount! > 0).length
    expect(await rows()).toBeGreaterThan(1)
    expect(await rows()).toBeLessThan(6)
    const waiting = (await Promise.all(ids.map((id) => at.source(id)))).filter(
      ({ lastError }) => lastError !== null,
    )
    expect(waiting.length).toBe(6 - (await rows()))
    for (const { missing, nextRun } of waiting) {
      expect(missing).toMatchObject([{ code: 'provider_limit' }])
      expect(Date.parse(nextRun as string) - at.clock.now.getTime()).toBeLessThanOrEqual(2 * 3_600_000)
    }
    for (let hours = 0; hours < 6; hours++) {
      const before = at.at.upstream.requests.length
      at.clock.now = new Date(at.clock.now.getTime() + 65 * 60_000)
      await run()
      expect(at.at.upstream.requests.length - before).toBeLessThanOrEqual(8)
    }
    expect(await rows()).toBe(6)
  })
})

it('a server that is started again goes on where the last one ended', async () => {
  at = await following(LIMITS)
  const directory = await mkdtemp(join(tmpdir(), 'parquetry-sources-'))
  const series = new Map<string, readonly number[]>([['A', [1]]])
  const upstream = await startUpstream(fredRoutes(series))
  const environment = {
    PARQUETRY_ROOT_KEY: 'the-root-key-of-the-tests',
    PARQUETRY_LOG_LEVEL: 'silent',
    PARQUETRY_PROVIDER_FRED_URL: `${upstream.url}/fred`,
    PARQUETRY_PROVIDER_FRED_KEY: 'k',
  }
  const config = () => readConfig({ data: directory, port: '0', samples: false }, environment)
  const call = async (url: string, method: string, json?: object) => {
    const answer = await fetch(url, {
      method,
      headers: {
        authorization: basic(environment.PARQUETRY_ROOT_KEY),
        ...(json && { 'content-type': 'application/json' }),
      },
      ...(json && { body: JSON.stringify(json) }),
    })
    expect(answer.ok, await answer.clone().text()).toBe(true)
    return answer.json()
  }
  const first = await serve(config())
  const { id: repositoryId } = await call(`${first.url}/repositories`, 'POST', { name: 'r' })
  const { id } = await call(`${first.url}/datasets`, 'POST', { name: 'd', repositoryId })
  const set = await call(`${first.url}/datasets/${id}/source`, 'PUT', { series: ['fred/A'], every: 'week' })
  expect(set).toMatchObject({ lastError: null, lastVersion: 2 })
  await first.close()
  series.set('A', [1, 2])
  const again = await serve(config())
  expect(await call(`${again.url}/datasets/${id}/source`, 'GET')).toEqual(set)
  // While no server ran, the time has come, and shared answers are too old.
  await again.engine.database.run(
    'UPDATE dataset_sources SET due = ?, scheduled = ?',
    '2026-01-01',
    '2026-01-01',
  )
  if (IS_CLUSTER) await again.engine.database.run('DELETE FROM provider_answers')
  await again.close()
  const third = await serve(config())
  await expect
    .poll(() => third.engine.dataset(id).then(async (dataset) => (await dataset.record()).rowCount), {
      timeout: 20_000,
      interval: 100,
    })
    .toBe(2)
  await third.close()
  await upstream.close()
  await rm(directory, { recursive: true, force: true })
})

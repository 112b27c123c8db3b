import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Database } from '../../engine/index.ts'
import { readConfig } from '../../server/config/read.ts'
import { PostgresLine } from '../cluster/postgres-line.ts'
import { runCommand } from '../server/process.ts'
import { Cluster, HAS_CLUSTER, json } from './cluster.ts'

describe.runIf(HAS_CLUSTER)('a node on PostgreSQL', () => {
  let cluster: Cluster
  let line: PostgresLine
  beforeAll(async () => {
    cluster = await Cluster.start()
    line = await PostgresLine.before(cluster.postgres.url)
  })
  afterEach(() => {
    line.cutCommit = undefined
  })
  afterAll(async () => {
    await line?.[Symbol.asyncDispose]()
    await cluster?.[Symbol.asyncDispose]()
  })

  /** The files in which the S3 server keeps parts. */
  const stored = () =>
    readdirSync(join(cluster.store.folder, 'data'), { recursive: true })
      .map(String)
      .filter((name) => name.endsWith('.parquet'))

  it('that can not reach it says so in one sentence, without the password, and ends with 1', async () => {
    const data = join(cluster.folder, 'unreachable')
    for (const args of [
      ['serve', '--port', '0'],
      ['account', 'list'],
    ]) {
      const database = 'postgres://someone:a-secret-password@127.0.0.1:1/parquetry'
      const { code, out, err } = await runCommand(['--data', data, ...args], cluster.environment(database))
      expect(code).toBe(1)
      expect(out).toBe('')
      expect(err).toMatch(
        /^parquetry: The database 127\.0\.0\.1:1\/parquetry can't be opened: .*ECONNREFUSED.*\.\n$/,
      )
    }
  })

  it('is refused without a store, and a store without it', async () => {
    const data = join(cluster.folder, 'half')
    const { PARQUETRY_STORE: store, PARQUETRY_DATABASE: database } = cluster.environment()
    const alone = await runCommand(['--data', data, '--database', database!, 'serve'])
    expect(alone).toMatchObject({ code: 2, out: '' })
    expect(alone.err).toMatch(/^parquetry: PARQUETRY_DATABASE is set without PARQUETRY_STORE .*\n$/)
    const other = await runCommand(['--data', data, '--store', store!, 'account', 'list'])
    expect(other.err).toMatch(/^parquetry: PARQUETRY_STORE is set without PARQUETRY_DATABASE .*\n$/)
  })

  it('is worked on by the commands, too', async () => {
    const data = join(cluster.folder, 'commands')
    const run = async (...args: string[]) => {
      const { code, out, err } = await runCommand(['--data', data, ...args], cluster.environment())
      expect(err).toBe('')
      expect(code).toBe(0)
      return out
    }
    expect(await run('account', 'create', 'someone')).toMatch(/^pq_/)
    const repository = (await run('repository', 'create', 'commands')).trim().split('\t')[0]!
    const file = new URL('../../data/samples/penguins.csv', import.meta.url).pathname
    await run('import', file, '--repository', repository, '--dataset', 'penguins')
    expect(await run('verify')).toContain('all well')
    expect((await run('account', 'list')).split('\n')[0]).toContain('someone')
    const backup = join(cluster.folder, 'backup')
    await run('backup', backup)
    const { code, err } = await runCommand(['--data', data, 'restore', backup], cluster.environment())
    expect(code).toBe(1)
    expect(err).toContain('holds a catalog already')
  })

  it('answers 503 while it is away, says so when asked whether it is ready, and goes on by itself', async () => {
    const node = await cluster.node('away')
    const id = await cluster.dataset(node, 'away', 'n\n1\n2\n')
    await cluster.postgres.kill()
    for (const [method, path] of [
      ['GET', `/datasets/${id}/data`],
      ['PUT', `/datasets/${id}/data`],
      ['GET', '/readyz'],
    ] as const) {
      const answer = await node.ask(method, path, method === 'PUT' ? 'n\n3\n' : undefined)
      expect(answer.status).toBe(503)
      expect(answer.headers.get('retry-after')).toBe('5')
      expect(await answer.json()).toMatchObject({ code: 'catalog_unavailable' })
    }
    expect((await node.ask('GET', '/healthz')).status).toBe(200)
    await cluster.postgres.start()
    expect((await node.ask('GET', '/readyz')).status).toBe(200)
    expect(await (await node.ask('GET', `/datasets/${id}/data`)).text()).toBe('n\n1\n2\n')
    await json(node.ask('POST', `/datasets/${id}/data`, 'n\n3\n'))
    await node.close()
  })

  it('does not say that nothing was changed if it is lost after the change', async () => {
    const node = await cluster.node('lost-later')
    await json(node.ask('POST', '/accounts', { name: 'moving', plan: 'free' }))
    const database: Database = node.server.engine.database
    const { run } = database
    database.run = async (...given) => {
      const changed = await run.apply(database, given)
      await cluster.postgres.kill()
      return changed
    }
    const answer = await node.ask('PUT', '/accounts/moving', { plan: 'unlimited' })
    database.run = run
    expect(await answer.json()).toMatchObject({ code: 'outcome_unknown' })
    await cluster.postgres.start()
    await expect
      .poll(async () => (await node.ask('GET', '/accounts/moving')).json())
      .toMatchObject({ plan: 'unlimited' })
    await node.close()
  })

  it('has a new key given to whom it belongs if it is lost after that was saved', async () => {
    const node = await cluster.node('lost-key')
    const { apiKey: old } = await json<{ apiKey: string }>(
      node.ask('POST', '/accounts', { name: 'rotating', plan: 'free' }),
    )
    const database: Database = node.server.engine.database
    const { transaction } = database
    database.transaction = async (...given) => {
      const result = await transaction.apply(database, given)
      await cluster.postgres.kill()
      return result as never
    }
    const { apiKey } = await json<{ apiKey: string }>(node.ask('POST', '/account/api-key', undefined, old))
    database.transaction = transaction
    await cluster.postgres.start()
    await expect.poll(async () => (await node.ask('GET', '/account', undefined, apiKey)).status).toBe(200)
    expect((await node.ask('GET', '/account', undefined, old)).status).toBe(401)
    await node.close()
  })

  it.each([
    { at: 'answer', what: 'keeps the rows of a commit whose answer was lost', now: 'n\n1\n2\n3\n', parts: 3 },
    {
      at: 'request',
      what: 'removes the rows of a commit that was lost on its way',
      now: 'n\n1\n3\n',
      parts: 2,
    },
  ] as const)('$what', async ({ at, now, parts }) => {
    const node = await cluster.node(`lost-${at}`, { database: line.url(cluster.postgres.url) })
    const before = stored().length
    const id = await cluster.dataset(node, `lost-${at}`, 'n\n1\n')
    const append = (n: number) => node.ask('POST', `/datasets/${id}/data`, `n\n${n}\n`)
    line.cut()
    await expect.poll(async () => (await node.ask('GET', '/readyz')).status).toBe(200)
    line.cutCommit = { of: 'UPDATE datasets SET version_id', at }
    const unknown = await append(2)
    expect(unknown.status).toBe(503)
    expect(await unknown.json()).toMatchObject({ code: 'outcome_unknown' })
    line.cutCommit = undefined
    await json(append(3))
    expect(await (await node.ask('GET', `/datasets/${id}/data`)).text()).toBe(now)
    await node.server.engine.settled()
    expect(stored().length - before).toBe(parts)
    expect(JSON.stringify(node.log)).not.toContain('a-secret-password')
    await node.close()
  })

  it('counts exported rows once when the answer to the commit that counted them is lost', async () => {
    const node = await cluster.node('counted', { database: line.url(cluster.postgres.url) })
    const id = await cluster.dataset(node, 'counted', 'n\n1\n2\n3\n')
    const counted = async () =>
      (await json<{ usage: { exportedRows: number } }>(node.ask('GET', '/account'))).usage.exportedRows
    const before = await counted()
    line.cut()
    await expect.poll(async () => (await node.ask('GET', '/readyz')).status).toBe(200)
    line.cutCommit = { of: 'INSERT INTO exported_rows', at: 'answer' }
    await (await node.ask('GET', `/datasets/${id}/data`)).text()
    const metrics = async () => (await node.ask('GET', '/metrics')).text()
    await expect.poll(metrics, { timeout: 10_000 }).toMatch(/of="usage_unwritten"\} 1\n/)
    expect(await counted()).toBe(before + 3)
    line.cutCommit = undefined
    await (await node.ask('GET', `/datasets/${id}/data`)).text()
    await expect.poll(counted, { timeout: 5_000 }).toBe(before + 6)
    await node.close()
  })

  it('holds the limits of a plan over two nodes', async () => {
    const free = { privateRepositories: 3, datasets: 4, storedBytes: 100_000 }
    const { plans } = readConfig({}, {})
    const config = { plans: { ...plans, free: { ...plans['free'], ...free } } }
    const nodes = [await cluster.node('limits-1', { config }), await cluster.node('limits-2', { config })]
    const { apiKey: key } = await json<{ apiKey: string }>(
      nodes[0]!.ask('POST', '/accounts', { name: 'limited', plan: 'free' }),
    )
    const ask = (n: number, path: string, body: object) => nodes[n % 2]!.ask('POST', path, body, key)
    const repositories = await Promise.all(
      Array.from({ length: 16 }, (_, n) => ask(n, '/repositories', { name: `r${n}`, private: true })),
    )
    expect(repositories.filter(({ status }) => status === 201)).toHaveLength(3)
    const { id: repositoryId } = (await repositories.find(({ status }) => status === 201)!.json()) as {
      id: number
    }
    const datasets = await Promise.all(
      Array.from({ length: 16 }, (_, n) => ask(n, '/datasets', { name: `d${n}`, repositoryId })),
    )
    expect(datasets.filter(({ status }) => status === 201)).toHaveLength(4)
    expect(datasets.filter(({ status }) => status === 402)).toHaveLength(12)
    for (const node of nodes) await node.close()
  })
})

import { existsSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readConfig } from '../../server/config/read.ts'
import { serve } from '../../server/serve.ts'
import { runCommand } from '../server/process.ts'
import { Cluster, HAS_CLUSTER, json, type Node, ROOT } from './cluster.ts'

const SILENT = {
  logLevel: 'silent' as const,
  engine: { threads: 1, workers: 1 },
  // A busy machine would shed what the test asks.
  shedding: { eventLoopDelay: 0, memoryBytes: 0 },
}

describe.runIf(HAS_CLUSTER)('parquetry migrate', () => {
  let cluster: Cluster
  let directory: string
  beforeAll(async () => {
    cluster = await Cluster.start()
    directory = join(cluster.folder, 'embedded')
  })
  afterAll(() => cluster?.[Symbol.asyncDispose]())

  /** A server on a data directory. */
  async function embedded(data: string) {
    const config = readConfig({ data, port: '0' }, { PARQUETRY_ROOT_KEY: ROOT })
    const server = await serve({ ...config, ...SILENT })
    const ask = (method: string, path: string, body?: string | object) =>
      fetch(`${server.url}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${ROOT}`,
          ...(body !== undefined && {
            'content-type': typeof body === 'string' ? 'text/csv' : 'application/json',
          }),
        },
        body: typeof body === 'object' ? JSON.stringify(body) : (body ?? null),
      })
    return { server, ask, close: () => server.close() }
  }

  /** All that can be seen, without times. */
  async function seen({ ask }: Pick<Node, 'ask'>): Promise<unknown> {
    const datasets = await json<{ id: number; name: string; rowCount: number }[]>(ask('GET', '/datasets'))
    return {
      datasets,
      rows: await Promise.all(
        datasets.map(async ({ id }) => (await ask('GET', `/datasets/${id}/data`)).text()),
      ),
      repositories: await json(ask('GET', '/repositories')),
      accounts: await json(ask('GET', '/accounts')),
      members: await json(ask('GET', '/repositories/1/members')),
    }
  }

  it('brings a data directory into a cluster and back, whole, and goes on where it was ended', {
    timeout: 240_000,
  }, async () => {
    const first = await embedded(directory)
    const { id: repositoryId } = await json<{ id: number }>(
      first.ask('POST', '/repositories', { name: 'tables', private: true }),
    )
    for (const name of ['one', 'gone', 'three']) {
      const { id } = await json<{ id: number }>(first.ask('POST', '/datasets', { name, repositoryId }))
      await json(first.ask('PUT', `/datasets/${id}/data`, `n,word\n${id},${name}\n`))
      await json(first.ask('POST', `/datasets/${id}/data`, `n,word\n${id + 10},"more, ""${name}"""\n`))
    }
    await first.ask('DELETE', '/datasets/2')
    await json(first.ask('POST', '/accounts', { name: 'member', plan: 'pro' }))
    await first.ask('PUT', `/repositories/${repositoryId}/members/member`, { permission: 'Read' })
    const before = await seen(first)
    await first.close()
    const secret = readFileSync(join(directory, 'secret'), 'utf8')

    const { PARQUETRY_STORE: store, PARQUETRY_DATABASE: database, ...environment } = cluster.environment()
    const forth = () =>
      runCommand(['--data', directory, 'migrate', '--to', database!, '--store', store!], environment)
    // Ended while the first part is copied: the store is there, the database isn't yet.
    await cluster.postgres.kill()
    const failed = await forth()
    expect(failed).toMatchObject({ code: 1, out: '' })
    await cluster.postgres.start()
    expect(await forth()).toMatchObject({ code: 0, err: '' })
    expect(existsSync(join(directory, 'catalog.sqlite'))).toBe(false)
    // As if it had been killed before the renaming.
    renameSync(join(directory, 'catalog.sqlite.moved'), join(directory, 'catalog.sqlite'))
    expect(await forth()).toMatchObject({ code: 0, err: '' })
    expect(existsSync(join(directory, 'catalog.sqlite'))).toBe(false)
    const { host, pathname, password } = new URL(database!)
    for (const again of [await forth(), await runCommand(['--data', directory, 'serve', '--port', '0'])]) {
      expect(again.code).not.toBe(0)
      expect(again.err).toContain(
        `was moved to postgres://${host}${pathname} and ${store}. Set PARQUETRY_DATABASE`,
      )
      if (password) expect(again.err).not.toContain(password)
    }

    const node = await cluster.node('after')
    expect(await seen(node)).toEqual(before)
    const row = await node.server.engine.database.get<{ value: string }>(
      "SELECT value FROM secrets WHERE name = 'server'",
    )
    expect(row?.value).toBe(secret)
    // Ids go on behind those that were ever given.
    const { id } = await json<{ id: number }>(node.ask('POST', '/datasets', { name: 'four', repositoryId }))
    expect(id).toBe(4)
    await json(node.ask('PUT', `/datasets/${id}/data`, 'n\n4\n'))
    const later = await seen(node)

    const home = join(cluster.folder, 'home')
    const back = () => runCommand(['--data', home, 'migrate', '--to', 'directory'], cluster.environment())
    expect((await back()).err).toMatch(/^parquetry: Nodes run on this database .*\n$/)
    await node.close()
    expect(await back()).toMatchObject({ code: 0, err: '' })
    expect((await back()).err).toMatch(/holds a catalog already/)
    const last = await embedded(home)
    expect(await seen(last)).toEqual(later)
    expect((await last.server.engine.verify()).problems).toEqual([])
    await last.close()
    expect(readFileSync(join(home, 'secret'), 'utf8')).toBe(secret)
  })

  it('refuses a database that holds a catalog already, and a half address', async () => {
    const other = join(cluster.folder, 'other')
    const there = await embedded(other)
    const { id: repositoryId } = await json<{ id: number }>(
      there.ask('POST', '/repositories', { name: 'r', private: false }),
    )
    const { id } = await json<{ id: number }>(there.ask('POST', '/datasets', { name: 'd', repositoryId }))
    await json(there.ask('PUT', `/datasets/${id}/data`, 'n\n1\n'))
    await there.close()
    const { PARQUETRY_STORE: _, PARQUETRY_DATABASE: database, ...environment } = cluster.environment()
    const node = await cluster.node('there')
    await node.close()
    const to = ['--data', other, 'migrate', '--to', database!]
    const refused = await runCommand([...to, '--store', cluster.store.address('elsewhere')], environment)
    expect(refused).toMatchObject({ code: 1 })
    expect(refused.err).toMatch(/^parquetry: The target holds a catalog already\. .*\n$/)
    const still = await embedded(other)
    expect(await (await still.ask('GET', `/datasets/${id}/data`)).text()).toBe('n\n1\n')
    await still.close()
    expect((await runCommand(to, environment)).code).toBe(2)
    expect(
      (await runCommand(['--data', other, 'migrate', '--store', 's3://tests/x'], environment)).code,
    ).toBe(2)
  })
})

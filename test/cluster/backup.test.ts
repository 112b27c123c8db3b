import { readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Cluster, HAS_CLUSTER, json, type Node } from '../nodes/cluster.ts'
import { runCommand } from '../server/process.ts'

describe.runIf(HAS_CLUSTER)('a backup of a cluster', () => {
  let cluster: Cluster
  let production: Node
  let replaced: number
  let appended: number
  let backup: string
  beforeAll(async () => {
    cluster = await Cluster.start()
    production = await cluster.node('production')
    replaced = await cluster.dataset(production, 'replaced', 'n\n0\n')
    appended = await cluster.dataset(production, 'appended', 'n\n0\n')
    backup = join(cluster.folder, 'backup')
  })
  afterAll(() => cluster?.[Symbol.asyncDispose]())

  const run = (environment: Record<string, string>, ...args: string[]) =>
    runCommand(['--data', join(cluster.folder, 'guest'), ...args], environment)
  const rows = async (node: Node, id: number, query = '') =>
    (await node.ask('GET', `/datasets/${id}/data${query}`)).text()
  const numbers = async (node: Node, id: number) =>
    (await rows(node, id)).trim().split('\n').slice(1).map(Number)
  const empty = async (name: string): Promise<Record<string, string>> => {
    await cluster.postgres.database(name)
    const environment = { ...cluster.environment(), ...cluster.store.environment(name) }
    const url = new URL(cluster.postgres.url)
    url.pathname = `/${name}`
    return { ...environment, PARQUETRY_DATABASE: url.href }
  }
  const inUse = (prefix: string) =>
    readdirSync(join(cluster.store.folder, 'data', cluster.store.bucket, prefix, 'parts'))

  it('is whole, as of one moment, although nodes write meanwhile', async () => {
    let n = 0
    let writing = true
    const writer = (async () => {
      for (; writing; ) {
        n += 1
        await json(production.ask('PUT', `/datasets/${replaced}/data`, `n\n${n}\n`))
        await json(production.ask('POST', `/datasets/${appended}/data`, `n\n${n}\n`))
      }
    })()
    expect(await run(cluster.environment(), 'backup', backup)).toMatchObject({ code: 0, err: '' })
    writing = false
    await writer
    expect(n).toBeGreaterThan(1)
    const home = join(cluster.folder, 'home')
    expect(await runCommand(['--data', home, 'restore', backup])).toMatchObject({ code: 0, err: '' })
    expect((await runCommand(['--data', home, 'verify'])).out).toContain('all well')
    const shown = async (id: number) =>
      (await runCommand(['--data', home, 'export', String(id), '-o', '-', '--format', 'csv'])).out
        .trim()
        .split('\n')
        .slice(1)
        .map(Number)
    const [round] = await shown(replaced)
    const appends = await shown(appended)
    // One after the other: the appends are those before the replacement that is seen, or with it.
    expect(appends).toEqual(appends.map((_, at) => at))
    expect([round, round! - 1]).toContain(appends.at(-1))
  })

  it('is brought up to date, and restored into an empty database and store, which it then owns', async () => {
    const { apiKey } = await json<{ apiKey: string }>(
      production.ask('POST', '/accounts', { name: 'reader', plan: 'free' }),
    )
    const updated = await run(cluster.environment(), 'backup', backup)
    expect(updated).toMatchObject({ code: 0, err: '' })
    const [, parts, copied] = /^(\d+) parts?, [\d,]+ bytes; (\d+) of/.exec(updated.out)!
    expect(Number(copied)).toBeLessThan(Number(parts))
    const restored = await empty('restored')
    // The first attempt ends when it has begun to fill the store, the second goes on.
    const [part] = readdirSync(join(backup, 'parts'))
    renameSync(join(backup, 'parts', part!), join(backup, 'away'))
    expect(await run(restored, 'restore', backup)).toMatchObject({ code: 1, out: '' })
    renameSync(join(backup, 'away'), join(backup, 'parts', part!))
    const done = await run(restored, 'restore', backup)
    expect(done).toMatchObject({ code: 0, err: '' })
    expect(done.out).toMatch(
      /^\d+ parts?, [\d,]+ bytes restored into s3:\/\/tests\/restored; all hashes match\n$/,
    )

    expect(readdirSync(join(cluster.folder, 'guest')).filter((name) => name.startsWith('restore-'))).toEqual(
      [],
    )
    const node = await cluster.node('restored', {
      database: restored['PARQUETRY_DATABASE']!,
      config: { store: restored['PARQUETRY_STORE'] },
    })
    for (const id of [replaced, appended])
      expect(await numbers(node, id)).toEqual(await numbers(production, id))
    expect(await rows(node, replaced, '?$version=1')).toBe('n\n0\n')
    expect((await node.ask('GET', '/account', undefined, apiKey)).status).toBe(200)
    expect((await node.server.engine.verify()).problems).toEqual([])
    const secret = "SELECT value FROM secrets WHERE name = 'server'"
    const { value } = (await production.server.engine.database.get<{ value: string }>(secret))!
    expect(await node.server.engine.database.get(secret)).toEqual({ value })
    expect(readFileSync(join(backup, 'secret'), 'utf8')).toBe(value)

    // Each removes from its own store alone.
    const before = inUse('rows')
    expect((await node.ask('DELETE', `/datasets/${replaced}`)).status).toBe(204)
    await json(node.ask('PUT', `/datasets/${appended}/data`, 'n\n-1\n'))
    await node.server.engine.gc()
    expect(inUse('rows')).toEqual(before)
    expect((await production.ask('GET', '/readyz')).status).toBe(200)
    await json(production.ask('POST', `/datasets/${appended}/data`, 'n\n7\n'))
    await node.close()
  })

  it('is not restored over another catalog, or into a store that holds the rows of one', async () => {
    const again = await empty('restored')
    expect(await run(again, 'restore', backup)).toMatchObject({
      code: 1,
      err: expect.stringMatching(/holds a catalog already/),
    })
    const other = { ...(await empty('other')), ...cluster.store.environment('rows') }
    expect(await run(other, 'restore', backup)).toMatchObject({
      code: 1,
      err: expect.stringMatching(/holds the rows of another catalog/),
    })
    rmSync(join(backup, 'catalog.sqlite'))
    expect(await run(other, 'restore', backup)).toMatchObject({
      err: expect.stringMatching(/is not a backup/),
    })
  })
})

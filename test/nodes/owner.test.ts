import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { copyDatabase } from '../cluster/postgres.ts'
import { runCommand } from '../server/process.ts'
import { Cluster, HAS_CLUSTER, json, type Node, ROOT } from './cluster.ts'

const LONG_AGO_MS = 1_000_000

describe.runIf(HAS_CLUSTER)('a copy of a catalog on the store of its original', () => {
  let cluster: Cluster
  let production: Node
  let id: number
  let copy: string
  beforeAll(async () => {
    cluster = await Cluster.start()
    production = await cluster.node('production')
    id = await cluster.dataset(production, 'rows', 'n\n1\n')
    copy = await copyDatabase(cluster.postgres.url, 'staging')
  })
  afterAll(() => cluster?.[Symbol.asyncDispose]())

  const rows = async (node: Node) => (await node.ask('GET', `/datasets/${id}/data`)).text()
  const stored = () =>
    readdirSync(join(cluster.store.folder, 'data'), { recursive: true })
      .map(String)
      .filter((name) => name.endsWith('.parquet'))
      .sort()
  /** Removes what is no longer shown, as if a while had passed. */
  const collect = async ({ server: { engine } }: Node) => {
    await engine.database.run('DELETE FROM leases')
    await engine.gc()
    await engine.database.run('UPDATE versions SET retired_at = retired_at - ?', LONG_AGO_MS)
    await engine.gc()
  }

  it('is refused at the start with one sentence that names --take-over, and ends with 1', async () => {
    const data = `${cluster.folder}/staging`
    const { code, out, err } = await runCommand(
      ['--data', data, 'serve', '--port', '0'],
      cluster.environment(copy),
    )
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toMatch(
      /^parquetry: s3:\/\/tests\/rows belongs to another copy of this catalog \(database \d+\/\d+, epoch 0; .*--take-over\.\n$/,
    )
    expect(await rows(production)).toBe('n\n1\n')
    expect((await production.ask('GET', '/readyz')).status).toBe(200)
  })

  it('can be verified, but not written to by the commands', async () => {
    const run = (...args: string[]) =>
      runCommand(['--data', `${cluster.folder}/guest`, ...args], cluster.environment(copy))
    expect((await run('verify')).out).toContain('all well')
    const file = new URL('../../data/samples/penguins.csv', import.meta.url).pathname
    const before = stored()
    const { code, err } = await run('import', file, '--repository', '1', '--dataset', 'penguins')
    expect(code).toBe(1)
    expect(err).toContain('now belongs to another catalog')
    expect((await run('gc')).err).toContain('now belongs to another catalog')
    expect(stored()).toEqual(before)
  })

  it('owns the store after a take-over; then the original removes and writes nothing, and says so', async () => {
    const staging = await cluster.node('staging', { database: copy, takeOver: true })
    const before = stored()
    // The original no longer shows the part, but the copy does.
    await production.server.engine.database.run('UPDATE parts SET given_up_at = 1')
    await expect(production.server.engine.gc()).rejects.toMatchObject({ code: 'writes_stopped' })
    await production.server.engine.database.run('UPDATE parts SET given_up_at = NULL')
    const append = await production.ask('POST', `/datasets/${id}/data`, 'n\n2\n')
    expect(append.status).toBe(503)
    expect(await append.json()).toMatchObject({ code: 'writes_stopped' })
    expect((await production.ask('GET', '/readyz')).status).toBe(503)
    expect(stored()).toEqual(before)
    expect(production.log.filter((line) => line['event'] === 'writes_stopped')).toHaveLength(1)
    expect(await (await production.ask('GET', '/metrics')).text()).toContain(
      'parquetry_writes_stopped{of="process"} 1\n',
    )

    await staging.server.engine.updateDataset(id, { keep: { versions: 1, days: 0 } })
    await json(staging.ask('PUT', `/datasets/${id}/data`, 'n\n3\n'))
    await collect(staging)
    expect(await rows(staging)).toBe('n\n3\n')
    expect(stored()).toHaveLength(1)
    expect((await staging.server.engine.verify()).problems).toEqual([])
    await staging.close()
    // Once is enough: the database remembers that it is the owner.
    const again = await cluster.node('staging', { database: copy })
    expect((await again.ask('GET', '/readyz')).status).toBe(200)
    await again.close()
  })

  it('gives it back by another take-over, without which the original can no longer be started', async () => {
    await production.close()
    await expect(cluster.node('production')).rejects.toMatchObject({ code: 'invalid_option' })
    production = await cluster.node('production', { takeOver: true })
    expect((await production.ask('GET', '/readyz')).status).toBe(200)
    const other = await cluster.node('production-2')
    expect((await other.ask('GET', '/readyz', undefined, ROOT)).status).toBe(200)
    await other.close()
  })

  it('of the identity of the original, as a promoted replica, is told from it by the epoch', async () => {
    const { database } = production.server.engine
    // What a primary knows that was cut off before its replica was promoted and took the store over.
    await database.run('UPDATE part_store SET epoch = epoch - 1')
    await expect(production.server.engine.gc()).rejects.toMatchObject({ code: 'writes_stopped' })
    await expect(cluster.node('primary')).rejects.toMatchObject({ code: 'invalid_option' })
    await database.run('UPDATE part_store SET epoch = epoch + 1')
    await production.server.engine.gc()
    expect((await production.ask('GET', '/readyz')).status).toBe(200)
  })
})

import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Cluster, HAS_CLUSTER, json, type Node, ROOT } from '../nodes/cluster.ts'
import { basic } from '../server/platform.ts'
import { type Served, serveProcess } from '../server/process.ts'

/** The version before this one, 0.2.0. Its tables are those of this version without what was added. */
const BEFORE = 'dd4963262166cd2ddca037155267ae44bab9a649'
const HERE = resolve(import.meta.dirname, '../..')
const WRITERS = 4
const APPENDS = 12

const isThere = spawnSync('git', ['cat-file', '-e', BEFORE], { cwd: HERE }).status === 0
if (!isThere) console.warn(`NOT RUN: the upgrade from the version before; this clone doesn't have ${BEFORE}.`)

describe.runIf(HAS_CLUSTER && isThere)('a node of the version before', () => {
  let cluster: Cluster
  let main: string
  let before: Served
  beforeAll(async () => {
    cluster = await Cluster.start()
    const source = join(cluster.folder, 'source')
    mkdirSync(source)
    const archive = execFileSync('git', ['archive', BEFORE], { cwd: HERE, maxBuffer: 2 ** 30 })
    execFileSync('tar', ['-x', '-C', source], { input: archive })
    symlinkSync(join(HERE, 'node_modules'), join(source, 'node_modules'))
    main = join(source, 'server/bin.js')
    before = await start()
  })
  afterAll(async () => {
    await before?.[Symbol.asyncDispose]()
    await cluster?.[Symbol.asyncDispose]()
  })

  const start = () =>
    serveProcess({ data: join(cluster.folder, 'before'), environment: cluster.environment(), main })
  const ask: Node['ask'] = (method, path, body) =>
    fetch(before.url + path, {
      method,
      headers: {
        authorization: basic(ROOT),
        ...(body !== undefined && {
          'content-type': typeof body === 'string' ? 'text/csv' : 'application/json',
        }),
      },
      body: typeof body === 'object' ? JSON.stringify(body) : (body ?? null),
    })

  it('goes on next to one of this version, which has changed the tables, and nothing is lost', async () => {
    const { id: repositoryId } = await json<{ id: number }>(ask('POST', '/repositories', { name: 'r' }))
    const { id } = await json<{ id: number }>(ask('POST', '/datasets', { name: 'd', repositoryId }))
    await json(ask('PUT', `/datasets/${id}/data`, 'n\n0\n'))
    const node = await cluster.node('new')
    const wanted = Array.from({ length: WRITERS * APPENDS + 1 }, (_, n) => n)
    const read = async (from: Node['ask']) =>
      (await (await from('GET', `/datasets/${id}/data`)).text()).trim().split('\n').slice(1).map(Number)
    const writers = Array.from({ length: WRITERS }, async (_, writer) => {
      for (let n = 0; n < APPENDS; n++) {
        const on = (writer + n) % 2 === 0 ? ask : node.ask
        await json(on('POST', `/datasets/${id}/data`, `n\n${writer * APPENDS + n + 1}\n`))
        expect(await read(on)).toContain(writer * APPENDS + n + 1)
      }
    })
    await Promise.all(writers)
    for (const on of [ask, node.ask]) expect((await read(on)).toSorted((x, y) => x - y)).toEqual(wanted)
    expect((await before.stop()).code).toBe(0)
    expect((await read(node.ask)).toSorted((x, y) => x - y)).toEqual(wanted)
    expect((await node.server.engine.verify()).problems).toEqual([])
    await node.close()
  })

  it('is not started again once the tables are those of this version', async () => {
    await expect(start()).rejects.toThrow(/catalog was written by a newer version/)
  })
})

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { basic } from '../server/platform.ts'
import { Cluster, HAS_CLUSTER, json, type Node, ROOT } from './cluster.ts'

const LONG = 1_000_000

interface Page {
  readonly value: readonly { readonly n: number }[]
  readonly '@odata.nextLink'?: string
}

describe.runIf(HAS_CLUSTER)('a version that a client has begun to read on one node', () => {
  let cluster: Cluster
  let a: Node
  let b: Node
  beforeAll(async () => {
    cluster = await Cluster.start()
    ;[a, b] = [await cluster.node('a'), await cluster.node('b')]
  })
  afterAll(() => cluster?.[Symbol.asyncDispose]())

  const csv = (...rows: number[]) => `n\n${rows.join('\n')}\n`
  const replace = (id: number, ...rows: number[]) => json(a.ask('PUT', `/datasets/${id}/data`, csv(...rows)))

  /** As if a while had passed: the nodes have told what they read, and what nobody reads is removed. */
  async function aWhile(...nodes: Node[]): Promise<void> {
    for (const { server } of nodes) await server.engine.gc()
    await b.server.engine.database.run('UPDATE versions SET retired_at = retired_at - ?', LONG)
    for (const { server } of nodes) await server.engine.gc()
  }

  const get = (node: Node, path: string) =>
    fetch(node.server.url + path, { headers: { authorization: basic(ROOT), prefer: 'odata.maxpagesize=2' } })
  /** Asks one node for what another one has linked to. */
  const follow = (node: Node, link: string) => {
    const { pathname, search } = new URL(link)
    return get(node, pathname + search)
  }

  async function firstPage(name: string, node: Node): Promise<{ id: number; page: Page }> {
    const id = await cluster.dataset(a, name, csv(1, 2, 3, 4, 5))
    // Only what is read of past versions stays.
    await a.server.engine.updateDataset(id, { keep: { versions: 1, days: 0 } })
    const { repositoryId } = await json<{ repositoryId: number }>(a.ask('GET', `/datasets/${id}`))
    const path = `/repositories/${repositoryId}/odata/${name}?$filter=n gt 0&$top=5&$orderby=n desc`
    const page = await json<Page>(get(node, encodeURI(path)))
    return { id, page }
  }

  it('is read on by pages on all nodes in turn, after it was replaced', async () => {
    const { id, page } = await firstPage('paged', a)
    const found = page.value.map(({ n }) => n)
    let next = page['@odata.nextLink']
    for (let n = 1; next; n++) {
      await replace(id, 100 + n)
      await aWhile(a, b)
      const { value, '@odata.nextLink': link } = await json<Page>(follow(n % 2 ? b : a, next))
      found.push(...value.map(({ n }) => n))
      next = link
    }
    expect(found).toEqual([5, 4, 3, 2, 1])
  })

  it('stays while any node keeps it, also if the first one ends', async () => {
    const third = await cluster.node('third')
    const { id, page } = await firstPage('restarted', third)
    await replace(id, 100)
    await aWhile(a, b, third)
    await third.close()
    // Nobody has asked another node yet; for two minutes the version stays nevertheless.
    await a.server.engine.gc()
    const second = await json<Page>(follow(a, page['@odata.nextLink']!))
    expect(second.value.map(({ n }) => n)).toEqual([3, 2])
    await aWhile(a, b)
    const last = await json<Page>(follow(b, second['@odata.nextLink']!))
    expect(last.value.map(({ n }) => n)).toEqual([1])
  })

  it('is gone on all nodes when none keeps it any more', async () => {
    const third = await cluster.node('third')
    const { id, page } = await firstPage('gone', third)
    await replace(id, 100)
    await aWhile(a, b, third)
    await third.close()
    await aWhile(a, b)
    for (const node of [a, b]) {
      const answer = await follow(node, page['@odata.nextLink']!)
      expect([answer.status, await answer.text()]).toEqual([410, expect.stringContaining('no longer kept')])
    }
  })

  it('has its files and its Iceberg table on the others', async () => {
    const id = await cluster.dataset(a, 'files', csv(0))
    for (let n = 1; n < 4; n++) await json(a.ask('POST', `/datasets/${id}/data`, csv(n)))
    const { repositoryId, version } = await json<{ repositoryId: number; version: number }>(
      a.ask('GET', `/datasets/${id}`),
    )
    const table = `/iceberg/v1/plain/namespaces/r${repositoryId}/tables/d${id}_${version}`
    const { metadata } = await json<{ metadata: object }>(a.ask('GET', table))
    const files = await json<{ url: string; rows: number }[]>(a.ask('GET', `/datasets/${id}/parquet`))
    expect(files.length).toBeGreaterThan(0)
    await replace(id, 100)
    await aWhile(a, b)
    expect(await json<{ metadata: object }>(b.ask('GET', table))).toMatchObject({ metadata })
    for (const { url } of files) {
      const answers = await Promise.all([follow(a, url), follow(b, url)])
      expect(answers.map(({ status }) => status)).toEqual([200, 200])
      const [one, other] = await Promise.all(answers.map((answer) => answer.arrayBuffer()))
      expect(Buffer.from(other!).equals(Buffer.from(one!))).toBe(true)
    }
  })

  it('has the files that the first node named, also after a merge has made others of the same rows', async () => {
    const id = await cluster.dataset(a, 'merged', csv(0))
    const { database } = a.server.engine
    // As if a node were about to merge.
    await database.run(
      `INSERT INTO jobs (kind, subject, due) VALUES ('merge', ?, 1e15)
       ON CONFLICT (kind, subject) DO UPDATE SET due = 1e15, taken_by = NULL`,
      id,
    )
    for (let n = 1; n < 8; n++) await json(a.ask('POST', `/datasets/${id}/data`, csv(n)))
    const files = async (node: Node) =>
      (await json<{ url: string }[]>(node.ask('GET', `/datasets/${id}/parquet`))).map(
        ({ url }) => new URL(url).pathname,
      )
    const before = await files(a)
    await database.run("UPDATE jobs SET due = 0 WHERE kind = 'merge'")
    const isMerged = async () => (await database.all("SELECT 1 FROM jobs WHERE kind = 'merge'")).length === 0
    await expect.poll(isMerged, { timeout: 30_000 }).toBe(true)
    await aWhile(a, b)
    expect((await files(b)).length).toBeLessThan(before.length)
    for (const path of before) expect((await get(b, path)).status).toBe(200)
    expect((await get(b, before[0]!.replace(/\d+\.parquet$/, '999999.parquet'))).status).toBe(404)
  }, 60_000)
})

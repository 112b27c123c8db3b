import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Engine, Query, QueryOptions } from '../../engine/index.ts'
import { openEngine } from '../../engine/index.ts'
import { freePort } from '../cluster/s3-server.ts'
import { type Platform, platform, ROOT_KEY } from '../server/platform.ts'
import { COLUMNS, LINES } from './every-type.ts'
import { TRINO_PROGRAM, TrinoServer } from './trino-server.ts'

/** A service whose questions all go to a real Trino that reads its tables, if the dialect can say them. */
let at: Platform
let trino: TrinoServer
let id: number
beforeAll(async () => {
  if (!TRINO_PROGRAM) return
  const port = await freePort()
  const { CLUSTER_BUCKET: bucket, CLUSTER_ENDPOINT: endpoint } = process.env
  trino = await TrinoServer.start({
    catalog: `http://127.0.0.1:${port}/iceberg`,
    key: ROOT_KEY,
    // The tests of the cluster have their rows there, and then answers are left there to be fetched.
    store: bucket && endpoint ? { bucket, endpoint } : undefined,
  })
  at = await platform({
    config: { iceberg: { localFiles: true }, trinoUrl: trino.url, trino: { minBytes: 0 } },
  })
  await at.app.listen({ port, host: '127.0.0.1' })
  alone = await openEngine({ directory: at.directory })
  const repository = (await at.call(at.root, 'POST', '/repositories', { json: { name: 'tables' } })).json()
  const made = await at.call(at.root, 'POST', '/datasets', {
    json: { name: 'table', repositoryId: repository.id, columns: COLUMNS },
  })
  id = made.json().id
  // Several parts, so that the order of rows is not that of one file.
  for (const some of [LINES.slice(0, 3), LINES.slice(3, 4), LINES.slice(4)]) {
    const body = `${COLUMNS.map(({ name }) => name).join(',')}\n${some.join('\n')}\n`
    const headers = { 'content-type': 'text/csv' }
    const answer = await at.call(at.root, 'POST', `/datasets/${id}/data`, { body, headers })
    expect(answer.statusCode, answer.body).toBe(200)
  }
}, 180_000)
afterAll(async () => {
  await alone?.close()
  await at?.[Symbol.asyncDispose]()
  await trino?.[Symbol.asyncDispose]()
})

/** The same tables without a Trino. */
let alone: Engine

const figures = async () => (await at.engine.stats()).executor?.trino

/** What the answer of Trino is, as csv. Fails where DuckDB was asked in its place. */
async function fromTrino(options: QueryOptions): Promise<string> {
  const dataset = await at.engine.dataset(id)
  using query = await dataset.query(options)
  expect(await query.explain()).toMatch(
    /^Read by: Trino, because it reads \d+ bytes of columns, at least 0\n/,
  )
  const before = await figures()
  const text = await csv(query)
  const after = await figures()
  expect(after).toEqual({ ...before, answered: (before?.answered ?? 0) + 1 })
  return text
}

async function fromDuckdb(options: QueryOptions): Promise<string> {
  const dataset = await alone.dataset(id)
  using query = await dataset.query(options)
  return csv(query)
}

async function csv(query: Query): Promise<string> {
  await using stream = await query.bytes('csv')
  const chunks: Uint8Array[] = []
  for await (const chunk of stream) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks).toString()
}

describe.runIf(TRINO_PROGRAM)(
  'a real Trino gives the same answers, byte for byte and in the same order',
  () => {
    test.each<QueryOptions>([
      { filter: 'n ne 77', top: 100 },
      { filter: 'flag eq true', top: 100 },
      { filter: "day ge 1900-01-01 and word ne 'c'", top: 3, skip: 1 },
      { filter: 'd gt 0', top: 100, select: 'word,d' },
      { filter: 'flag ne true', last: 2 },
      { orderBy: 'd', top: 100 },
      { orderBy: 'd desc', last: 4 },
      { orderBy: 'word,n desc', top: 100 },
      { orderBy: 'id', top: 100 },
      { orderBy: 'id desc,flag', top: 100 },
      { orderBy: 'price desc', top: 4, skip: 2 },
      { orderBy: 'year(day) desc', top: 100 },
      { orderBy: 'clock,instant', top: 100 },
      { orderBy: 'moment', last: 3 },
      { compute: 'price mul 2 as twice, length(word) as long', orderBy: 'twice', top: 100 },
      { apply: 'groupby((word))' },
      { apply: 'groupby((word,flag),aggregate($count as rows,n with max as most,price with sum as sum))' },
      { apply: 'groupby((flag),aggregate(word with first as first,id with last as last,d with last as d))' },
      { apply: 'groupby((day,clock,moment,instant,id,j))' },
      { apply: 'aggregate($count as rows,word with countdistinct as words,instant with min as first)' },
      { apply: 'filter(n eq 12345)/aggregate($count as rows,price with sum as sum)' },
      { apply: 'groupby((word),aggregate($count as rows))', orderBy: 'rows desc', top: 2 },
      { apply: 'groupby((flag),topcount(1,n))/groupby((flag,word))' },
      { apply: 'topcount(3,price)' },
      { apply: 'bottomcount(2,day)/compute(year(day) as y)' },
      { apply: 'orderby(word desc,n)/top(4)/groupby((flag))' },
      { apply: 'groupby((rollup(flag,word)),aggregate($count as rows))' },
      {
        apply:
          'concat(groupby((flag),aggregate($count as rows)),groupby((flag,word),aggregate(n with min as rows))/groupby((flag,rows)))',
      },
      { apply: 'concat(orderby(n)/top(2),filter(flag eq true)/top(3))' },
      { apply: 'groupby((word))', filter: "word eq '' or word gt 'a'" },
    ])('%o', async (options) => {
      expect(await fromTrino(options)).toBe(await fromDuckdb(options))
    })
  },
)

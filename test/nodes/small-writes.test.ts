import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PostgresLine } from '../cluster/postgres-line.ts'
import { Cluster, HAS_CLUSTER, json } from './cluster.ts'

const WRITES = 200

describe.runIf(HAS_CLUSTER)('small writes to a node', () => {
  let cluster: Cluster
  let line: PostgresLine
  beforeAll(async () => {
    cluster = await Cluster.start()
    line = await PostgresLine.before(cluster.postgres.url)
  })
  afterAll(async () => {
    await cluster?.[Symbol.asyncDispose]()
    await line?.[Symbol.asyncDispose]()
  })

  it('that are committed together are checked once while others wait for the dataset', async () => {
    const node = await cluster.node('a', { database: line.url(cluster.postgres.url) })
    const made = node.ask('POST', '/accounts', { name: 'ada', plan: 'free' })
    const { apiKey } = await json<{ apiKey: string }>(made)
    const id = await cluster.dataset(node, 'of ada', 'n\n0\n', apiKey)
    const append = async (n: number) => json(node.ask('POST', `/datasets/${id}/data`, `n\n${n}\n`, apiKey))
    await append(0)
    const before = line.statements
    await Promise.all(Array.from({ length: WRITES }, (_, n) => append(n)))
    // One before each write, whether the dataset follows a source, and some for each commit.
    expect((line.statements - before) / WRITES).toBeLessThan(3.5)
  })
})

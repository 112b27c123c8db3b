import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Engine, type EngineError, openEngine } from '../../engine/index.ts'
import { mountDisk } from '../store/disk.ts'

const MIB = 2 ** 20
const ROWS = 1_200_000
const GROUPS = 600_000

const disk = mountDisk(512 * MIB)
let engine: Engine
let id: number

/** Each key twice, the two far from each other; keys that no dictionary shortens. */
async function* csv(): AsyncGenerator<Uint8Array> {
  yield Buffer.from('k,n\n')
  for (let at = 0; at < ROWS; at += 10_000) {
    const lines = Array.from({ length: 10_000 }, (_, step) => {
      const key = ((at + step) % GROUPS) * 7_919
      return `the key of a group ${key.toString(36).padStart(12, '-')},${(at + step) % 10}\n`
    })
    yield Buffer.from(lines.join(''))
  }
}

/** Groups that come out, and the sum of their sums; or the code of the error. */
async function grouped(): Promise<{ readonly groups: number; readonly total: number } | string> {
  const dataset = await engine.dataset(id)
  using query = await dataset.query({
    apply: 'groupby((k),aggregate(n with sum as total,k with max as same))',
  })
  let groups = 0
  let total = 0
  try {
    for await (const batch of query.batches()) {
      groups += batch.numRows
      for (const value of batch.getChild('total')!) total += Number(value)
    }
  } catch (error) {
    expect((error as EngineError).message).toMatch(/^What the query can not keep in memory needs more room/)
    return (error as EngineError).code
  }
  return { groups, total }
}

describe.runIf(disk)('more groups than memory holds', () => {
  beforeAll(async () => {
    const data = join(disk!.folder, 'data')
    mkdirSync(data)
    engine = await openEngine({ directory: data, threads: 1, workers: 1, memoryLimit: '80MiB' })
    const repository = await engine.createRepository({ name: 'r' })
    id = (await engine.createDataset({ repositoryId: repository.id, name: 'd' })).id
    await (await engine.dataset(id)).replace({ format: 'csv', body: csv() })
  }, 120_000)
  afterAll(async () => {
    await engine.close()
    disk![Symbol.dispose]()
  })

  test('are kept on the disk meanwhile', async () => {
    expect(await grouped()).toEqual({ groups: GROUPS, total: (ROWS / 10) * 45 })
  })

  test('leave memory for the statements of others', async () => {
    const dataset = await engine.dataset(id)
    using sorting = await dataset.query({ orderBy: 'k desc,n' })
    const batches = sorting.batches()[Symbol.asyncIterator]()
    // By then, all rows have been sorted, and most are on the disk.
    let read = (await batches.next()).value!.numRows
    using query = await dataset.query({ apply: 'groupby((n),aggregate($count as c))/orderby(n)' })
    const counts: unknown[] = []
    for await (const row of query.rows()) counts.push(Object.values(row))
    expect(counts).toEqual(Array.from({ length: 10 }, (_, n) => [n, ROWS / 10]))
    for (let next = await batches.next(); !next.done; next = await batches.next()) read += next.value.numRows
    expect(read).toBe(ROWS)
  })

  test('are not kept at all by branches that are sent one after the other', async () => {
    disk!.leave(2 * MIB)
    const dataset = await engine.dataset(id)
    const apply = 'concat(identity,filter(n ge 1))/concat(filter(n lt 9),identity)'
    using query = await dataset.query({ apply })
    let rows = 0
    for await (const batch of query.batches()) rows += batch.numRows
    disk!.clear()
    expect(rows).toBe((ROWS / 10) * (9 + 8 + 10 + 9))
  })

  test('are refused clearly where the disk has no room for them', async () => {
    disk!.leave(2 * MIB)
    expect(await grouped()).toBe('storage_full')
    disk!.clear()
    expect(await grouped()).toMatchObject({ groups: GROUPS })
  })
})

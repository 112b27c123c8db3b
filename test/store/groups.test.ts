import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type DeclaredColumn, type Engine, openEngine, type Upload } from '../../engine/index.ts'

const directory = mkdtempSync(join(tmpdir(), 'parquetry-groups-'))
let engine: Engine
let repositoryId: number
beforeAll(async () => {
  engine = await openEngine({ directory, role: 'server', threads: 1 })
  repositoryId = (await engine.createRepository({ name: 'r' })).id
})
afterAll(async () => {
  await engine.close()
  rmSync(directory, { recursive: true, force: true })
})

const N_W: readonly DeclaredColumn[] = [
  { name: 'n', type: 'integer' },
  { name: 'w', type: 'string' },
]

let made = 0
async function table(columns: readonly DeclaredColumn[] = N_W, key?: string[]) {
  const { id } = await engine.createDataset({ repositoryId, name: `d${++made}` })
  const dataset = await engine.dataset(id)
  if (columns.length > 0) await dataset.declareColumns(columns)
  if (key) await dataset.declareKey(key)
  await dataset.versions()
  const first = (await dataset.record()).version
  return {
    dataset,
    rows: async () => {
      using query = await dataset.query()
      return await Array.fromAsync(query.rows())
    },
    /** What each version added since, oldest first. */
    versions: async () =>
      (await dataset.versions())
        .filter(({ number }) => number > first)
        .toReversed()
        .map(({ addedRows, by, note }) => ({ addedRows, ...(by && { by }), ...(note && { note }) })),
  }
}

const csv = (text: string, more: Partial<Upload> = {}): Upload => ({
  format: 'csv',
  body: Buffer.from(`n,w\n${text}\n`),
  ...more,
})
const json = (rows: readonly object[], more: Partial<Upload> = {}): Upload => ({
  format: 'json',
  body: Buffer.from(JSON.stringify({ rows })),
  ...more,
})

test('small appends that come while another is under way are one version, in their order', async () => {
  const { dataset, rows, versions } = await table()
  const numbers = Array.from({ length: 20 }, (_, n) => n)
  const records = await Promise.all(numbers.map((n) => dataset.append(json([{ n, w: `w${n}` }]))))
  expect(await rows()).toEqual(numbers.map((n) => ({ n, w: `w${n}` })))
  expect(await versions()).toEqual([{ addedRows: 1 }, { addedRows: 19 }])
  expect(records.map(({ rowCount }) => rowCount)).toEqual([1, ...Array(19).fill(20)])
  expect((await dataset.record()).bytes).toBeGreaterThan(0)
})

test('one with a fault fails alone, with the error that it has by itself', async () => {
  const { dataset, rows, versions } = await table()
  const bodies = ['0,a', '1,b', 'x,c', '3', '4,e', '"5,f', '6,g"', '7,h']
  const together = await Promise.allSettled(bodies.map((body) => dataset.append(csv(body))))
  const unknown = await Promise.allSettled([
    dataset.append(csv('8,i')),
    dataset.append(json([{ n: 9, v: 'j' }])),
    dataset.append(json([{ n: 10, w: 'k' }])),
    dataset.append({ format: 'json', body: Buffer.from('{"rows":[{"n":11') }),
  ])
  expect((await rows()).map(({ n }) => n)).toEqual([0, 1, 4, 6, 7, 8, 10])
  expect(await versions()).toHaveLength(4)
  const failures = [...together, ...unknown].flatMap((one) =>
    one.status === 'rejected' ? [(one.reason as Error).message] : [],
  )
  const alone: string[] = []
  for (const upload of [
    ...['x,c', '3', '"5,f'].map((body) => csv(body)),
    json([{ n: 9, v: 'j' }]),
    { format: 'json', body: Buffer.from('{"rows":[{"n":11') } as const,
  ])
    await dataset.append(upload).catch(({ message }: Error) => alone.push(message))
  expect(alone).toHaveLength(5)
  expect(failures).toEqual(alone)
})

test('writes of another author, note or format have a version of their own', async () => {
  const { dataset, versions, rows } = await table()
  await Promise.all([
    dataset.append(csv('0,a', { by: 'ada' })),
    dataset.append(csv('1,a', { by: 'ada' })),
    dataset.append(csv('2,b', { by: 'bob' })),
    dataset.append(csv('3,a', { by: 'ada', note: 'late' })),
    dataset.append(csv('4,b', { by: 'bob' })),
    dataset.append(csv('5,a', { by: 'ada' })),
    dataset.append(csv('6,a', { by: 'ada', alone: true })),
    dataset.append(json([{ n: 7, w: 'a' }], { by: 'ada' })),
  ])
  const all = await versions()
  expect(all.filter(({ by, note }) => by === 'bob' && !note)).toEqual([{ addedRows: 2, by: 'bob' }])
  expect(all.filter(({ note }) => note)).toEqual([{ addedRows: 1, by: 'ada', note: 'late' }])
  expect(all.filter(({ by, note }) => by === 'ada' && !note).map(({ addedRows }) => addedRows)).toEqual(
    expect.arrayContaining([1, 2]),
  )
  expect((await rows()).map(({ n }) => n).toSorted()).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
})

test('the first rows of a dataset bring the columns by which the others are read', async () => {
  const { dataset, rows } = await table([])
  await Promise.all([1, 2, 3].map((n) => dataset.append(json([{ n, w: `w${n}` }]))))
  expect(await rows()).toEqual([1, 2, 3].map((n) => ({ n, w: `w${n}` })))
})

test('files that are read as the last upload was are read one by one', async () => {
  const { dataset, rows, versions } = await table()
  const auto = { dialect: 'auto' } as const
  await dataset.replace(csv('1,a\n2,b', { options: auto }))
  const bodies = ['3,c', '2.000,d', '4.000,e', '5,f']
  const outcomes = await Promise.allSettled(bodies.map((text) => dataset.append(csv(text))))
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled'])
  expect(String((outcomes[1] as PromiseRejectedResult).reason)).toContain('2.000')
  expect((await rows()).map(({ n }) => n)).toEqual([1, 2, 3, 5])
  expect(await versions()).toHaveLength(3)
})

test('rows with a key that is there already fail alone', async () => {
  const { dataset, rows } = await table(N_W, ['n'])
  const numbers = [0, 1, 2, 3, 2, 4, 1, 5]
  const outcomes = await Promise.allSettled(numbers.map((n) => dataset.append(json([{ n, w: 'x' }]))))
  expect(outcomes.map(({ status }) => status)).toEqual(
    numbers.map((n, at) => (numbers.indexOf(n) === at ? 'fulfilled' : 'rejected')),
  )
  expect(outcomes[4]).toMatchObject({ reason: { code: 'duplicate_key' } })
  expect((await rows()).map(({ n }) => n)).toEqual([0, 1, 2, 3, 4, 5])
})

test('of upserts with the same key the last one counts, and what a row does not name stays', async () => {
  const { dataset, rows } = await table(N_W, ['n'])
  await dataset.append(csv('1,a\n2,b\n3,c'))
  await Promise.all([
    dataset.upsert(json([{ n: 1, w: 'A' }])),
    dataset.upsert(json([{ n: 2, w: 'B' }])),
    dataset.upsert(json([{ n: 1, w: 'AA' }])),
    dataset.upsert(json([{ n: 3 }])),
    dataset.upsert(json([{ n: 4, w: 'D' }])),
  ])
  expect((await rows()).toSorted((one, other) => Number(one['n']) - Number(other['n']))).toEqual([
    { n: 1, w: 'AA' },
    { n: 2, w: 'B' },
    { n: 3, w: 'c' },
    { n: 4, w: 'D' },
  ])
})

test('one that is refused in the transaction is not written, and the others are', async () => {
  const { dataset, rows, versions } = await table()
  const accepted: number[] = []
  const outcomes = await Promise.allSettled(
    [0, 1, 2, 3, 4].map((n) =>
      dataset.append(
        csv(`${n},x`, {
          accept: async (_, t) => {
            expect(t.inTransaction).toBe(true)
            if (n === 3) throw new Error('refused')
            accepted.push(n)
          },
        }),
      ),
    ),
  )
  expect(outcomes.map(({ status }) => status)).toEqual([
    'fulfilled',
    'fulfilled',
    'fulfilled',
    'rejected',
    'fulfilled',
  ])
  expect((await rows()).map(({ n }) => n)).toEqual([0, 1, 2, 4])
  expect((await versions()).reduce((sum, { addedRows }) => sum + addedRows!, 0)).toBe(4)
  expect(new Set(accepted)).toEqual(new Set([0, 1, 2, 4]))
})

test('one whose client has left before it was its turn is not written', async () => {
  const { dataset, rows } = await table()
  const left = new AbortController()
  const writing = [
    dataset.append(csv('0,a')),
    dataset.append(csv('1,a')),
    dataset.append(csv('2,a', { signal: left.signal })),
  ]
  left.abort(new Error('left'))
  const outcomes = await Promise.allSettled(writing)
  expect(outcomes[2]).toMatchObject({ status: 'rejected', reason: { message: 'left' } })
  expect((await rows()).map(({ n }) => n)).toEqual([0, 1])
})

test('values are the same as of uploads by themselves', async () => {
  const types = ['integer', 'double', 'decimal(20,4)', 'string', 'boolean', 'date', 'timestamp'] as const
  const others = ['timestamptz', 'time', 'uuid', 'json', 'binary'] as const
  const columns = [...types, ...others].map((type) => ({ name: type.replace(/\W.*/, ''), type }))
  const lines = [
    '1,1.5,2.0001,"a, ""b""",true,2024-02-29,2024-01-01T00:00:00,2024-01-01T00:00:00Z,12:00:00,c0a8012e-0000-4000-8000-000000000000,"{""a"":1}",AAE=',
    ',,,,,,,,,,,',
    '-7,NaN,12,"",false,0001-01-01,2024-01-01 01:02:03.5,2024-01-01T00:00+02:00,00:00:00.25,c0a8012e-0000-4000-8000-000000000001,[],',
    '9223372036854775807,-0.0,-0.0001,"two\nlines",FALSE,9999-12-31,2024-01-01T10:00Z,2024-06-01 00:00:00.123456+02,23:59:59,C0A8012E-0000-4000-8000-00000000000A,null,/w==',
    `12,1e300,1,\u{1f600}\u001f\ufeff,true,2024-12-31,2024-01-01,2024-01-01T00:00:00Z,01:02:03,c0a8012e-0000-4000-8000-000000000002,"""x""",AA==`,
  ]
  const header = columns.map(({ name }) => name).join(',')
  const upload = (line: string, alone: boolean): Upload => ({
    format: 'csv',
    body: Buffer.from(`${header}\n${line}\n`),
    alone,
  })
  const outcomes = async (alone: boolean) => {
    const { dataset, rows } = await table(columns)
    const settled = await Promise.allSettled(
      [...lines, ...lines].map((line) => dataset.append(upload(line, alone))),
    )
    const statuses = settled.map((one) =>
      one.status === 'rejected' ? (one.reason as Error).message : 'done',
    )
    const all = (await rows()).map((row) =>
      JSON.stringify(row, (_, value) =>
        Object.is(value, -0) || typeof value === 'bigint' ? `${value} ${Object.is(value, -0)}` : value,
      ),
    )
    return { statuses: statuses.slice(lines.length), rows: all.toSorted() }
  }
  const [together, alone] = [await outcomes(false), await outcomes(true)]
  expect(together).toEqual(alone)
  expect(together.statuses.filter((status) => status === 'done').length).toBeGreaterThan(2)
})

test('other requests come in between while a large group is answered', async () => {
  const { dataset } = await table()
  let answered = 0
  const writing = Array.from({ length: 200 }, async (_, n) => {
    await dataset.append(csv(`${n},a`))
    answered++
  })
  const seen = new Set<number>()
  while (answered < writing.length) {
    await nextTurn()
    seen.add(answered)
  }
  await Promise.all(writing)
  expect(seen.size).toBeGreaterThan(20)
})

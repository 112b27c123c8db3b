import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Dataset, QueryOptions } from '../../engine/index.ts'
import { errorOf, type Lake, openLake, read } from './lake.ts'

let lake: Lake
let attached: Dataset
let uploaded: Dataset

/** Every type, nulls, NaN, -0, and whole numbers of 32 bits, under names that need quotes. */
const ROWS = (
  file: number,
) => `SELECT (i + ${file} * 5000)::BIGINT AS id, (i % 7)::INTEGER AS "the ""group""", i % 2 = 0 AS b,
  CASE i % 5 WHEN 0 THEN 'nan'::DOUBLE WHEN 1 THEN -0.0 ELSE i / 4.0 END AS d, (i / 8.0)::FLOAT AS f,
  CASE WHEN i % 3 > 0 THEN 'text ' || i END AS "r", DATE '2024-01-01' + i::INTEGER AS day, TIME '00:00:01' + INTERVAL (i) SECOND AS t,
  TIMESTAMP '2024-01-01' + INTERVAL (i) SECOND AS "at", TIMESTAMPTZ '2024-01-01 00:00:00+00' + INTERVAL (i) SECOND AS c0,
  (i / 100.0)::DECIMAL(12, 2) AS small, (i / 100.0)::DECIMAL(30, 2) AS wide, md5(i::VARCHAR)::UUID AS u, encode('b' || i) AS bin
  FROM range(5000) n(i)`

beforeAll(async () => {
  lake = await openLake()
  const files = []
  for (const year of [0, 1, 2])
    files.push(await lake.write(`types/year=${2024 + year}/part.parquet`, ROWS(year)))
  attached = await lake.attach('types')
  uploaded = await lake.upload(files)
})
afterAll(() => lake[Symbol.asyncDispose]())

test('attached files have the columns of an upload, and nothing is copied', async () => {
  const { columns, rowCount, version } = await attached.record()
  expect(columns).toEqual((await uploaded.record()).columns)
  expect({ rowCount, version }).toEqual({ rowCount: 15_000, version: 1 })
  const own = readdirSync(join(lake.data, 'parts'))
  using snapshot = await uploaded.snapshot()
  expect(own).toHaveLength((await snapshot.files()).length)
})

const QUERIES: readonly QueryOptions[] = [
  { filter: 'id eq 7777' },
  { filter: 'd gt 1000', top: 5 },
  { filter: '"the ""group""" eq 3 and day ge 2030-01-01' },
  { filter: "r eq 'text 4999'" },
  { filter: "startswith(r, 'text 49')", orderBy: 'f desc, id', top: 20 },
  { filter: 'small eq 12.5 or wide eq 13.5 or t eq 00:20:00' },
  { filter: 'd eq null or b eq true', orderBy: 'u', top: 9 },
  { orderBy: 'd desc,id', top: 7 },
  { orderBy: 'at desc', skip: 3, top: 3, select: ['id', 'c0'] },
  { skip: 4_998, top: 4 },
  { skip: 14_990 },
  { last: 3 },
  { apply: 'groupby(("the ""group"""),aggregate($count as n,wide with sum as s))/orderby("the ""group""")' },
  { apply: 'concat(filter(id eq 1),filter(id eq 14000))' },
  { search: 'text' } as QueryOptions,
  {},
]

test.for(QUERIES)('%j gives the rows of an upload', async (options) => {
  const rows = await read(attached, options)
  expect(rows).toBe(await read(uploaded, options))
  expect(rows).not.toBe('')
})

test('an export as Parquet, SQL, profile and verify read attached files, too', async () => {
  const names = await Promise.all([attached, uploaded].map(async (one) => (await one.record()).name))
  const answers = names.map(async (name) => {
    using query = await lake.engine.sql(`SELECT count(*), sum(wide), max(r) FROM ${name} WHERE small > 3`)
    return Array.fromAsync(query.rows())
  })
  const [ours, theirs] = await Promise.all(answers)
  expect(Object.values(ours![0]!)).toEqual(Object.values(theirs![0]!))
  using query = await attached.query({ select: ['id', 'f'] })
  await using stream = await query.bytes('parquet')
  const again = await lake.engine.dataset(
    (await lake.engine.createDataset({ repositoryId: 1, name: 'again' })).id,
  )
  await again.replace({ format: 'parquet', body: stream })
  expect(await read(again)).toBe(await read(uploaded, { select: ['id', 'f'] }))
  expect((await lake.engine.verify()).problems).toEqual([])
  await attached.profile()
  await lake.engine.settled()
  expect((await attached.profile())?.columns.map(({ nulls }) => nulls)).toEqual([
    0,
    0,
    0,
    0,
    0,
    5_001,
    ...Array(8).fill(0),
  ])
})

test('readers get the files under their own names', async () => {
  using snapshot = await attached.snapshot()
  const [file] = await snapshot.files()
  expect(file!.rows).toBe(5_000)
  const bytes = Buffer.concat(await Array.fromAsync(file!.read(0, file!.bytes)))
  const copy = await lake.upload([])
  await copy.replace({ format: 'parquet', body: bytes })
  expect(await read(copy)).toBe(await read(uploaded, { top: 5_000 }))
})

test('rows, columns and key can not be written, words about columns can', async () => {
  const csv = { format: 'csv', body: Buffer.from('id\n1\n') } as const
  const writes = [
    () => attached.replace(csv),
    () => attached.append(csv),
    () => attached.upsert({ ...csv, on: ['id'] }),
    () => attached.deleteRows({ filter: 'id eq 1' }),
    () => attached.editRows({ filter: 'id eq 1' }, { b: true }),
    () => attached.declareKey(['id']),
    () => attached.declareColumns([{ name: 'id', type: 'string' }]),
  ]
  for (const write of writes) expect(await errorOf(write())).toMatchObject({ code: 'attached_files' })
  await attached.describeColumns([{ name: 'id', description: 'the number' }])
  expect((await attached.record()).columns[0]!.description).toBe('the number')
  expect(await read(attached, { filter: 'id eq 7' })).toBe(await read(uploaded, { filter: 'id eq 7' }))
  const own = await errorOf(uploaded.attach(join(lake.folder, 'types')))
  expect(own.code).toBe('attached_files')
})

test.each([
  'replace',
  'append',
] as const)('files that are attached while rows come to %s others stay', async (how) => {
  await lake.write(`${how}/a.parquet`, 'SELECT 1::BIGINT AS n')
  const dataset = await lake.upload([])
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
  const { promise: isAttached, resolve: goOn } = Promise.withResolvers<void>()
  async function* body() {
    yield Buffer.from('n\n')
    begin()
    await isAttached
    yield Buffer.from('2\n')
  }
  const written = errorOf(dataset[how]({ format: 'csv', body: body() }))
  await begun
  await dataset.attach(join(lake.folder, how))
  goOn()
  expect(await written).toMatchObject({ code: 'attached_files' })
  expect(await read(dataset)).toBe('{"n":1}\n')
})

test('a copy has the same files, and neither deleting datasets nor gc removes them', async () => {
  await lake.write('kept/a.parquet', 'SELECT 1 AS n')
  const dataset = await lake.attach('kept')
  const snapshot = await dataset.snapshot()
  const { id } = await lake.engine.transaction((t) => snapshot.copy({ repositoryId: 1, name: 'copy' }, {}, t))
  snapshot[Symbol.dispose]()
  await lake.engine.deleteDataset(dataset.id)
  await lake.engine.settled()
  expect(await read(await lake.engine.dataset(id))).toBe('{"n":1}\n')
  await lake.engine.deleteDataset(id)
  await lake.engine.settled()
  await lake.engine.gc()
  expect(statSync(join(lake.folder, 'kept/a.parquet')).isFile()).toBe(true)
})

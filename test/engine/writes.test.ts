import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Dataset, EngineError, FORMATS } from '../../engine/index.ts'
import { endingOf } from '../../engine/types/index.ts'
import { IS_CLUSTER } from '../cluster/elsewhere.ts'
import { bytesOf, newDataset, openWorkplace, textOf } from './workplace.ts'

const testOnDirectory = test.skipIf(IS_CLUSTER)

function csv(text: string) {
  return { body: bytesOf(text), format: 'csv' as const }
}

async function read(dataset: Dataset, options = {}): Promise<string> {
  using query = await dataset.query(options)
  return textOf(await query.bytes('csv'))
}

test('what is uploaded comes out again, in its order', async () => {
  await using place = await openWorkplace()
  const dataset = await newDataset(place.engine)
  const record = await dataset.replace(csv('b,a\n2,x\n1,y\n'))
  expect(record).toMatchObject({ version: 1, rowCount: 2 })
  expect(record.columns.map(({ name, type }) => `${name}:${type}`)).toEqual(['b:integer', 'a:string'])
  expect(await read(dataset)).toBe('b,a\n2,x\n1,y\n')
})

test('what is no id names nothing', async () => {
  await using place = await openWorkplace()
  const { engine } = place
  for (const id of [undefined, null, 'seattle', 1.5, {}] as never[]) {
    await expect(engine.dataset(id)).rejects.toMatchObject({ code: 'not_found' })
    await expect(engine.repository(id)).rejects.toMatchObject({ code: 'not_found' })
    await expect(engine.createDataset({ repositoryId: id, name: 'a' })).rejects.toMatchObject({
      code: 'not_found',
    })
  }
})

test('a dataset without rows gives its header', async () => {
  await using place = await openWorkplace()
  const dataset = await newDataset(place.engine, [{ name: 'a', type: 'integer' }])
  expect(await read(dataset)).toBe('a\n')
  expect(await read(dataset, { filter: 'a gt 1', orderBy: 'a', top: 3 })).toBe('a\n')
})

test('a dataset that never had columns gives no row, no batch and empty text', async () => {
  await using place = await openWorkplace()
  const dataset = await newDataset(place.engine)
  using query = await dataset.query()
  for await (const row of query.rows()) expect.unreachable(`a row came: ${JSON.stringify(row)}`)
  for await (const batch of query.batches()) expect.unreachable(`a batch came: ${batch.numRows} rows`)
  expect(await textOf(await query.bytes('csv'))).toBe('')
})

test('appends at once all arrive', async () => {
  await using place = await openWorkplace()
  const dataset = await newDataset(place.engine)
  await Promise.all(Array.from({ length: 12 }, (_, n) => dataset.append(csv(`n\n${n}\n`))))
  const lines = (await read(dataset)).trim().split('\n').slice(1).map(Number)
  expect(lines.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 12 }, (_, n) => n))
  expect((await dataset.record()).version).toBe(12)
})

test('replaces at once end in one of them', async () => {
  await using place = await openWorkplace()
  const dataset = await newDataset(place.engine)
  await Promise.all([dataset.replace(csv('n\n1\n1\n')), dataset.replace(csv('n\n2\n2\n'))])
  expect(['n\n1\n1\n', 'n\n2\n2\n']).toContain(await read(dataset))
})

testOnDirectory('a reader finishes on the version that it began with', async () => {
  await using place = await openWorkplace({ keep: { versions: 1 } })
  const dataset = await newDataset(place.engine)
  await dataset.replace(csv(`n\n${'1\n'.repeat(50_000)}`))
  const query = await dataset.query()
  await dataset.replace(csv('n\n2\n'))
  await place.engine.settled()
  expect(await query.count()).toBe(50_000)
  expect((await textOf(await query.bytes('csv'))).length).toBe(2 + 2 * 50_000)
  query[Symbol.dispose]()
  await place.engine.settled()
  expect(readdirSync(join(place.directory, 'data/parts'))).toHaveLength(1)
})

testOnDirectory('a dataset that is deleted during an export finishes it', async () => {
  await using place = await openWorkplace()
  const dataset = await newDataset(place.engine)
  await dataset.replace(csv(`n\n${'7\n'.repeat(200_000)}`))
  const query = await dataset.query()
  const stream = (await query.bytes('csv'))[Symbol.asyncIterator]()
  let length = (await stream.next()).value!.length
  await place.engine.deleteDataset(dataset.id)
  await place.engine.settled()
  for (let next = await stream.next(); !next.done; next = await stream.next()) length += next.value.length
  expect(length).toBe(2 + 2 * 200_000)
  query[Symbol.dispose]()
  await place.engine.settled()
  expect(readdirSync(join(place.directory, 'data/parts'))).toEqual([])
  await expect(dataset.record()).rejects.toThrow(`There is no dataset ${dataset.id}.`)
})

testOnDirectory('an upload that fails changes nothing and leaves nothing', async () => {
  await using place = await openWorkplace()
  const dataset = await newDataset(place.engine)
  await dataset.replace(csv('n\n1\n'))
  await expect(dataset.append(csv('n\n2\nx\n'))).rejects.toThrow('Row 2, column "n"')
  expect(await read(dataset)).toBe('n\n1\n')
  expect(readdirSync(join(place.directory, 'data/parts'))).toHaveLength(1)
})

testOnDirectory('a body that breaks off changes nothing', async () => {
  await using place = await openWorkplace()
  const dataset = await newDataset(place.engine)
  const body = (async function* () {
    yield new TextEncoder().encode('n\n1\n')
    throw new Error('the connection broke')
  })()
  await expect(dataset.replace({ body, format: 'csv' })).rejects.toThrow('the connection broke')
  expect(await dataset.record()).toMatchObject({ version: 0, rowCount: 0 })
  expect(readdirSync(join(place.directory, 'data/tmp'), { recursive: true })).toHaveLength(1)
})

test('many small appends leave few files and all rows in order', async () => {
  await using place = await openWorkplace()
  const dataset = await newDataset(place.engine)
  for (let n = 0; n < 120; n++) await dataset.append(csv(`n\n${n}\n`))
  await place.engine.settled()
  expect(readdirSync(join(place.directory, 'data/parts')).length).toBeLessThan(24)
  expect(await read(dataset)).toBe(`n\n${Array.from({ length: 120 }, (_, n) => `${n}\n`).join('')}`)
  expect(await dataset.record()).toMatchObject({ version: 120, rowCount: 120 })
  expect((await place.engine.verify()).problems).toEqual([])
})

test('columns are added, widened and described without losing a row', async () => {
  await using place = await openWorkplace()
  const dataset = await newDataset(place.engine)
  await dataset.replace(csv('id,price\n1,2020-01-01\n2,2020-01-02\n'))
  const record = await dataset.declareColumns([
    { name: 'id', type: 'decimal(20,0)', description: 'key' },
    { name: 'note', type: 'string' },
    { name: 'price', type: 'timestamp' },
  ])
  expect(record).toMatchObject({ version: 2, rowCount: 2 })
  expect(await read(dataset)).toBe('id,note,price\n1,,2020-01-01T00:00:00\n2,,2020-01-02T00:00:00\n')
  await expect(dataset.declareColumns([{ name: 'id', type: 'integer' }])).rejects.toThrow(EngineError)
})

test('names of columns may be anything', async () => {
  await using place = await openWorkplace()
  const dataset = await newDataset(place.engine)
  const names = [
    'a',
    'A',
    'say "hi"',
    'two words',
    'line\nbreak',
    '🦆',
    "'; DROP TABLE parts; --",
    'c0',
    'select',
  ]
  const header = names.map((name) => `"${name.replaceAll('"', '""')}"`).join(',')
  await dataset.replace(csv(`${header}\n${names.map((_, n) => n).join(',')}\n`))
  expect((await dataset.record()).columns.map((column) => column.name)).toEqual(names)
  for (const [n, name] of names.entries()) {
    const quoted = `"${name.replaceAll('"', '""')}"`
    using query = await dataset.query({ filter: `${quoted} eq ${n}`, select: [name] })
    expect(await query.count()).toBe(1)
    for await (const row of query.rows()) expect(row).toEqual({ [name]: n })
  }
})

testOnDirectory('only one engine serves a directory; others work beside it', async () => {
  await using place = await openWorkplace()
  const { openEngine } = await import('../../engine/index.ts')
  const directory = join(place.directory, 'data')
  await using server = await openEngine({ directory, role: 'server' })
  await expect(openEngine({ directory, role: 'server' })).rejects.toThrow(
    'A server is using the data directory',
  )
  await expect(place.engine.gc()).rejects.toThrow('gc removes files, so it runs alone')
  const dataset = await newDataset(place.engine)
  await dataset.replace(csv('n\n1\n'))
  expect(await read(await server.dataset(dataset.id))).toBe('n\n1\n')
})

test.each([
  [{}, 5],
  [{ top: 2 }, 2],
  [{ last: 9 }, 5],
  [{ skip: 4, top: 3 }, 1],
  [{ orderBy: 'n', skip: 1 }, 4],
  [{ filter: 'n gt 1', top: 2 }, 2],
])('the number of rows that %o gives is known before they come', async (options, rows) => {
  await using place = await openWorkplace()
  const dataset = await newDataset(place.engine)
  await dataset.replace(csv('n\n1\n2\n3\n4\n5\n'))
  using query = await dataset.query(options)
  expect(query.resultRows(await query.count())).toBe(rows)
  expect((await textOf(await query.bytes('csv'))).split('\n')).toHaveLength(rows + 2)
})

test.each(FORMATS)('titles and units of declared columns stay with rows as %s', async (format) => {
  await using place = await openWorkplace()
  const dataset = await newDataset(place.engine)
  const columns = [
    { name: 'day', type: 'date', title: 'The day', unit: 'd' },
    { name: 'price', type: 'double', description: 'At noon', unit: 'EUR' },
  ] as const
  await dataset.declareColumns(columns)
  const rows = place.engine.relation(
    columns.map(({ name, type }) => ({ name, type })),
    [['2024-01-01', 1.5]],
  )
  using query = await rows.query()
  await dataset.replace({ format: endingOf(format), body: await query.bytes(format) })
  expect((await dataset.record()).columns).toMatchObject(columns)
})

import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Engine } from '../../engine/index.ts'
import { newDataset, openWorkplace } from './workplace.ts'

const MIB = 1 << 20
const LINES_PER_MIB = MIB / 16
/** So many that DuckDB begins to load before the scan has seen all of them. */
const ENOUGH = 10

/** So many MiB of csv, whose rows are all alike. */
function* lines(mebibytes: number): Generator<Uint8Array> {
  for (let n = 0; n < mebibytes; n++) yield Buffer.from('123456,abcdefgh\n'.repeat(LINES_PER_MIB))
}

/** A body of two halves, the second of which comes when `middle` is done. */
async function* halves(middle: () => Promise<unknown>, end = ''): AsyncGenerator<Uint8Array> {
  yield Buffer.from('n,text\n')
  yield* lines(ENOUGH)
  await middle()
  yield* lines(1)
  yield Buffer.from(end)
}

const ROWS = (ENOUGH + 1) * LINES_PER_MIB

async function leftovers(engine: Engine, directory: string): Promise<string[]> {
  expect(await engine.repositories()).toHaveLength(1)
  return readdirSync(join(directory, 'data', 'tmp'), { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.includes('upload'),
  )
}

test('csv that arrives with a pause is read, and nothing is left behind', async () => {
  await using place = await openWorkplace()
  const dataset = await newDataset(place.engine)
  const record = await dataset.replace({ body: halves(async () => {}, '7,last\n'), format: 'csv' })
  expect(record.rowCount).toBe(ROWS + 1)
  expect(record.columns.map((column) => column.type)).toEqual(['integer', 'string'])
  expect(await leftovers(place.engine, place.directory)).toEqual([])
})

test('an upload is given up also while nothing of it comes', async () => {
  await using place = await openWorkplace()
  const dataset = await newDataset(place.engine)
  for (const mebibytes of [1, ENOUGH]) {
    const gone = new AbortController()
    const silent = Promise.withResolvers<never>()
    const body = (async function* () {
      yield Buffer.from('n,text\n')
      yield* lines(mebibytes)
      setTimeout(() => gone.abort(), 50)
      yield await silent.promise
    })()
    const written = dataset.replace({ body, format: 'csv', signal: gone.signal })
    await expect(written).rejects.toMatchObject({ code: 'cancelled' })
    expect(await leftovers(place.engine, place.directory)).toEqual([])
    silent.reject(new Error('It ended after all.'))
  }
})

test('what the beginning does not show still decides the types', async () => {
  await using place = await openWorkplace()
  const dataset = await newDataset(place.engine)
  const record = await dataset.replace({ body: halves(async () => {}, '1.5,x\n'), format: 'csv' })
  expect(record.columns.map((column) => column.type)).toEqual(['double', 'string'])
})

test('a fault at the end of a large file is told with its row', async () => {
  await using place = await openWorkplace()
  const dataset = await newDataset(place.engine)
  const body = halves(async () => {}, 'too,many,fields\n')
  await expect(dataset.replace({ body, format: 'csv' })).rejects.toThrow(`Row ${ROWS + 1}`)
  expect((await dataset.record()).version).toBe(0)
  expect(await leftovers(place.engine, place.directory)).toEqual([])
})

test('columns that are declared while an upload arrives hold for it', async () => {
  await using place = await openWorkplace()
  const dataset = await newDataset(place.engine)
  const columns = [
    { name: 'n', type: 'string' },
    { name: 'text', type: 'string' },
  ] as const
  const body = halves(() => dataset.declareColumns(columns))
  const record = await dataset.append({ body, format: 'csv' })
  expect(record.columns.map((column) => column.type)).toEqual(['string', 'string'])
  expect(record.rowCount).toBe(ROWS)
})

test('uploads that are given up while they arrive leave nothing', async () => {
  await using place = await openWorkplace()
  const given = new AbortController()
  const waits = once(given.signal, 'abort')
  const uploads = []
  for (let count = 0; count < 4; count++) {
    const dataset = await newDataset(place.engine)
    uploads.push(dataset.replace({ body: halves(() => waits), format: 'csv', signal: given.signal }))
  }
  const ended = Promise.allSettled(uploads)
  const broken = (await newDataset(place.engine)).replace({
    body: halves(() => Promise.reject(new Error('connection lost'))),
    format: 'csv',
  })
  await expect(broken).rejects.toThrow('connection lost')
  given.abort()
  const ends = await ended
  expect(ends.map((end) => end.status === 'rejected' && end.reason.code)).toEqual(Array(4).fill('cancelled'))
  expect(await leftovers(place.engine, place.directory)).toEqual([])
})

test('several large uploads at once are all read', async () => {
  await using place = await openWorkplace()
  const records = await Promise.all(
    Array.from({ length: 4 }, async () =>
      (await newDataset(place.engine)).replace({ body: halves(async () => {}), format: 'csv' }),
    ),
  )
  expect(records.map((record) => record.rowCount)).toEqual(Array(4).fill(ROWS))
})

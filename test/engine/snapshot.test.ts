import { expect, test } from 'vitest'
import type { Dataset, Snapshot } from '../../engine/index.ts'
import { bytesOf, newDataset, openWorkplace, textOf } from './workplace.ts'

const csv = (text: string) => ({ body: bytesOf(text), format: 'csv' as const })

/** A dataset whose rows lie in parts of the given sizes; `n` counts from 1. */
async function inParts(dataset: Dataset, ...sizes: number[]): Promise<void> {
  let n = 0
  for (const size of sizes) {
    await dataset.append(csv(`n\n${Array.from({ length: size }, () => ++n).join('\n')}\n`))
  }
}

async function read(snapshot: Snapshot, options: Parameters<Snapshot['query']>[0]): Promise<unknown[]> {
  using query = snapshot.query(options, { names: ['Number'], rowNumbers: ['Row', 'again'] })
  const rows: unknown[] = []
  for await (const row of query.rows()) rows.push(row)
  return rows
}

test('a view numbers the rows over all parts, in every window, filter and order', async () => {
  await using place = await openWorkplace()
  const dataset = await newDataset(place.engine)
  await inParts(dataset, 3, 4, 2)
  using snapshot = await dataset.snapshot()
  const row = (n: number) => ({ Row: n, again: n, Number: n })
  expect(await read(snapshot, {})).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9].map(row))
  expect(await read(snapshot, { skip: 4, top: 1 })).toEqual([row(5)])
  expect(await read(snapshot, { skip: 2, top: 6 })).toEqual([3, 4, 5, 6, 7, 8].map(row))
  expect(await read(snapshot, { filter: 'Row gt 6 and Number ne 8' })).toEqual([row(7), row(9)])
  expect(await read(snapshot, { orderBy: 'Row desc', top: 2 })).toEqual([row(9), row(8)])
  expect(await read(snapshot, { orderBy: 'Number desc', top: 2, select: 'Number' })).toEqual([
    { Number: 9 },
    { Number: 8 },
  ])
})

test('a view without rows has its columns', async () => {
  await using place = await openWorkplace()
  const dataset = await newDataset(place.engine, [{ name: 'n', type: 'integer' }])
  using snapshot = await dataset.snapshot()
  using query = snapshot.query({}, { names: ['Number'], rowNumbers: ['Row', 'again'] })
  expect(await textOf(await query.bytes('csv'))).toBe('Row,again,Number\n')
})

test('a snapshot answers from its rows while others write, and is over when it is disposed', async () => {
  await using place = await openWorkplace()
  const dataset = await newDataset(place.engine)
  await dataset.replace(csv('n\n1\n2\n'))
  const snapshot = await dataset.snapshot()
  await dataset.replace(csv('n\n3\n'))
  await place.engine.settled()
  expect(snapshot.rowCount).toBe(2)
  const query = snapshot.query()
  snapshot[Symbol.dispose]()
  await place.engine.settled()
  // What was begun goes on to its end.
  expect(await textOf(await query.bytes('csv'))).toBe('n\n1\n2\n')
  query[Symbol.dispose]()
  query[Symbol.dispose]()
  expect(() => snapshot.query()).toThrow('disposed')
  expect((await place.engine.stats()).readers).toBe(0)
})

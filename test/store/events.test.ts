import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Engine, type EngineEvent, EVENTS, openEngine } from '../../engine/index.ts'

let directory: string
let events: EngineEvent[]
let engine: Engine
let id: number

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'parquetry-events-'))
  events = []
  engine = await openEngine({
    directory,
    role: 'server',
    threads: 1,
    workers: 1,
    onEvent: (event) => events.push(event),
  })
  const repository = await engine.createRepository({ name: 'r' })
  id = (await engine.createDataset({ repositoryId: repository.id, name: 'd' })).id
})
afterEach(async () => {
  await engine.close()
  rmSync(directory, { recursive: true })
})

function upload() {
  const body = (async function* () {
    yield Buffer.from('n\n1\n2\n')
  })()
  return { format: 'csv' as const, body }
}

test('nothing is told where all goes well', async () => {
  for (let n = 0; n < 20; n++) await (await engine.dataset(id)).append(upload())
  await engine.settled()
  expect(events).toEqual([])
  const { events: counts } = await engine.stats()
  expect(Object.keys(counts)).toEqual(Object.keys(EVENTS))
  expect(Object.values(counts).every((count) => count === 0)).toBe(true)
})

test('a merge that fails is told of with its dataset and cause, and the rows are there', async () => {
  for (let n = 0; n < 7; n++) await (await engine.dataset(id)).append(upload())
  await engine.settled()
  const [first] = readdirSync(join(directory, 'parts'))
  const file = join(directory, 'parts', first!)
  const whole = readFileSync(file)
  writeFileSync(file, 'no part')
  await (await engine.dataset(id)).append(upload())
  await engine.settled()
  expect(events).toMatchObject([
    { kind: 'part_damaged', level: 'error', part: 1 },
    { kind: 'merge_failed', level: 'warn', dataset: id },
  ])
  expect(events[1]!.cause).toBeInstanceOf(Error)
  expect((await engine.stats()).events.merge_failed).toBe(1)
  expect((await (await engine.dataset(id)).record()).rowCount).toBe(16)
  writeFileSync(file, whole)
})

test('tidying that fails is told of and tried again', async () => {
  await (await engine.dataset(id)).replace(upload())
  await engine.settled()
  await engine.database.exec('ALTER TABLE part_ranges RENAME TO hidden')
  await engine.deleteDataset(id)
  await engine.settled()
  expect(events).toMatchObject([{ kind: 'tidy_failed' }])
  await engine.database.exec('ALTER TABLE hidden RENAME TO part_ranges')
  expect(readdirSync(join(directory, 'parts'))).toHaveLength(1)
  await engine.gc()
  expect(readdirSync(join(directory, 'parts'))).toEqual([])
})

test('a listener that throws does not break the work', async () => {
  await engine.close()
  const warned = new Promise((resolve) => process.once('warning', resolve))
  engine = await openEngine({
    directory,
    role: 'server',
    onEvent: () => {
      throw new Error('the listener fails')
    },
  })
  await engine.database.exec('ALTER TABLE part_ranges RENAME TO hidden')
  await engine.deleteDataset(id)
  await engine.settled()
  expect(await warned).toMatchObject({ message: 'the listener fails' })
  await engine.database.exec('ALTER TABLE hidden RENAME TO part_ranges')
})

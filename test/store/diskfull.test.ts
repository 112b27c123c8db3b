import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Engine, EngineError, openEngine } from '../../engine/index.ts'
import { mountDisk } from './disk.ts'

const MIB = 2 ** 20
const PAGE = 4_096
/** The whole disk. */
const DISK = 48 * MIB
const ROWS = 20_000

const disk = mountDisk(DISK)
const data = join(disk?.folder ?? '', 'data')
const leave = (bytes: number) => disk!.leave(bytes)
const clear = () => disk!.clear()

let engine: Engine
let id: number

/** Numbers that hardly compress: about 400 KB of text, and half of that as a part. */
const CSV = Buffer.from(
  `n,x\n${Array.from({ length: ROWS }, (_, n) => `${n},${((n + 1) * 0.754877666) % 1}`).join('\n')}\n`,
)

const body = async function* () {
  for (let at = 0; at < CSV.length; at += 16_384) yield CSV.subarray(at, at + 16_384)
}
/** A column is added below, which no upload has. */
const missing = 'null'
const upload = () => ({ format: 'csv' as const, body: body(), missing }) as const

/** The number of rows that a query gives, each of which is looked at. */
async function readRows(): Promise<number> {
  using query = await (await engine.dataset(id)).query()
  let rows = 0
  let wrong = 0
  for await (const row of query.rows()) {
    if (row['n'] !== rows % ROWS) wrong += 1
    rows += 1
  }
  expect(wrong).toBe(0)
  return rows
}

/** 'done', or the code of the error; anything that is not ours fails the test. */
async function attempt(work: () => unknown): Promise<string> {
  try {
    await work()
    return 'done'
  } catch (error) {
    if (!(error instanceof EngineError)) throw error
    expect(error.message).toMatch(/disk is full/)
    return error.code
  }
}

/** No file but those that the catalog knows, and none that it has in the making. */
async function expectNothingHalfMade(): Promise<void> {
  await engine.settled()
  const known = await engine.database.all<{ id: number }>('SELECT id FROM parts WHERE process IS NULL')
  const files = readdirSync(join(data, 'parts')).toSorted()
  expect(files).toEqual(known.map((part) => `${part.id}.parquet`).toSorted())
  const [process] = readdirSync(join(data, 'tmp'))
  expect(readdirSync(join(data, 'tmp', process!))).toEqual([])
}

/**
 * Does something with ever less room until nothing at all is left, so that each of its writes is once the one that
 * fails, and checks after each failure that the dataset is as before. Gives how often it failed.
 */
async function squeeze(room: readonly number[], work: () => unknown): Promise<number> {
  let failures = 0
  for (const bytes of room) {
    const before = await (await engine.dataset(id)).record()
    leave(bytes)
    const outcome = await attempt(work)
    expect(['done', 'storage_full']).toContain(outcome)
    const after = await (await engine.dataset(id)).record()
    if (outcome === 'storage_full') {
      failures += 1
      expect(after).toEqual(before)
    }
    expect(await readRows()).toBe(after.rowCount)
    clear()
    // What could not be tidied on the full disk is tidied with the next write.
    await engine.updateDataset(id, { description: `${bytes} bytes were left` })
    await expectNothingHalfMade()
  }
  return failures
}

/** From `most` down to nothing: in steps of a page near the end, where the catalog writes. */
function descending(most: number, step: number): number[] {
  const far = Array.from({ length: Math.ceil(most / step) }, (_, n) => most - n * step)
  return [...far, ...Array.from({ length: 8 }, (_, n) => (7 - n) * PAGE)]
}

describe.runIf(disk)('with a full disk', () => {
  beforeAll(async () => {
    mkdirSync(data)
    engine = await openEngine({
      directory: data,
      role: 'server',
      threads: 2,
      workers: 1,
      keep: { versions: 1 },
    })
    const repository = await engine.createRepository({ name: 'r' })
    id = (await engine.createDataset({ repositoryId: repository.id, name: 'd' })).id
    await (await engine.dataset(id)).replace(upload())
  })
  afterAll(async () => {
    clear()
    await engine.close()
    disk![Symbol.dispose]()
  })

  test('an upload that is spooled ends whole or not at all', async () => {
    const failures = await squeeze(descending(1 * MIB, 128 * 1024), async () =>
      (await engine.dataset(id)).replace(upload()),
    )
    expect(failures).toBeGreaterThan(8)
  })

  test('an upload from elsewhere, whose part and commit alone need room, ends whole or not at all', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'parquetry-elsewhere-'))
    const file = join(folder, 'rows.csv')
    writeFileSync(file, CSV)
    const part = (await (await engine.dataset(id)).record()).bytes
    const room = Array.from({ length: 16 }, (_, n) => part + (12 - n) * PAGE)
    const failures = await squeeze(room, async () =>
      (await engine.dataset(id)).replace({ format: 'csv', body: { file } }),
    )
    expect(failures).toBeGreaterThan(0)
    expect(failures).toBeLessThan(room.length)
    rmSync(folder, { recursive: true })
  })

  test('a column manifest that rewrites the rows is applied whole or not at all', async () => {
    const part = (await (await engine.dataset(id)).record()).bytes
    let added = 0
    const failures = await squeeze(descending(part + 64 * 1024, 64 * 1024), async () => {
      added += 1
      const { columns } = await (await engine.dataset(id)).record()
      return (await engine.dataset(id)).declareColumns([
        ...columns,
        { name: `added ${added}`, type: 'integer', nullable: true },
      ])
    })
    expect(failures).toBeGreaterThan(4)
    await (await engine.dataset(id)).replace(upload())
  })

  test('a merge that finds no room leaves the parts as they are, and is made up for later', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'parquetry-elsewhere-'))
    const file = join(folder, 'rows.csv')
    writeFileSync(file, CSV)
    const append = async () => (await engine.dataset(id)).append({ format: 'csv', body: { file }, missing })
    const parts = () => readdirSync(join(data, 'parts')).length
    await engine.settled()
    while (parts() < 7) await append()
    const part = (await (await engine.dataset(id)).record()).bytes / parts()
    leave(2 * part + 64 * 1024)
    expect(await attempt(append)).toBe('done')
    await expectNothingHalfMade()
    expect(parts()).toBe(8)
    expect(await readRows()).toBe(8 * ROWS)
    clear()
    await append()
    await expectNothingHalfMade()
    expect(parts()).toBeLessThan(8)
    expect(await readRows()).toBe(9 * ROWS)
    rmSync(folder, { recursive: true })
  })

  test('records are made, changed and deleted whole or not at all, and deleting makes room again', async () => {
    const { repositoryId } = await (await engine.dataset(id)).record()
    leave(0)
    let made = 0
    for (let n = 0; n < 200; n++) {
      const name = `name ${n} ${'x'.repeat(200)}`
      if ((await attempt(async () => await engine.createDataset({ repositoryId, name }))) === 'done')
        made += 1
    }
    expect(await engine.datasets()).toHaveLength(1 + made)
    expect(made).toBeLessThan(200)
    expect(await readRows()).toBe((await (await engine.dataset(id)).record()).rowCount)
    clear()
    for (const one of await engine.datasets()) if (one.id !== id) await engine.deleteDataset(one.id)
    await expectNothingHalfMade()
  })

  test('a reader that began on the full disk keeps its version while it is replaced', async () => {
    await (await engine.dataset(id)).replace(upload())
    await engine.settled()
    leave(0)
    using query = await (await engine.dataset(id)).query()
    clear()
    await (await engine.dataset(id)).replace({
      format: 'csv',
      missing,
      body: (async function* () {
        yield Buffer.from('n,x\n0,1.5\n')
      })(),
    })
    await engine.settled()
    let rows = 0
    for await (const _ of query.rows()) rows += 1
    expect(rows).toBe(ROWS)
    await (await engine.dataset(id)).replace(upload())
  })

  test('a backup onto a full disk says so, and the copy that was there is still one', async () => {
    const copy = join(disk!.folder, 'copy')
    await (await engine.dataset(id)).replace(upload())
    await engine.backup(copy)
    const before = readdirSync(join(copy, 'parts'))
    await (await engine.dataset(id)).replace(upload())
    leave(10 * PAGE)
    expect(await attempt(() => engine.backup(copy))).toBe('storage_full')
    expect(readdirSync(join(copy, 'parts'))).toEqual(before)
    clear()
    await engine.backup(copy)
    rmSync(copy, { recursive: true })
  })

  test('a start on a full disk serves what is there or says why not', async () => {
    const before = await readRows()
    await engine.settled()
    leave(0)
    await engine.close()
    leave(0)
    const outcome = await attempt(async () => {
      await using again = await openEngine({
        directory: data,
        role: 'server',
        threads: 2,
        workers: 1,
        keep: { versions: 1 },
      })
      expect((await (await again.dataset(id)).record()).rowCount).toBe(before)
    })
    expect(['done', 'storage_full']).toContain(outcome)
    clear()
    engine = await openEngine({
      directory: data,
      role: 'server',
      threads: 2,
      workers: 1,
      keep: { versions: 1 },
    })
    expect(await readRows()).toBe(before)
  })

  test('all is well when there is room again', async () => {
    await (await engine.dataset(id)).replace(upload())
    await engine.settled()
    expect(await readRows()).toBe(ROWS)
    expect((await engine.verify()).problems).toEqual([])
    expect(await engine.gc()).toMatchObject({ files: 0 })
  })
})

import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import {
  type Engine,
  EngineError,
  type EngineEvent,
  type EngineOptions,
  openEngine,
  type Query,
  restoreBackup,
} from '../../engine/index.ts'
import { ReaderProcess } from '../../engine/ingest/process/reader-process.ts'

let folder: string
let directory: string
let events: EngineEvent[]
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'parquetry-integrity-'))
  directory = join(folder, 'data')
  events = []
  await using engine = await open()
  const repository = await engine.createRepository({ name: 'r' })
  const { id } = await engine.createDataset({ repositoryId: repository.id, name: 'd' })
  await (await engine.dataset(id)).replace(upload())
})
afterEach(() => rmSync(folder, { recursive: true }))

const open = (more: Partial<EngineOptions> = {}) =>
  openEngine({
    directory,
    role: 'server',
    threads: 1,
    workers: 1,
    checks: { bytesPerSecond: 0 },
    onEvent: (event) => events.push(event),
    ...more,
  })

function upload() {
  const body = (async function* () {
    yield Buffer.from(`n,text\n${Array.from({ length: 5_000 }, (_, n) => `${n},text ${n * n}`).join('\n')}\n`)
  })()
  return { format: 'csv' as const, body }
}

function part(of = directory): string {
  const [name] = readdirSync(join(of, 'parts'))
  return join(of, 'parts', name!)
}

/** Turns one bit of a file over. */
function flip(file: string, at: number): void {
  const bytes = readFileSync(file)
  bytes[at]! ^= 1
  writeFileSync(file, bytes)
}

async function rows(of: EngineOptions['directory'] = directory): Promise<number> {
  await using engine = await open({ directory: of })
  return await countOf(engine)
}

async function countOf(engine: Engine): Promise<number> {
  using query = await (await engine.dataset(1)).query()
  let count = 0
  for await (const _ of query.rows()) count += 1
  return count
}

describe('a damaged part', () => {
  test.for([
    ['is missing', (file: string) => rmSync(file)],
    ['is shorter', (file: string) => truncateSync(file, 1_000)],
    ['ends otherwise', (file: string) => flip(file, readFileSync(file).length - 1)],
    ['begins otherwise', (file: string) => flip(file, 0)],
  ] as const)('is noticed at its first reading where it %s', async ([, harm]) => {
    harm(part())
    await using engine = await open()
    await expect((await engine.dataset(1)).query()).rejects.toThrow(
      expect.objectContaining({
        code: 'storage_damaged',
        message: expect.stringMatching(/^Part 1 of the stored/),
      }),
    )
    expect(events).toMatchObject([{ kind: 'part_damaged', level: 'error', part: 1 }])
    expect((await engine.stats()).damagedParts).toBe(1)
    // Counting rows needs no part, but nothing is said of rows that can't be had.
    await expect((await engine.dataset(1)).query({ top: 1 })).rejects.toThrow(/damaged/)
  })

  test('is found by verify, whichever bit is another one, and is no more read, also after a start', async () => {
    const whole = readFileSync(part())
    // Every hundredth byte: in pages, in the statistics, in the schema.
    for (let at = 4; at < whole.length; at += Math.ceil(whole.length / 20)) {
      flip(part(), at)
      {
        await using engine = await open()
        expect((await engine.verify()).problems).toEqual([
          { dataset: 1, part: 1, problem: 'its bytes are not those that were written' },
        ])
      }
      await expect(rows()).rejects.toMatchObject({ code: 'storage_damaged' })
      writeFileSync(part(), whole)
      {
        await using engine = await open()
        expect((await engine.verify()).problems).toEqual([])
      }
    }
    expect(await rows()).toBe(5_000)
    expect(new Set(events.map(({ kind }) => kind))).toEqual(new Set(['part_damaged', 'part_repaired']))
  })

  test('is found by verify where only a past version has it', async () => {
    const old = part()
    {
      await using engine = await open()
      await (await engine.dataset(1)).replace(upload())
    }
    flip(old, Math.floor(readFileSync(old).length / 2))
    await using engine = await open()
    expect(await engine.verify()).toMatchObject({
      parts: 2,
      rows: 5_000,
      problems: [{ dataset: 1, part: 1, problem: 'its bytes are not those that were written' }],
    })
    expect(await countOf(engine)).toBe(5_000)
    await expect((await engine.dataset(1)).query({ version: 1 })).rejects.toThrow(/damaged/)
  })

  const answers: Record<string, (query: Query) => Promise<unknown>> = {
    csv: (query) => query.toFile(join(folder, 'rows.csv'), 'csv'),
    parquet: (query) => query.toFile(join(folder, 'rows.parquet'), 'parquet'),
    rows: (query) => Array.fromAsync(query.rows()),
    batches: (query) => Array.fromAsync(query.batches()),
    count: (query) => query.count(),
  }
  const options = [{ filter: 'n ge 10' }, { filter: 'n ge 10', top: 5 }, { filter: 'n ge 10', last: 5 }]

  test('gives no whole answer, whichever bit is another one', async () => {
    const whole = readFileSync(part())
    const ways = Object.keys(answers).flatMap((name) => options.map((option) => [name, option] as const))
    // Some bytes of the pages, of the statistics, of the schema.
    for (const [index, [name, option]] of ways.entries()) {
      const at = 4 + Math.floor((index * (whole.length - 8)) / ways.length)
      flip(part(), at)
      {
        await using engine = await open()
        const ask = async () => {
          using query = await (await engine.dataset(1)).query(option)
          await answers[name]!(query)
        }
        const refusal = expect.objectContaining({ code: 'storage_damaged' })
        await expect(ask(), `${name} with byte ${at}`).rejects.toEqual(refusal)
        await engine.settled()
        expect(events).toMatchObject([{ kind: 'part_damaged', part: 1 }])
      }
      writeFileSync(part(), whole)
      await using engine = await open()
      expect((await engine.verify()).problems).toEqual([])
      events = []
    }
    expect(readdirSync(folder)).toEqual(['data'])
    expect(await rows()).toBe(5_000)
  })

  test('gives no whole answer where its file has changed since it was read', async () => {
    await using engine = await open()
    expect(await countOf(engine)).toBe(5_000)
    flip(part(), Math.floor(readFileSync(part()).length / 2))
    await expect(countOf(engine)).rejects.toMatchObject({ code: 'storage_damaged' })
    // If DuckDB meets the damage before the comparison does, the damaged part is searched for in the background.
    await engine.settled()
    expect(events).toMatchObject([{ kind: 'part_damaged', part: 1 }])
  })

  test('is neither merged nor rewritten, which would make its damage look whole', async () => {
    flip(part(), Math.floor(readFileSync(part()).length / 2))
    await using engine = await open()
    const dataset = await engine.dataset(1)
    await expect(
      dataset.declareColumns([
        { name: 'n', type: 'string' },
        { name: 'text', type: 'string' },
      ]),
    ).rejects.toMatchObject({ code: 'storage_damaged' })
    await dataset.append(upload())
    await engine.settled()
    expect((await engine.verify()).problems).toMatchObject([{ part: 1 }])
    expect(events.map(({ kind }) => kind)).toContain('part_damaged')
  })

  test('is found in the background, by a server', async () => {
    const file = part()
    flip(file, Math.floor(readFileSync(file).length / 2))
    await using engine = await open({ checks: { bytesPerSecond: 1e9, everyDays: 0 } })
    await vi.waitFor(() => expect(events).toMatchObject([{ kind: 'part_damaged', part: 1 }]), {
      timeout: 10_000,
    })
    await expect((await engine.dataset(1)).query()).rejects.toThrow(/damaged/)
  })

  test('that DuckDB can not read is an error of the storage, and looked for', async () => {
    const file = part()
    const bytes = readFileSync(file)
    bytes.fill(0xff, 4, bytes.length - 1_000)
    writeFileSync(file, bytes)
    await using engine = await open()
    using query = await (await engine.dataset(1)).query()
    const read = async () => {
      for await (const _ of query.rows());
    }
    await expect(read()).rejects.toMatchObject({ code: 'storage_damaged' })
    await engine.settled()
    expect(events).toMatchObject([{ kind: 'part_damaged', part: 1 }])
  })

  test('is not copied into a backup, whose older copy stays', async () => {
    const copy = join(folder, 'copy')
    {
      await using engine = await open()
      await engine.backup(copy)
      await (await engine.dataset(1)).append(upload())
      const [, second] = readdirSync(join(directory, 'parts')).sort()
      flip(join(directory, 'parts', second!), 2_000)
      await expect(engine.backup(copy)).rejects.toMatchObject({
        code: 'storage_damaged',
        message: expect.stringMatching(/^Part \d+ differs from what was written/),
      })
    }
    expect(await rows(copy)).toBe(5_000)
  })

  test('is named by a backup at once if its file is missing', async () => {
    await using engine = await open()
    rmSync(part())
    const run = vi.spyOn(DatabaseSync.prototype, 'exec')
    await expect(engine.backup(join(folder, 'copy'))).rejects.toMatchObject({
      code: 'storage_damaged',
      message: expect.stringMatching(/^Part 1 is missing/),
    })
    expect(run.mock.calls.filter(([sql]) => sql.startsWith('VACUUM INTO'))).toHaveLength(2)
  })
})

test('a dataset that is deleted while others are verified is left out', async () => {
  await using engine = await open()
  const ids: number[] = []
  for (const name of ['second', 'third']) {
    const { id } = await engine.createDataset({ repositoryId: 1, name })
    await (await engine.dataset(id)).replace(upload())
    ids.push(id)
  }
  // It is gone by the time the second one has been read.
  const report = await engine.verify(({ parts }) => {
    if (parts === 1) void engine.deleteDataset(ids[1]!)
  })
  expect(report).toMatchObject({ datasets: 2, parts: 2, rows: 10_000, problems: [] })
})

test('verify stops where it is told to, and goes on from there', async () => {
  await using engine = await open()
  for (const name of ['second', 'third']) {
    const { id } = await engine.createDataset({ repositoryId: 1, name })
    await (await engine.dataset(id)).replace(upload())
  }
  const stop = new AbortController()
  const first = await engine.verify(() => stop.abort(), { signal: stop.signal })
  expect(first).toMatchObject({ datasets: 1, parts: 1, problems: [], next: expect.any(Number) })
  const rest = await engine.verify(undefined, { from: first.next! })
  expect(rest).toMatchObject({ datasets: 2, parts: 2, rows: 10_000 })
  expect(rest).not.toHaveProperty('next')
})

describe('a restore', () => {
  test('gives the rows of the backup, in a new directory alone', async () => {
    const copy = join(folder, 'copy')
    const restored = join(folder, 'restored')
    {
      await using engine = await open()
      await engine.backup(copy)
    }
    expect(await restoreBackup(copy, restored)).toMatchObject({ parts: 1, copied: 1 })
    expect(await rows(restored)).toBe(5_000)
    await expect(restoreBackup(copy, restored)).rejects.toMatchObject({ code: 'invalid_option' })
    await expect(restoreBackup(join(folder, 'nowhere'), join(folder, 'other'))).rejects.toMatchObject({
      code: 'invalid_option',
    })
  })

  test('refuses a part that has rotted in the backup', async () => {
    const copy = join(folder, 'copy')
    {
      await using engine = await open()
      await engine.backup(copy)
    }
    flip(part(copy), 2_000)
    await expect(restoreBackup(copy, join(folder, 'restored'))).rejects.toMatchObject({
      code: 'storage_damaged',
    })
    expect(existsSync(join(folder, 'restored', 'catalog.sqlite'))).toBe(false)
  })

  test('names a part that is missing in the backup', async () => {
    const copy = join(folder, 'copy')
    {
      await using engine = await open()
      await engine.backup(copy)
    }
    rmSync(part(copy))
    await expect(restoreBackup(copy, join(folder, 'restored'))).rejects.toMatchObject({
      code: 'storage_damaged',
      message: expect.stringMatching(/^Part 1 is missing/),
    })
  })
})

test('a part that can not be opened for once is not taken for damaged', async () => {
  await using engine = await open()
  const file = part()
  renameSync(file, `${file}.away`)
  // A link to itself: opening it is ELOOP, as it may be EMFILE or EIO for a moment.
  symlinkSync(file, file)
  await expect(countOf(engine)).rejects.toMatchObject({ code: 'storage_failed' })
  expect((await engine.verify()).problems).toMatchObject([{ problem: "its file can't be read (ELOOP)" }])
  rmSync(file)
  renameSync(`${file}.away`, file)
  expect(await countOf(engine)).toBe(5_000)
  expect(events.map(({ kind }) => kind)).not.toContain('part_damaged')
})

test('parts of an older program get their hash when they are first read as a whole', async () => {
  const older = join(folder, 'older')
  {
    await using engine = await open()
    await engine.database.run('UPDATE parts SET hash = NULL, checked_at = NULL')
  }
  cpSync(directory, older, { recursive: true })
  await using engine = await open({ directory: older, checks: { bytesPerSecond: 1e9, everyDays: 1 } })
  const hash = async () =>
    (await engine.database.get<{ hash: string | null }>('SELECT hash FROM parts'))!.hash
  await vi.waitFor(async () => expect(await hash()).toMatch(/^blake2b512:/), { timeout: 10_000 })
  expect(events).toEqual([])
})

test.each([
  'overloaded',
  'storage_full',
  'storage_unavailable',
] as const)('verify blames no part for %s', async (code) => {
  await using engine = await open()
  using _ = vi.spyOn(ReaderProcess.prototype, 'run').mockRejectedValue(new EngineError(code, 'For now.'))
  await expect(engine.verify()).rejects.toMatchObject({ code })
})

import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type EngineEvent, type EngineOptions, openEngine } from '../../engine/index.ts'

let directory: string
let events: EngineEvent[]
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'parquetry-lost-'))
  events = []
})
afterEach(() => rmSync(directory, { recursive: true }))

const open = (more: Partial<EngineOptions> = {}) =>
  openEngine({
    directory,
    role: 'server',
    threads: 1,
    workers: 1,
    onEvent: (event) => events.push(event),
    ...more,
  })

const catalog = (ending = '') => join(directory, `catalog.sqlite${ending}`)
const parts = () => readdirSync(join(directory, 'parts')).sort()

/** Writes a dataset of one part; gives its id. */
async function fill(): Promise<number> {
  await using engine = await open()
  const repository = await engine.createRepository({ name: 'r' })
  const { id } = await engine.createDataset({ repositoryId: repository.id, name: 'd' })
  await (await engine.dataset(id)).replace({
    format: 'csv',
    body: (async function* () {
      yield Buffer.from('n\n1\n2\n')
    })(),
  })
  return id
}

describe('a start where parts are but the catalog is not', () => {
  test.for([
    ['missing', () => rmSync(catalog())],
    ['empty', () => writeFileSync(catalog(), '')],
    [
      'a new one',
      async () => {
        rmSync(catalog())
        // Another program has made a database of its own there.
        writeFileSync(catalog(), readFileSync(await emptyDatabase()))
      },
    ],
    ['damaged', () => writeFileSync(catalog(), Buffer.alloc(8_192, 'x'))],
  ] as const)('is refused in one sentence that says what to do, and no part is touched: %s', async ([
    ,
    harm,
  ]) => {
    await fill()
    const before = parts()
    expect(before).toHaveLength(1)
    await harm()
    for (const role of ['server', 'guest'] as const) {
      await expect(open({ role })).rejects.toMatchObject({
        name: 'EngineError',
        code: 'storage_damaged',
        message: expect.stringMatching(/Restore the data directory from a backup, or start empty with --new/),
      })
    }
    expect(parts()).toEqual(before)
    expect(readdirSync(join(directory, 'locks'))).toEqual([])

    await using engine = await open({ anew: true })
    expect(await engine.datasets()).toEqual([])
    expect(parts()).toEqual([])
    const [moment] = readdirSync(join(directory, 'lost'))
    expect(readdirSync(join(directory, 'lost', moment!, 'parts'))).toEqual(before)
    expect(events).toMatchObject([{ kind: 'files_set_aside', level: 'warn' }])
  })

  test('is refused where its log alone is left', async () => {
    await fill()
    for (const name of parts()) rmSync(join(directory, 'parts', name))
    rmSync(catalog())
    writeFileSync(catalog('-wal'), Buffer.alloc(4_096, 1))
    await expect(open()).rejects.toMatchObject({ code: 'storage_damaged' })
    expect(existsSync(catalog('-wal'))).toBe(true)
  })
})

test('a directory whose catalog is well is not begun anew', async () => {
  const id = await fill()
  await expect(open({ anew: true })).rejects.toMatchObject({ code: 'invalid_option' })
  await using engine = await open()
  expect((await (await engine.dataset(id)).record()).rowCount).toBe(2)
})

test('an empty directory may be begun anew', async () => {
  await using engine = await open({ anew: true })
  expect(await engine.datasets()).toEqual([])
})

test('parts that the catalog never knew, being older than they, are set aside and not removed', async () => {
  const id = await fill()
  writeFileSync(join(directory, 'parts', '1000.parquet'), 'of a later time')
  writeFileSync(join(directory, 'parts', '0.parquet'), 'a leftover')
  {
    await using engine = await open()
    expect((await (await engine.dataset(id)).record()).rowCount).toBe(2)
    expect((await engine.stats()).events).toMatchObject({ files_set_aside: 1 })
  }
  const [moment] = readdirSync(join(directory, 'lost'))
  expect(readdirSync(join(directory, 'lost', moment!))).toEqual(['1000.parquet'])
  expect(parts()).toHaveLength(1)
})

/** A file that SQLite has made but that holds no table. */
async function emptyDatabase(): Promise<string> {
  const file = join(directory, 'other.sqlite')
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite')
  const database = new DatabaseSync(file)
  await database.exec('PRAGMA user_version = 1')
  database.close()
  return file
}

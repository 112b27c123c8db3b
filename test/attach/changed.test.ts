import {
  appendFileSync,
  copyFileSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openEngine } from '../../engine/index.ts'
import { errorOf, type Lake, openLake, read } from './lake.ts'

let lake: Lake

beforeAll(async () => {
  lake = await openLake()
})
afterAll(() => lake[Symbol.asyncDispose]())

async function three(folder: string) {
  const files = []
  for (const at of [0, 1, 2])
    files.push(
      await lake.write(`${folder}/${at}.parquet`, `SELECT i + ${at} * 9000 AS n FROM range(9000) t(i)`),
    )
  return { dataset: await lake.attach(folder), file: files[1]! }
}

/** Changes beneath, and what the error says of the file. */
const CHANGES: Readonly<Record<string, readonly [change: (file: string) => void, said: string]>> = {
  deleted: [(file) => rmSync(file), 'is missing'],
  'cut off': [(file) => truncateSync(file, 5_000), 'has 5000 bytes, and had'],
  longer: [(file) => appendFileSync(file, 'PAR1'), 'bytes, and had'],
  touched: [(file) => utimesSync(file, 1, 1), 'was changed since it was attached'],
  'another file': [(file) => copyFileSync(file.replace('1.', '2.'), file), ''],
  'another file of the same size and time': [
    (file) => {
      const { atime, mtime, size } = statSync(file)
      const other = readFileSync(file)
      // A byte of the footer, in its middle.
      other[size - 60]! ^= 1
      writeFileSync(file, other)
      utimesSync(file, atime, mtime)
    },
    '',
  ],
  'a file moved into its place': [
    (file) => {
      rmSync(file)
      renameSync(join(file, '..', '2.parquet'), file)
    },
    '',
  ],
}

test.for(Object.keys(CHANGES))('a file that was changed is an error that names it: %s', async (name) => {
  const [change, said] = CHANGES[name]!
  const folder = name.replaceAll(' ', '-')
  const { dataset, file } = await three(folder)
  expect(await read(dataset, { filter: 'n eq 9001' })).toBe('{"n":9001}\n')
  change(file)
  for (const options of [{}, { filter: 'n ge 9001' }, { orderBy: 'n desc', top: 1, filter: 'n lt 18000' }]) {
    const error = await errorOf(read(dataset, options))
    expect(error).toMatchObject({ code: 'file_changed' })
    expect(error.message).toContain('"1.parquet"')
    expect(error.message).toContain(said)
  }
  const { name: table } = await dataset.record()
  const sql = lake.engine
    .sql(`SELECT max(n) FROM ${table}`)
    .then(async (query) => Array.fromAsync(query.rows()))
  expect(await errorOf(sql)).toMatchObject({ code: 'file_changed' })
  // Files that are not read are not looked at.
  expect(await read(dataset, { filter: 'n eq 5' })).toBe('{"n":5}\n')
})

test('verify tells of changed files, and a file that is put back can be read again', async () => {
  const { dataset, file } = await three('back')
  const { atime, mtime } = statSync(file)
  const before = readFileSync(file)
  writeFileSync(file, 'nothing')
  const { problems } = await lake.engine.verify(undefined, { from: dataset.id })
  expect(problems).toHaveLength(1)
  expect(problems[0]!.problem).toContain('"1.parquet"')
  writeFileSync(file, before)
  utimesSync(file, atime, mtime)
  // The system keeps times more exactly than they can be set here.
  const again = await errorOf(read(dataset))
  if (again.code === undefined)
    expect((await lake.engine.verify(undefined, { from: dataset.id })).problems).toEqual([])
  await dataset.attach(join(lake.folder, 'back'))
  expect((await read(dataset)).split('\n')).toHaveLength(27_001)
})

test('values that are not as the schema says are an error that names the file', async () => {
  const file = await lake.write(
    'values/a.parquet',
    "SELECT 'hello world' || i AS s FROM range(3) t(i)",
    ', CODEC uncompressed',
  )
  const bytes = readFileSync(file)
  bytes[bytes.indexOf('hello world1')] = 0xff
  writeFileSync(file, bytes)
  const dataset = await lake.attach('values')
  const { name } = await dataset.record()
  const sql = async () => {
    using query = await lake.engine.sql(`SELECT max(s) FROM ${name}`)
    return Array.fromAsync(query.rows())
  }
  for (const work of [() => read(dataset), sql]) {
    const error = await errorOf(work())
    expect(error).toMatchObject({ code: 'file_changed' })
    expect(error.message).toContain('"a.parquet"')
    expect(error.message).not.toContain(lake.folder)
  }
})

test('attaching again makes a version of the files as they are now; unchanged ones stay the same parts', async () => {
  const { dataset, file } = await three('again')
  const path = join(lake.folder, 'again')
  expect((await dataset.attach(path)).version).toBe(1)
  rmSync(file)
  await lake.write('again/3.parquet', 'SELECT 100000 + i AS n FROM range(2) t(i)')
  expect((await dataset.attach(path)).version).toBe(2)
  const [newest] = await dataset.versions({ limit: 1 })
  expect(newest).toMatchObject({ addedRows: 2, removedRows: 9_000, rowCount: 18_002 })
  expect(await errorOf(read(dataset, { version: 1 }))).toMatchObject({ code: 'file_changed' })
  await lake.write('again/4.parquet', 'SELECT 200000::BIGINT AS n')
  await dataset.attach(path)
  using changes = await dataset.changes({ since: 2 })
  const rows = await Array.fromAsync(changes.query().rows())
  expect(rows).toEqual([expect.objectContaining({ n: 200_000 })])
  await dataset.attach(join(path, '4.parquet'))
  const { version } = await dataset.record()
  using removed = await dataset.changes({ since: version - 1 })
  expect(await Array.fromAsync(removed.query({ filter: 'n ge 100000', select: ['n'] }).rows())).toEqual([
    { n: 100_000 },
    { n: 100_001 },
  ])
  // The rows that were there are as they were.
  expect((await read(dataset, { version: 2 })).split('\n')).toHaveLength(18_003)
})

test('a backup says which files it needs, and a restored one reads them', async () => {
  const { dataset } = await three('saved')
  const directory = join(lake.root, 'backup')
  const { attached, parts } = await lake.engine.backup(directory)
  expect(parts).toBe(0)
  expect(attached).toContainEqual(expect.objectContaining({ folder: join(lake.folder, 'saved'), files: 3 }))
  await using restored = await openEngine({ directory, attachable: [lake.folder], workers: 1 })
  const again = await restored.dataset(dataset.id)
  expect(await read(again)).toBe(await read(dataset))
  await restored.gc()
  expect(await read(again, { top: 1 })).toBe('{"n":0}\n')
})

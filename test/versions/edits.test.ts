import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Dataset, type Engine, openEngine, type Upload } from '../../engine/index.ts'

let directory: string
let engine: Engine
let repositoryId: number
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'parquetry-edits-'))
  // Small parts, so that a few rows are in several of them.
  engine = await openEngine({
    directory,
    role: 'server',
    threads: 2,
    partSizes: { rows: 100 },
    memoryLimit: '1GiB',
  })
  repositoryId = (await engine.createRepository({ name: 'r' })).id
})
afterAll(async () => {
  await engine.close()
  await rm(directory, { recursive: true })
})

let made = 0
const csv = (text: string, more: Partial<Upload> = {}): Upload => ({
  format: 'csv',
  body: (async function* () {
    yield Buffer.from(text)
  })(),
  ...more,
})
async function dataset(text: string, key?: readonly string[]): Promise<Dataset> {
  const { id } = await engine.createDataset({ repositoryId, name: `d${++made}`, columns: [] })
  const at = await engine.dataset(id)
  await at.replace(csv(text))
  if (key) await at.declareKey(key)
  return at
}
const numbers = (from: number, to: number) =>
  `n,word,price\n${Array.from({ length: to - from }, (_, i) => `${from + i},w${(from + i) % 7},${from + i}.25`).join('\n')}\n`
async function text(at: Dataset, options: object = {}): Promise<string> {
  using query = await at.query(options)
  await using stream = await query.bytes('csv')
  return Buffer.concat(await Array.fromAsync(stream)).toString()
}
const filesOf = async (at: Dataset) => {
  using snapshot = await at.snapshot()
  return (await snapshot.files()).map(({ number }) => number)
}
const code = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    (error) => error.code,
  )

describe('rows that match a filter', () => {
  it('are deleted in one commit, and only files with such rows are written again', async () => {
    const at = await dataset(numbers(0, 500))
    const before = await filesOf(at)
    expect(before.length).toBe(5)
    const done = await at.deleteRows({ filter: 'n ge 120 and n lt 130' }, { by: 'ada', note: 'wrong' })
    expect(done).toEqual({ version: 2, matchedRows: 10 })
    const after = await filesOf(at)
    expect(after.filter((file) => before.includes(file)).length).toBe(4)
    expect(await text(at)).toBe(numbers(0, 120) + numbers(130, 500).replace(/^.*\n/, ''))
    expect((await at.versions())[0]).toMatchObject({
      operation: 'delete',
      by: 'ada',
      note: 'wrong',
      addedRows: 0,
      removedRows: 10,
    })
    expect(await text(at, { version: 1 })).toBe(numbers(0, 500))
    // Whole files fall away without being written.
    expect(await at.deleteRows({ filter: 'n ge 300' })).toEqual({ version: 3, matchedRows: 200 })
    expect((await filesOf(at)).length).toBe(3)
    expect(await at.deleteRows({ filter: 'n eq 1000' })).toEqual({ version: 3, matchedRows: 0 })
    expect(await at.deleteRows({ filter: 'true' })).toEqual({ version: 4, matchedRows: 290 })
    expect(await text(at)).toBe('n,word,price\n')
  })

  it('keep their place when columns of them are set, to values or by expressions', async () => {
    const at = await dataset('n,word,price,day\n1,a,1.5,2024-01-01\n2,b,2.5,2024-01-02\n3,,3.5,\n')
    expect(
      await at.editRows({ filter: 'n ge 2' }, { word: "x'; --", price: '=price mul 2', day: '2024-02-29' }),
    ).toEqual({ version: 2, matchedRows: 2 })
    expect(await text(at)).toBe(
      "n,word,price,day\n1,a,1.5,2024-01-01\n2,x'; --,5,2024-02-29\n3,x'; --,7,2024-02-29\n",
    )
    expect((await at.versions())[0]).toMatchObject({ operation: 'edit', addedRows: 2, removedRows: 2 })
    await at.editRows({ filter: 'n eq @p', aliases: { '@p': '1' } }, { word: null, n: '=n add @p' })
    expect((await text(at)).split('\n')[1]).toBe('2,,1.5,2024-01-01')
  })

  it.each<[string, object, object | undefined, string]>([
    ['no filter', {}, undefined, 'invalid_option'],
    ['an unknown column in the filter', { filter: 'x eq 1' }, undefined, 'invalid_columns'],
    ['a filter that fails on a row', { filter: '1 div (n sub 1) eq 1' }, undefined, 'filter_failed'],
    ['an unknown column', { filter: 'true' }, { x: 1 }, 'invalid_columns'],
    ['no column', { filter: 'true' }, {}, 'invalid_option'],
    ['a value of another type', { filter: 'true' }, { n: 'one' }, 'invalid_option'],
    ['an expression of another type', { filter: 'true' }, { n: '=price div 3.5' }, 'filter_type_error'],
    ['two expressions', { filter: 'true' }, { n: '=n as a,n' }, 'invalid_option'],
    ['an expression that fails on a row', { filter: 'true' }, { n: '=n div (n sub 1)' }, 'filter_failed'],
  ])('stay as they are after %s', async (_, rows, values, wanted) => {
    const at = await dataset('n,price\n1,1.5\n2,2.5\n')
    const work = values ? at.editRows(rows, values as never) : at.deleteRows(rows)
    expect(await code(work)).toBe(wanted)
    expect((await at.record()).version).toBe(1)
  })

  it('of a column that is not nullable get no null', async () => {
    const at = await dataset('n\n1\n')
    const { id } = await engine.createDataset({
      repositoryId,
      name: 'strict',
      columns: [
        { name: 'n', type: 'integer', nullable: false },
        { name: 'm', type: 'integer' },
      ],
    })
    const strict = await engine.dataset(id)
    await strict.append(csv('n,m\n1,\n'))
    expect(await code(strict.editRows({ filter: 'true' }, { n: null }))).toBe('invalid_option')
    expect(await code(strict.editRows({ filter: 'true' }, { n: '=m' }))).toBe('filter_failed')
    expect(await text(strict)).toBe('n,m\n1,\n')
    expect(await text(at)).toBe('n\n1\n')
  })

  it('is refused where a new day or moment is outside of the years 1 to 9999', async () => {
    const at = await dataset('d,t\n9999-12-31,0001-01-01T00:00:00\n2024-01-01,2024-01-01T00:00:00\n,\n')
    const late = at.editRows({ filter: 'true' }, { d: "=d add duration'P1D'" })
    await expect(late).rejects.toMatchObject({
      code: 'filter_failed',
      message: 'The expression fails on a row: column "d" holds no date outside of the years 1 to 9999.',
    })
    expect(await code(at.editRows({ filter: 'true' }, { t: "=t sub duration'PT1S'" }))).toBe('filter_failed')
    await at.editRows({ filter: 'd lt 9000-01-01 or d eq null' }, { d: "=d add duration'P1D'" })
    expect(await text(at)).toBe('d,t\n9999-12-31,0001-01-01T00:00:00\n2024-01-02,2024-01-01T00:00:00\n,\n')
  })
})

describe('a key', () => {
  it('is kept by every way of writing, and the error names the rows', async () => {
    const at = await dataset(numbers(0, 250), ['n'])
    expect((await at.record()).key).toEqual(['n'])
    const twice = at.append(csv('n,word,price\n300,a,1.0\n301,b,1.0\n300,c,1.0\n'))
    await expect(twice).rejects.toMatchObject({
      code: 'duplicate_key',
      message: 'Rows 1 and 3 have the same key: n = 300.',
    })
    const known = at.append(csv('n,word,price\n300,a,1.0\n249,b,1.0\n7,b,1.0\n'))
    await expect(known).rejects.toMatchObject({
      message: expect.stringMatching(/^Row 2 has a key that the dataset has already: n = 249\./),
      details: { errors: [{ row: 2 }, { row: 3 }] },
    })
    expect(await code(at.replace(csv('n,word,price\n1,a,1.0\n1,a,1.0\n')))).toBe('duplicate_key')
    expect(await code(at.editRows({ filter: 'true' }, { n: 1 }))).toBe('column_conflict')
    expect(await code(at.replace(csv('m\n1\n', { replaceColumns: true })))).toBe('column_conflict')
    await at.append(csv('n,word,price\n300,a,1.0\n'))
    expect((await at.record()).rowCount).toBe(251)
    expect(await code(at.declareKey(['word']))).toBe('duplicate_key')
    expect(await code(at.declareKey(['nothing']))).toBe('column_conflict')
    expect((await at.declareKey([])).key).toBeUndefined()
    await at.restore({ version: 2 })
    expect((await at.record()).key).toEqual(['n'])
  })

  it('lets an upsert replace rows and add others, and write only files that have such rows', async () => {
    const at = await dataset(numbers(0, 500), ['n'])
    const before = await filesOf(at)
    await at.upsert(csv('n,word,price\n150,new,1.0\n1000,new,2.0\n151,new,3.0\n'))
    expect((await filesOf(at)).filter((file) => before.includes(file)).length).toBe(4)
    const record = await at.record()
    expect([record.rowCount, record.version]).toEqual([501, 3])
    const [newest] = await at.versions()
    expect(newest).toMatchObject({ operation: 'upsert', addedRows: 3, removedRows: 2 })
    expect(await text(at, { last: 3 })).toBe('n,word,price\n150,new,1\n1000,new,2\n151,new,3\n')
    expect(await text(at, { filter: 'n eq 149 or n eq 152' })).toContain('149')
    expect(await code(at.upsert(csv('n,word,price\n1,a,1.0\n1,b,1.0\n')))).toBe('duplicate_key')
  })

  it('is named by an upsert to a dataset without one; nulls are equal', async () => {
    const at = await dataset('a,b,v\n1,x,1\n1,,2\n2,x,3\n')
    expect(await code(at.upsert(csv('a,b,v\n1,,9\n')))).toBe('invalid_option')
    expect(await code(at.upsert(csv('a,b,v\n1,,9\n', { on: ['c'] })))).toBe('column_conflict')
    expect(await code(at.append(csv('a,b,v\n1,,9\n', { on: ['a'] })))).toBe('invalid_option')
    await at.upsert(csv('a,b,v\n1,,9\n3,y,10\n', { on: ['a', 'b'] }))
    expect(await text(at)).toBe('a,b,v\n1,x,1\n2,x,3\n1,,9\n3,y,10\n')
    expect((await at.record()).key).toBeUndefined()
  })

  it('is in every row: one in which all of its columns are null is refused with its number', async () => {
    const at = await dataset(numbers(0, 250), ['n'])
    const late = `n,word,price\n${Array.from({ length: 150 }, (_, i) => `${i === 120 ? '' : 900 + i},a,1.0\n`).join('')}`
    for (const write of [at.append, at.upsert, at.replace]) {
      await expect(write.call(at, csv(late))).rejects.toMatchObject({
        code: 'duplicate_key',
        message: 'Row 121 has no key: "n" is null.',
      })
    }
    expect((await at.record()).rowCount).toBe(250)
    const two = await dataset('a,b,v\n1,,1\n,2,2\n', ['a', 'b'])
    await two.upsert(csv('a,b,v\n1,,3\n'))
    expect(await text(two)).toBe('a,b,v\n,2,2\n1,,3\n')
    expect(await code(two.upsert(csv('a,b,v\n5,,3\n,,4\n')))).toBe('duplicate_key')
    const before = await dataset('a,v\n1,1\n,2\n')
    expect(await code(before.declareKey(['a']))).toBe('duplicate_key')
  })

  it('is kept by writers at once', async () => {
    const at = await dataset('n,v\n0,0\n', ['n'])
    const work = Array.from({ length: 12 }, (_, i) => code(at.append(csv(`n,v\n${i % 4},${i}\n`))))
    const upserts = Array.from({ length: 6 }, (_, i) => code(at.upsert(csv(`n,v\n9,${i}\n${10 + i},1\n`))))
    const deletes = [code(at.deleteRows({ filter: 'n eq 0' }))]
    const outcomes = await Promise.all([...work, ...upserts, ...deletes])
    expect(outcomes.filter((one) => one !== 'done' && one !== 'duplicate_key')).toEqual([])
    const rows = (await text(at))
      .trim()
      .split('\n')
      .slice(1)
      .map((line) => line.split(',')[0])
    expect(new Set(rows).size).toBe(rows.length)
    expect(rows).toEqual(expect.arrayContaining(['1', '2', '3', '9', '10', '15']))
  })
})

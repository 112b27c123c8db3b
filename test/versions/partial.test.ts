import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type Dataset,
  type Engine,
  type EngineError,
  type Format,
  openEngine,
  type Upload,
  type UploadFormat,
} from '../../engine/index.ts'

let directory: string
let engine: Engine
let repositoryId: number
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'parquetry-partial-'))
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
const upload = (format: UploadFormat, body: string | Uint8Array, more: Partial<Upload> = {}): Upload => ({
  format,
  body: (async function* () {
    yield Buffer.from(body)
  })(),
  ...more,
})
const csv = (text: string, more: Partial<Upload> = {}) => upload('csv', text, more)
const json = (rows: unknown, more: Partial<Upload> = {}) => upload('json', JSON.stringify(rows), more)
async function dataset(text: string, key?: readonly string[]): Promise<Dataset> {
  const { id } = await engine.createDataset({ repositoryId, name: `d${++made}`, columns: [] })
  const at = await engine.dataset(id)
  await at.replace(csv(text))
  if (key) await at.declareKey(key)
  return at
}
async function bytes(at: Dataset, format: Format, options: object = {}): Promise<Buffer> {
  using query = await at.query(options)
  await using stream = await query.bytes(format)
  return Buffer.concat(await Array.fromAsync(stream))
}
const rows = async (at: Dataset) => JSON.parse((await bytes(at, 'json')).toString()) as unknown[]
const errorOf = async (work: Promise<unknown>): Promise<EngineError> =>
  work.then(
    () => expect.fail('It was done.'),
    (error) => error,
  )
const FORMATS = ['csv', 'tsv', 'json', 'ndjson', 'xlsx', 'parquet', 'arrow'] as const
const TABLE = 'k,v,w\n1,a,x\n2,b,y\n3,c,z\n'

describe('an upsert', () => {
  it.each(FORMATS)('keeps the values of columns that a file of %s lacks', async (format) => {
    const file = await bytes(await dataset('w,k\nW,2\nN,9\n'), format)
    const at = await dataset(TABLE, ['k'])
    await at.upsert(upload(format, file))
    expect(await rows(at)).toEqual([
      { k: 1, v: 'a', w: 'x' },
      { k: 3, v: 'c', w: 'z' },
      { k: 2, v: 'b', w: 'W' },
      { k: 9, v: null, w: 'N' },
    ])
  })

  it('keeps in JSON, row by row, what a row does not name; a null that is written out is null', async () => {
    const at = await dataset(TABLE, ['k'])
    await at.upsert(json([{ k: 1, v: 'a2' }, { k: 2, w: 'w2', v: null }, { w: null, k: 3 }, { k: 4 }]))
    expect(await rows(at)).toEqual([
      { k: 1, v: 'a2', w: 'x' },
      { k: 2, v: null, w: 'w2' },
      { k: 3, v: 'c', w: null },
      { k: 4, v: null, w: null },
    ])
  })

  it('tells null and unnamed apart in each of many columns', async () => {
    const names = Array.from({ length: 12 }, (_, index) => `c${index}`)
    const at = await dataset(
      `k,${names}\n${[1, 2, 3].map((k) => `${k},${names.map((_, i) => k * 100 + i)}`).join('\n')}\n`,
      ['k'],
    )
    await at.upsert(
      json([
        { k: 1, c1: null, c11: 5 },
        { k: 2, c11: null, c1: 6 },
        { k: 3, c10: null },
      ]),
    )
    const [one, two, three] = (await rows(at)) as Record<string, unknown>[]
    expect([one!['c1'], one!['c10'], one!['c11'], one!['c0']]).toEqual([null, 110, 5, 100])
    expect([two!['c1'], two!['c10'], two!['c11'], two!['c0']]).toEqual([6, 210, null, 200])
    expect([three!['c1'], three!['c10'], three!['c11'], three!['c0']]).toEqual([301, null, 311, 300])
  })

  it('takes arrays for the columns that the upload declares', async () => {
    const at = await dataset(TABLE, ['k'])
    const columns = [
      { name: 'k', type: 'integer' },
      { name: 'w', type: 'string' },
    ]
    await at.upsert(json({ columns, rows: [[2, null], { k: 3 }] }))
    expect((await rows(at)).slice(1)).toEqual([
      { k: 2, v: 'b', w: null },
      { k: 3, v: 'c', w: 'z' },
    ])
  })

  it('keeps values of every type, of rows in many parts, in the order of the upload', async () => {
    const at = await dataset('k,d,t,f,j\n')
    await at.declareColumns([
      { name: 'k', type: 'integer' },
      { name: 'd', type: 'decimal(10,3)' },
      { name: 't', type: 'timestamptz' },
      { name: 'f', type: 'double' },
      { name: 'j', type: 'json' },
    ])
    await at.declareKey(['k'])
    const row = (k: number) => ({ k, d: k + 0.125, t: '2024-01-01T00:00:00Z', f: k / 3, j: { at: [k] } })
    await at.append(json(Array.from({ length: 1000 }, (_, k) => row(k))))
    const before = (await rows(at)) as Record<string, unknown>[]
    const ks = Array.from({ length: 400 }, (_, at) => 999 - 2 * at)
    await at.upsert(json(ks.map((k) => ({ k, f: -k }))))
    const after = ((await rows(at)) as Record<string, unknown>[]).slice(-400)
    expect(after).toEqual(ks.map((k) => ({ ...before[k], f: -k })))
  })

  it('finds rows by columns of its own, unless several have the key of one', async () => {
    const at = await dataset('k,v,w\n1,a,x\n2,b,y\n2,c,z\n')
    await at.upsert(csv('k,w\n1,X\n', { on: ['k'] }))
    expect(await rows(at)).toContainEqual({ k: 1, v: 'a', w: 'X' })
    expect(await errorOf(at.upsert(csv('k,w\n2,Y\n', { on: ['k'] })))).toMatchObject({
      code: 'duplicate_key',
    })
    // The same where the numbers of rows agree.
    const twice = csv('k,w\n2,Y\n7,N\n', { on: ['k'] })
    expect(await errorOf(at.upsert(twice))).toMatchObject({ code: 'duplicate_key' })
    await at.upsert(csv('k,w\n2,Y\n', { on: ['k'], missing: 'null' }))
    expect(await rows(at)).toEqual([
      { k: 1, v: 'a', w: 'X' },
      { k: 2, v: null, w: 'Y' },
    ])
  })

  it('rejects a repeated key, and an upload or a row without one', async () => {
    const at = await dataset(TABLE, ['k'])
    const twice = json([
      { k: 1, v: 'p' },
      { k: 1, w: 'q' },
    ])
    expect(await errorOf(at.upsert(twice))).toMatchObject({ code: 'duplicate_key' })
    const columns = { details: { columns: ['k'] } }
    for (const missing of [undefined, 'null'] as const) {
      const more = missing && { missing }
      expect(await errorOf(at.upsert(csv('w\nq\n', more)))).toMatchObject({
        code: 'missing_columns',
        ...columns,
      })
      expect(await errorOf(at.upsert(json([{ w: 'q' }], more)))).toMatchObject({
        code: 'missing_columns',
        ...columns,
      })
      expect(await errorOf(at.upsert(json([{ k: 1 }, { w: 'q' }], more)))).toMatchObject({
        code: 'invalid_upload',
        details: { row: 2, column: 'k' },
      })
    }
    expect((await at.record()).version).toBe(2)
  })

  it('keeps what is not nullable, and needs it in new rows', async () => {
    const at = await dataset('k,v,w\n')
    await at.declareColumns([
      { name: 'k', type: 'integer' },
      { name: 'v', type: 'string', nullable: false },
      { name: 'w', type: 'string' },
    ])
    await at.declareKey(['k'])
    await at.append(csv('k,v,w\n1,a,x\n2,b,y\n'))
    await at.upsert(csv('k,w\n2,Y\n'))
    await at.upsert(json([{ k: 1, w: 'X' }]))
    const complete = [
      { k: 2, v: 'b', w: 'Y' },
      { k: 1, v: 'a', w: 'X' },
    ]
    expect(await rows(at)).toEqual(complete)
    for (const one of [
      csv('k,w\n1,p\n3,N\n'),
      json([
        { k: 1, w: 'p' },
        { k: 3, w: 'N' },
      ]),
    ]) {
      expect(await errorOf(at.upsert(one))).toMatchObject({
        code: 'invalid_upload',
        details: { row: 2, column: 'v' },
      })
    }
    expect(await errorOf(at.upsert(json([{ k: 1, v: null }])))).toMatchObject({ code: 'invalid_upload' })
    expect(await rows(at)).toEqual(complete)
  })

  it('keeps the values of the last commit if others write meanwhile', async () => {
    const at = await dataset(TABLE, ['k'])
    const names = ['v', 'w'] as const
    const write = (n: number) => at.upsert(json([{ k: (n % 3) + 1, [names[n % 2]!]: `${names[n % 2]}${n}` }]))
    await Promise.all(Array.from({ length: 12 }, (_, n) => write(n)))
    const all = (await rows(at)) as { k: number; v: string; w: string }[]
    expect(all.map(({ k }) => k).sort()).toEqual([1, 2, 3])
    for (const { v, w } of all)
      expect([v, w]).toEqual([expect.stringMatching(/^v\d/), expect.stringMatching(/^w\d/)])
  })

  it('stores nulls in place of what is kept with missing=null', async () => {
    const at = await dataset(TABLE, ['k'])
    await at.upsert(json([{ k: 2, w: 'W' }], { missing: 'null' }))
    expect((await rows(at)).at(-1)).toEqual({ k: 2, v: null, w: 'W' })
  })
})

describe('rows that lack columns of the dataset', () => {
  it.each(FORMATS)('are rejected as %s, unless they are meant to be null there', async (format) => {
    const file = await bytes(await dataset('date\n2024-02-01\n'), format)
    const at = await dataset('date,price,note\n2024-01-01,5,a\n')
    for (const mode of ['replace', 'append'] as const) {
      const error = await errorOf(at[mode](upload(format, file)))
      expect(error).toMatchObject({ code: 'missing_columns', details: { columns: ['price', 'note'] } })
      expect(error.message).toContain("missing: 'null'")
      expect(await errorOf(engine.preview(upload(format, file), { mode }, at))).toMatchObject({
        code: 'missing_columns',
      })
    }
    await at.append(upload(format, file, { missing: 'null' }))
    expect(await rows(at)).toEqual([
      { date: '2024-01-01', price: 5, note: 'a' },
      { date: '2024-02-01', price: null, note: null },
    ])
    await at.replace(upload(format, file, { missing: 'null' }))
    expect(await rows(at)).toEqual([{ date: '2024-02-01', price: null, note: null }])
    await at.replace(upload(format, file, { replaceColumns: true }))
    expect(await rows(at)).toEqual([{ date: '2024-02-01' }])
  })

  it('may be some of the rows of JSON: these are new, so they are null there', async () => {
    const at = await dataset('date,price\n2024-01-01,5\n')
    await at.append(json([{ date: '2024-02-01' }, { price: 7 }]))
    expect((await rows(at)).slice(1)).toEqual([
      { date: '2024-02-01', price: null },
      { date: null, price: 7 },
    ])
  })

  it('are none where there are no rows, and a declared column is named', async () => {
    const at = await dataset('date,price\n2024-01-01,5\n')
    await at.append(
      json({
        columns: [
          { name: 'date', type: 'date' },
          { name: 'price', type: 'integer' },
        ],
        rows: [{ date: '2024-02-01' }],
      }),
    )
    await at.replace(json([]))
    expect((await at.record()).rowCount).toBe(0)
  })

  it('may not lack the key', async () => {
    const at = await dataset(TABLE, ['k'])
    expect(await errorOf(at.append(csv('v,w\nq,r\n', { missing: 'null' })))).toMatchObject({
      details: { columns: ['k'] },
    })
  })
})

describe('an upload that may add columns', () => {
  it.each(FORMATS)('declares those of a file of %s that are new, null in older rows', async (format) => {
    const file = await bytes(await dataset('m,b,a\n2024-01-01,x,7\n'), format)
    const at = await dataset('a,b\n1,p\n2,q\n')
    expect(await errorOf(at.append(upload(format, file)))).toMatchObject({ code: 'column_conflict' })
    await at.append(upload(format, file, { addColumns: true }))
    expect(await rows(at)).toEqual([
      { a: 1, b: 'p', m: null },
      { a: 2, b: 'q', m: null },
      { a: 7, b: 'x', m: '2024-01-01' },
    ])
    expect((await at.record()).columns.map(({ name, type }) => [name, type])).toEqual([
      ['a', 'integer'],
      ['b', 'string'],
      ['m', 'date'],
    ])
    expect((await at.record()).version).toBe(2)
  })

  it('upserts, and keeps what it does not name', async () => {
    const at = await dataset(TABLE, ['k'])
    await at.upsert(
      json(
        [
          { k: 2, n: 1.5 },
          { k: 8, w: 'q', x: true },
          { k: 1, w: null },
        ],
        { addColumns: true },
      ),
    )
    expect(await rows(at)).toEqual([
      { k: 3, v: 'c', w: 'z', n: null, x: null },
      { k: 2, v: 'b', w: 'y', n: 1.5, x: null },
      { k: 8, v: null, w: 'q', n: null, x: true },
      { k: 1, v: 'a', w: null, n: null, x: null },
    ])
  })

  it('lacks no other columns, and takes declared types', async () => {
    const at = await dataset('a,b\n1,p\n')
    const lacking = csv('a,n\n2,3\n', { addColumns: true })
    expect(await errorOf(at.append(lacking))).toMatchObject({
      code: 'missing_columns',
      details: { columns: ['b'] },
    })
    const columns = [{ name: 'n', type: 'decimal(9,2)' }] as const
    await at.append(csv('a,b,n\n2,q,3\n', { addColumns: true, columns }))
    expect((await at.record()).columns[2]).toMatchObject({ name: 'n', type: 'decimal(9,2)' })
    const strict = [{ name: 'z', type: 'string', nullable: false }] as const
    const error = await errorOf(at.append(csv('a,b,n,z\n2,q,3,z\n', { addColumns: true, columns: strict })))
    expect(error).toMatchObject({ code: 'column_conflict' })
    expect(await errorOf(at.replace(csv('a,b,n\n1,p,2\n', { addColumns: true })))).toMatchObject({
      code: 'invalid_option',
    })
    expect(await errorOf(at.append(csv('a\n1\n', { replaceColumns: true })))).toMatchObject({
      code: 'invalid_option',
    })
  })

  it('widens every part, also while others append', async () => {
    const at = await dataset(`a\n${Array.from({ length: 450 }, (_, n) => n).join('\n')}\n`)
    await Promise.all([
      at.append(csv('a,b\n900,x\n', { addColumns: true })),
      at.append(csv('a,b\n901,y\n', { addColumns: true })),
    ])
    const all = (await rows(at)) as { a: number; b: string | null }[]
    expect(all).toHaveLength(452)
    expect(
      all
        .filter(({ b }) => b !== null)
        .map(({ a }) => a)
        .sort(),
    ).toEqual([900, 901])
  })
})

import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { Duck } from '../../engine/duckdb/duck.ts'
import { findRepeated } from '../../engine/ingest/parts/parts.ts'
import { column, useBench } from './support/helper.ts'

const bench = useBench()

describe('merge', () => {
  test('puts the rows of parts one behind the other', async () => {
    const parts = await Promise.all(
      ['a,b\n1,x\n2,\n', 'a,b\n3,yy\n', 'a,b\n'].map(async (text) => {
        const existing = [column('a', 'integer'), column('b', 'string')]
        return (await bench.read('csv', text, { existing })).part
      }),
    )
    const target = bench.path('.parquet')
    const columns = [column('a', 'integer'), column('b', 'string')]
    const { rows, bytes, rawBytes } = await bench.rewrite(parts, target, columns)
    expect(await bench.values(target)).toEqual([
      ['1', 'x'],
      ['2', null],
      ['3', 'yy'],
    ])
    expect([rows, bytes, rawBytes]).toEqual([3, readFileSync(target).length, 3 * 8 + 3])
  })
})

test('a table of more than a thousand columns of text is uploaded as Parquet, merged and rewritten', async () => {
  const count = 1_200
  const file = bench.path()
  const texts = Array.from({ length: count }, (_, index) => `'text' AS x${index}`)
  await bench.query(`COPY (SELECT ${texts.join(', ')}) TO '${file}' (FORMAT parquet)`)
  const { part, columns, rawBytes } = await bench.ingest('parquet', file)
  expect(rawBytes).toBe(4 * count)
  const merged = await bench.rewrite([part, part], bench.path('.parquet'), columns)
  expect(merged).toMatchObject({ rows: 2, rawBytes: 8 * count })
  const more = [...columns, column('more', 'string')]
  expect(await bench.rewrite([part], bench.path('.parquet'), columns, more)).toMatchObject({
    rows: 1,
  })
})

test('a csv file of 2,500 columns of repeated texts is read within the memory of one upload', async () => {
  const names = Array.from({ length: 2_500 }, (_, index) => `x${index}`)
  const file = bench.file(`${names.join()}\n`.repeat(11))
  expect(await bench.ingest('csv', file)).toMatchObject({ rows: 10, columns: { length: names.length } })
})

describe('rewrite', () => {
  const from = [
    column('i', 'integer'),
    column('d', 'date'),
    column('t', 'timestamptz'),
    column('f', 'double'),
  ]
  const part = async () =>
    (
      await bench.read('csv', 'i,d,t,f\n7,2020-01-01,2020-01-01T00:00:00Z,1\n,,,NaN\n,,,1e300\n', {
        existing: from,
      })
    ).part

  test('adds columns as nulls, reorders and widens', async () => {
    const target = bench.path('.parquet')
    const to = [
      column('new', 'uuid'),
      column('f', 'string'),
      column('t', 'string'),
      column('d', 'timestamp'),
      column('i', 'decimal(20,1)'),
    ]
    const { rows, rawBytes } = await bench.rewrite([await part()], target, from, to)
    expect(await bench.values(target)).toEqual([
      [null, '1', '2020-01-01T00:00:00Z', '2020-01-01 00:00:00', '7.0'],
      [null, 'NaN', null, null, null],
      [null, '1e+300', null, null, null],
    ])
    expect([rows, rawBytes]).toEqual([3, 3 * (16 + 8 + 16) + 10 + 20])
  })

  test('doubles become the text that exports have written for them', async () => {
    const exponents = Array.from({ length: 61 }, (_, index) => index - 30)
    const numbers = [1, -1, 1.5, 1 / 3, -123_456_789.125, 9].flatMap((digits) =>
      exponents.map((exponent) => Number(`${digits}e${exponent}`)),
    )
    numbers.push(0, 5e-324, Number.MAX_VALUE, 2 ** 53 + 2, 123_456_789_012_345_680)
    const existing = [column('f', 'double')]
    const { part } = await bench.read('csv', `f\n${numbers.join('\n')}\n-0\n`, { existing })
    const target = bench.path('.parquet')
    await bench.rewrite([part], target, existing, [column('f', 'string')])
    expect((await bench.values(target)).flat()).toEqual([...numbers.map(String), '-0'])
  })

  test('decimals without digits before the point become text with a zero there', async () => {
    const existing = [column('d', 'decimal(3,3)'), column('e', 'decimal(38,38)')]
    const { part } = await bench.read('csv', 'd,e\n-0.5,0.1\n0,\n', { existing })
    const target = bench.path('.parquet')
    await bench.rewrite([part], target, existing, [column('d', 'string'), column('e', 'string')])
    expect(await bench.values(target)).toEqual([
      ['-0.500', `0.1${'0'.repeat(37)}`],
      ['0.000', null],
    ])
  })

  test('refuses what would lose something, and leaves nothing behind', async () => {
    const target = bench.path('.parquet')
    const to = from.with(0, column('i', 'double'))
    await expect(bench.rewrite([await part()], target, from, to)).rejects.toThrow(
      'Column "i" is integer; it can\'t become double without loss.',
    )
    expect(existsSync(target)).toBe(false)
  })
})

describe('verify', () => {
  test('gives rows and columns of a part, and fails on a damaged one', async () => {
    const text = Array.from({ length: 20_000 }, (_, index) => `${index},${(index * 7919) % 10_007}.25`).join(
      '\n',
    )
    const { part } = await bench.read('csv', `a,b\n${text}`)
    expect(await bench.ingestor.jobs.verify({ part })).toEqual({
      rows: 20_000,
      columns: ['c0', 'c1'],
      filtered: [],
    })
    const bytes = readFileSync(part)
    writeFileSync(part, bytes.fill(0xa5, 4, 40))
    await expect(bench.ingestor.jobs.verify({ part })).rejects.toThrow()
  })
})

test('repeated keys are found among many different ones, without memory for the place of each', async () => {
  const folder = bench.path()
  const duck = await Duck.open({ memoryLimit: '100MB', threads: 2, tempDirectory: folder })
  try {
    const [all, some] = [bench.path('.parquet'), bench.path('.parquet')]
    await duck.run(`COPY (FROM range(4000000) t(c0)) TO '${all}' (FORMAT parquet)`)
    await duck.run(
      `COPY (FROM (VALUES (4000001), (7), (4000001), (3999999)) t(c0)) TO '${some}' (FORMAT parquet)`,
    )
    expect(await findRepeated(duck, { parts: [all], on: [0] }, {})).toEqual([])
    expect(await findRepeated(duck, { parts: [all, some], on: [0] }, {})).toEqual([
      {
        places: [
          [0, 7],
          [1, 1],
        ],
        key: ['7'],
      },
      {
        places: [
          [0, 3_999_999],
          [1, 3],
        ],
        key: ['3999999'],
      },
      {
        places: [
          [1, 0],
          [1, 2],
        ],
        key: ['4000001'],
      },
    ])
  } finally {
    await duck.close()
    rmSync(folder, { recursive: true, force: true })
  }
})

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Dataset, QueryOptions } from '../../engine/index.ts'
import { openFiles } from '../engine/open-files.ts'
import { bytesOf, newDataset, openWorkplace, textOf } from '../engine/workplace.ts'

let workplace: Awaited<ReturnType<typeof openWorkplace>>
let dataset: Dataset
beforeAll(async () => {
  workplace = await openWorkplace()
  dataset = await newDataset(workplace.engine)
  await dataset.replace({ format: 'csv', body: bytesOf('a,b\n1,1\n2,1\n3,2\n') })
})
afterAll(() => workplace[Symbol.asyncDispose]())

async function rows(options: QueryOptions): Promise<unknown[]> {
  using query = await dataset.query(options)
  const found: unknown[] = []
  for await (const row of query.rows()) found.push(Object.values(row).join(' '))
  return found
}

const steps = (count: number, step: (index: number) => string) =>
  Array.from({ length: count }, (_, i) => step(i)).join('/')
const list = (count: number, item: (index: number) => string) =>
  Array.from({ length: count }, (_, i) => item(i)).join(',')
const rollups = (levels: number): string =>
  levels === 0 ? 'aggregate($count as n)' : `groupby((rollup(a,b)),${rollups(levels - 1)})`

describe('a query that would grow too large is refused before anything is read', () => {
  test.each<[string, QueryOptions, RegExp]>([
    [
      'branches of branches',
      { apply: steps(20, () => 'concat(identity,identity)') },
      /read the rows 1048576 times; the limit is 64/,
    ],
    [
      'different branches',
      { apply: steps(7, (i) => `concat(filter(a gt ${i}),filter(a le ${i}))`) },
      /read the rows 128 times/,
    ],
    ['many branches', { apply: `concat(${list(65, (i) => `filter(a eq ${i})`)})` }, /read the rows 65 times/],
    ['groupings in groupings', { apply: rollups(9) }, /read the rows \d+ times/],
    [
      'filters',
      { apply: steps(1_000, () => 'filter(a gt 0)') },
      /1000 transformations in sequence; the limit is 100/,
    ],
    [
      'orders',
      { apply: steps(1_000, () => 'orderby(a)') },
      /1000 transformations in sequence; the limit is 100/,
    ],
    [
      'computed columns',
      { apply: steps(1_000, (i) => `compute(a add ${i} as c${i})`) },
      /1000 transformations in sequence/,
    ],
    [
      'groups',
      { apply: steps(13, () => 'groupby((a,b))') },
      /13 transformations in sequence that group rows; the limit is 12/,
    ],
    [
      'tops of groups',
      { apply: steps(13, () => 'groupby((b),top(1))') },
      /13 transformations in sequence that group rows/,
    ],
    ['keys to sort by', { orderBy: list(2_001, (i) => `a add ${i}`) }, /more than 2000 expressions/],
    ['columns', { compute: list(2_001, (i) => `a add ${i} as c${i}`) }, /more than 2000 expressions/],
    [
      'conditions',
      { compute: list(400, (i) => `case(${list(100, (j) => `a eq ${j}:b`)},true:0) as c${i}`) },
      /grows to \d+ characters of SQL; the limit is 1000000/,
    ],
    [
      'conditions before branches',
      {
        apply: `compute(case(${list(900, (j) => `a eq ${j}:b`)},true:0) as c)/${steps(6, (i) => `concat(filter(a gt ${i}),filter(a le ${i}))`)}`,
      },
      /grows to \d+ characters of SQL; the limit is 1000000/,
    ],
  ])('%s', async (_, options, message) => {
    await expect(dataset.query(options)).rejects.toMatchObject({
      code: 'filter_too_complex',
      message: expect.stringMatching(message),
    })
  })
})

describe('up to the bounds a query runs', () => {
  test.each<[string, QueryOptions]>([
    ['branches', { apply: `${steps(6, (i) => `concat(filter(a gt ${i}),filter(a le ${i}))`)}` }],
    ['filters', { apply: steps(100, () => 'filter(a gt 0)') }],
    ['orders', { apply: steps(100, () => 'orderby(b)') }],
    ['sums', { apply: steps(100, () => 'topsum(1000,a)') }],
    ['groups', { apply: steps(12, () => 'groupby((a,b))') }],
  ])('%s', async (_, options) => {
    expect((await rows(options)).sort()).toEqual(['1 1', '2 1', '3 2'])
  })
})

test('branches that group rows alike are read once, and their rows come for each of them', async () => {
  const apply =
    'concat(groupby((b),aggregate(a with max as a)),aggregate(a with sum as a,b with max as b),' +
    ' groupby( (b),aggregate(a with max as a) ),identity)'
  const groups = ['1 2', '2 3']
  expect(await rows({ apply })).toEqual([...groups, '2 6', ...groups, '1 1', '1 2', '2 3'])
  using query = await dataset.query({ apply })
  expect((await query.explain()).match(/Function:/g)).toHaveLength(3)
})

test.each([
  [
    'filter(a ge 2)',
    'concat(filter(a ge 2),filter(a ge 2),identity)',
    ['2 1', '3 2', '2 1', '3 2', '1 1', '2 1', '3 2'],
  ],
  [
    'a total',
    'concat(identity,aggregate(a with sum as a,b with max as b))/concat(filter(a ge 6),identity)',
    ['6 2', '1 1', '2 1', '3 2', '6 2'],
  ],
  [
    'some of them',
    'concat(identity,skip(1)/top(1))/concat(identity,filter(b eq 1))',
    ['1 1', '2 1', '3 2', '2 1', '1 1', '2 1', '2 1'],
  ],
])('rows of branches are sent as they are read, without memory for all of them: %s', async (_, apply, wanted) => {
  expect(await rows({ apply })).toEqual(wanted)
  using query = await dataset.query({ apply })
  expect(await query.explain()).not.toMatch(/ORDER_BY|WINDOW|TOP_N/)
})

test('rows of a branch within a branch come before those of the next, however deep it is', async () => {
  const within = 'concat(concat(filter(a eq 3),filter(a eq 2)),filter(a eq 1))'
  expect(await rows({ apply: within })).toEqual(['3 2', '2 1', '1 1'])
  expect(await rows({ apply: `${within}/groupby((a),aggregate(b with max as b))` })).toEqual([
    '3 2',
    '2 1',
    '1 1',
  ])
})

test('a branch that is out of order is sorted by itself, also within another concat()', async () => {
  const apply = 'concat(identity,topcount(2,a),orderby(a desc)/top(2))/concat(filter(b eq 2),identity)'
  const all = ['1 1', '2 1', '3 2', '2 1', '3 2', '3 2', '2 1']
  expect(await rows({ apply })).toEqual([...all.filter((row) => row.endsWith('2')), ...all])
})

test('rows of many row groups in branches of branches keep their order, and grouped ones take that of their first row', async () => {
  await using place = await openWorkplace({ partSizes: { rows: 200_000 } })
  const large = await newDataset(place.engine)
  const count = 500_000
  const lines = Array.from({ length: count }, (_, n) => `${n},${n % 7}\n`)
  await large.replace({ format: 'csv', body: bytesOf(`a,b\n${lines.join('')}`) })
  const apply = `concat(filter(a ge ${count - 3}),identity)/concat(filter(a lt 2),filter(b eq 3),filter(b eq 3))`
  const read = async (option: string) => {
    using query = await large.query({ apply: option })
    return (await textOf(await query.bytes('csv'))).trimEnd().split('\n').slice(1)
  }
  const end = [count - 3, count - 2, count - 1]
  const all = [...end, ...Array(count).keys()].map((n) => [n, n % 7] as const)
  const threes = all.filter(([, b]) => b === 3)
  const wanted = [...all.filter(([a]) => a < 2), ...threes, ...threes].map((row) => row.join(','))
  expect((await read(apply)).join(' ') === wanted.join(' ')).toBe(true)
  expect(await read(`${apply}/groupby((b))`)).toEqual(['0', '1', '3'])
})

test.runIf(process.platform === 'linux')(
  'a query has up to three files open for each time that it reads the rows, however many files they are in',
  async () => {
    await using place = await openWorkplace({ partSizes: { rows: 2_048 } })
    const many = await newDataset(place.engine)
    const lines = Array.from({ length: 16_000 }, (_, n) => `${n},${n % 7}`)
    await many.replace({ format: 'csv', body: bytesOf(`a,b\n${lines.join('\n')}\n`) })
    const open = () => openFiles(place.directory).filter((path) => path.endsWith('.parquet')).length
    const reads = 10
    using query = await many.query({ apply: `concat(${list(reads, (i) => `filter(a ge ${i})`)})` })
    let most = 0
    const watching = setInterval(() => (most = Math.max(most, open())), 1)
    await textOf(await query.bytes('csv'))
    clearInterval(watching)
    expect(most).toBeGreaterThan(0)
    // Each of DuckDB's two threads may open the next one before the last is closed. And DuckDB plans a prepared statement
    // without parameters a second time when it is run, while the first plan has the first file of each read open.
    expect(most).toBeLessThanOrEqual(3 * reads)
  },
)

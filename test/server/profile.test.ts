import { readdirSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Profile } from '../../server/records/index.ts'
import { IS_CLUSTER } from '../cluster/elsewhere.ts'
import { type Platform, platform } from './platform.ts'

let at: Platform
let ada: string
let repositoryId: number
beforeAll(async () => {
  at = await platform()
  ada = await at.account('ada')
  repositoryId = (await at.call(ada, 'POST', '/repositories', { json: { name: 'r' } })).json().id
})
afterAll(() => at[Symbol.asyncDispose]())

async function made(name: string, csv: string): Promise<number> {
  const { id } = (await at.call(ada, 'POST', '/datasets', { json: { name, repositoryId } })).json()
  if (csv !== '') await write(id, csv)
  return id
}

async function write(id: number, body: string): Promise<void> {
  const headers = { 'content-type': 'text/csv' }
  const written = await at.call(ada, 'PUT', `/datasets/${id}/data?columns=replace`, { body, headers })
  expect(written.statusCode, written.body).toBe(200)
}

async function profile(id: number): Promise<Profile> {
  for (;;) {
    const answer = await at.call(ada, 'GET', `/datasets/${id}/profile`)
    if (answer.statusCode === 200) return answer.json()
    expect(answer.statusCode, answer.body).toBe(202)
    expect(answer.headers['retry-after']).toBe('1')
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

it('says what the values of each column are like, once for a version', async () => {
  const rows = Array.from({ length: 5_000 }, (_, n) => [
    n - 1_000,
    n % 7 === 0 ? '' : (n / 4).toFixed(2),
    ['red', 'green', "it's blue"][n % 3],
    n % 2 === 0,
    `2024-01-${String(1 + (n % 28)).padStart(2, '0')}`,
    `id ${n}`,
  ])
  const id = await made('many', `n,x,colour,ok,day,name\n${rows.map((row) => row.join()).join('\n')}\n`)
  const made1 = await profile(id)
  expect(made1).toMatchObject({ version: 1, rowCount: 5_000 })
  const [n, x, colour, ok, day, name] = made1.columns
  expect(n).toMatchObject({ type: 'integer', nulls: 0, min: -1_000, max: 3_999, mean: 1_499.5 })
  expect(n!.histogram).toHaveLength(20)
  expect(n!.histogram!.reduce((sum, { count }) => sum + count, 0)).toBe(5_000)
  expect(Math.abs(n!.quantiles!['0.5']! - 1_499.5)).toBeLessThan(100)
  expect(n!.distinct!.exact).toBe(false)
  expect(Math.abs(n!.distinct!.value / 5_000 - 1)).toBeLessThan(0.15)
  expect(x!.nulls).toBe(Math.ceil(5_000 / 7))
  expect(x!.histogram!.reduce((sum, { count }) => sum + count, 0)).toBe(5_000 - x!.nulls)
  expect(colour).toEqual({
    ...{ name: 'colour', type: 'string', nulls: 0, distinct: { value: 3, exact: true } },
    ...{ min: 'green', max: 'red' },
    top: [
      { value: 'green', count: 1_667 },
      { value: 'red', count: 1_667 },
      { value: "it's blue", count: 1_666 },
    ],
  })
  expect(ok!.top).toEqual(
    expect.arrayContaining([
      { value: true, count: 2_500 },
      { value: false, count: 2_500 },
    ]),
  )
  expect(day).toMatchObject({ min: '2024-01-01', max: '2024-01-28', distinct: { value: 28, exact: true } })
  expect(day!.histogram).toHaveLength(20)
  expect(day!.histogram![0]).toMatchObject({ from: '2024-01-01', to: '2024-01-03', count: 358 })
  expect(name!.top).toBeUndefined()
  expect((await at.call(ada, 'GET', `/datasets/${id}/profile`)).json()).toEqual(made1)
  await write(id, 'a\n1\n')
  expect(await profile(id)).toEqual({
    ...{ version: 2, rowCount: 1 },
    columns: [
      {
        ...{
          name: 'a',
          type: 'integer',
          nulls: 0,
          distinct: { value: 1, exact: true },
          min: 1,
          max: 1,
          mean: 1,
        },
        quantiles: { '0.05': 1, '0.25': 1, '0.5': 1, '0.75': 1, '0.95': 1 },
        top: [{ value: 1, count: 1 }],
      },
    ],
  })
})

/** As milliseconds of UTC, however the type writes it. */
const iso = (bound: unknown) =>
  new Date(`${String(bound).replace('Z', '')}${String(bound).includes('T') ? 'Z' : ''}`).toISOString()

it('counts dates, times and few integers in ranges', async () => {
  const rows = Array.from({ length: 3_000 }, (_, n) => {
    const time = new Date(Date.UTC(2000, 0, 1 + n)).toISOString()
    return [time.slice(0, 10), time, `${time.slice(0, 10)}T00:00:00`, n % 3]
  })
  const columns = (
    await profile(await made('times', `d,z,t,n\n${rows.map((row) => row.join()).join('\n')}\n`))
  ).columns
  for (const { name, histogram, type } of columns) {
    expect(
      histogram!.reduce((sum, { count }) => sum + count, 0),
      name,
    ).toBe(3_000)
    if (type === 'integer') continue
    const inRange = (from: unknown, to: unknown) =>
      rows.filter(([, time]) => time! >= iso(from) && time! < iso(to)).length
    for (const { from, to, count } of histogram!.slice(0, -1)) expect(inRange(from, to), name).toBe(count)
  }
  expect(columns[0]!.histogram!.at(-1)).toMatchObject({ to: '2008-03-18' })
  expect(columns[3]!.histogram).toEqual([0, 1, 2].map((from) => ({ from, to: from + 1, count: 1_000 })))
})

it('takes odd values, and tables without rows or columns', async () => {
  const odd =
    'd,i,t,z,k\nNaN,9007199254740993,2024-01-01T00:00:00,2024-01-01T00:00:00Z,\nInf,1,2024-01-02T00:00:00,2024-01-02T00:00:00Z,\n1.5,,,,\n'
  const [d, i, t, z, k] = (await profile(await made('odd', odd))).columns
  expect(d).toMatchObject({ type: 'double', min: 1.5, max: 'INF', mean: 1.5, nulls: 0 })
  // NaN is counted as no other value.
  expect(d!.top).toEqual([1.5, 'INF'].map((value) => ({ value, count: 1 })))
  expect(i).toMatchObject({ max: '9007199254740993', min: 1, nulls: 1 })
  expect(t).toMatchObject({ min: '2024-01-01T00:00:00', max: '2024-01-02T00:00:00' })
  expect(z).toMatchObject({ min: '2024-01-01T00:00:00Z' })
  expect(k).toEqual({ name: 'k', type: 'string', nulls: 3, distinct: { value: 0, exact: true } })
  const far = Array.from({ length: 99 }, (_, at) => `${at % 2 ? '-' : ''}1.${100 + at}e308\n`)
  const [x] = (await profile(await made('far', `x\n${far.join('')}`))).columns
  expect(x).toMatchObject({ min: -1.197e308, max: 1.198e308, distinct: { value: 99, exact: true } })
  expect((await profile(await made('none', ''))).columns).toEqual([])
  expect((await profile(await made('no rows', 'a,b\n'))).columns).toMatchObject([{ nulls: 0 }, { nulls: 0 }])
  expect((await at.call(ada, 'GET', '/datasets/9999/profile')).statusCode).toBe(404)
})

// The parts of a cluster are not in the data directory.
it.skipIf(IS_CLUSTER)(
  'says so if it can not be made, and tries again when it is asked for again',
  async () => {
    const parts = join(at.directory, 'parts')
    const before = new Set(readdirSync(parts))
    const id = await made('damaged', `a,b\n${'1,text\n'.repeat(5_000)}`)
    const part = readdirSync(parts).find((name) => !before.has(name))!
    truncateSync(join(parts, part), 100)
    const ask = () => at.call(ada, 'GET', `/datasets/${id}/profile`)
    for (let round = 0; round < 2; round++) {
      let answer = await ask()
      expect(answer.statusCode).toBe(202)
      while (answer.statusCode === 202) {
        await new Promise((resolve) => setTimeout(resolve, 20))
        answer = await ask()
      }
      expect(answer.json().code).toBe('storage_damaged')
    }
  },
)

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Following, following } from './following.ts'

describe('revisions of a dataset that follows series', () => {
  let at: Following
  let id: number
  beforeAll(async () => {
    at = await following()
  })
  afterAll(() => at[Symbol.asyncDispose]())
  beforeEach(async () => {
    at.series.clear()
    at.series.set('A', [1, 2])
    at.series.set('B', [10])
    id = await at.dataset()
    at.clock.now = new Date(at.clock.now.getTime() + 100 * 86_400_000)
  })

  const get = (query: string, of = id) =>
    at.at.call(at.ada, 'GET', `/datasets/${of}/revisions${query && `?${query}`}`)
  const body = async (query: string) => (await get(query)).body
  /** A moment as csv has it, without zeros at the end of its fraction. */
  const short = (moment: string | undefined) => moment?.replace(/\.?0+Z$/, 'Z')
  /** When each version was made. */
  const made = async () => {
    const list = (await at.at.call(at.ada, 'GET', `/datasets/${id}/versions`)).json()
    return new Map<number, string>(
      list.map((one: { number: number; createdAt: string }) => [one.number, one.createdAt]),
    )
  }
  const refresh = async (values: Record<string, readonly number[]>) => {
    for (const [name, each] of Object.entries(values)) at.series.set(name, each)
    await at.later(24)
  }

  it('are the values that each period had, and from when to when', async () => {
    await at.follow(id, { series: ['fred/A', 'fred/B'] })
    await refresh({ A: [1, 2.5, 3] })
    await refresh({ A: [1, 2.5, 3], B: [11] })
    await refresh({ A: [1, 2, 4] })
    const times = await made()
    const last = Math.max(...times.keys())
    const [t1, t2, t3, t4] = [3, 2, 1, 0].map((back) => short(times.get(last - back)))
    const answer = await get('series=fred/A')
    expect(answer.statusCode, answer.body).toBe(200)
    expect(answer.headers['known-since']).toBe(times.get(0))
    expect(answer.body.trim().split('\n')).toEqual([
      'series_id,period,value,known_from,known_to',
      `fred/A,2024-01,1,${t1},`,
      `fred/A,2024-02,2,${t1},${t2}`,
      `fred/A,2024-02,2.5,${t2},${t4}`,
      `fred/A,2024-02,2,${t4},`,
      `fred/A,2024-03,3,${t2},${t4}`,
      `fred/A,2024-03,4,${t4},`,
    ])
    expect(await body('$select=series_id,period,value,first_release,revision&$filter=revision ne 0')).toBe(
      'series_id,period,value,first_release,revision\nfred/A,2024-02,2.5,2,0.5\nfred/A,2024-03,4,3,1\nfred/B,2024-01,11,10,1\n',
    )
    expect((await get(`series=fred/B&$format=json&$filter=known_to ne null`)).json()).toEqual([
      { series_id: 'fred/B', period: '2024-01', value: 10, known_from: t1, known_to: t3 },
    ])
  })

  it.each(['csv', 'tsv', 'json', 'ndjson', 'xlsx', 'parquet', 'arrow'])('come as %s', async (format) => {
    await at.follow(id, { series: ['fred/A'] })
    await refresh({ A: [1, 3] })
    const answer = await get(`$format=${format}&$count=true`)
    expect([answer.statusCode, answer.headers['row-count']], answer.body).toEqual([200, '3'])
  })

  it('end where a period or a series is gone, begin again where it is back, and know no missing value as first', async () => {
    await at.follow(id, { series: ['fred/A', 'fred/B'] })
    await refresh({ A: [Number.NaN, 2, 3] })
    await at.follow(id, { series: ['fred/B'] })
    await at.follow(id, { series: ['fred/A', 'fred/B'] })
    await refresh({ A: [7, 2, 3] })
    const rows = (await get('$select=series_id,period,value,known_to,revision&$format=json')).json()
    const brief = rows.map((row: Record<string, unknown>) => [
      row['series_id'],
      row['period'],
      row['value'],
      row['known_to'] !== null,
      row['revision'],
    ])
    expect(brief).toEqual([
      ['fred/A', '2024-01', 1, true, 0],
      ['fred/A', '2024-01', null, true, null],
      ['fred/A', '2024-01', null, true, null],
      ['fred/A', '2024-01', 7, false, 6],
      ['fred/A', '2024-02', 2, true, 0],
      ['fred/A', '2024-02', 2, false, 0],
      ['fred/A', '2024-03', 3, true, 0],
      ['fred/A', '2024-03', 3, false, 0],
      ['fred/B', '2024-01', 10, false, 0],
    ])
  })

  it('go back as far as versions are kept, and say so', async () => {
    await at.at.call(at.ada, 'PATCH', `/datasets/${id}`, { json: { keep: { versions: 2 } } })
    await at.follow(id, { series: ['fred/A'] })
    for (const value of [3, 4, 5]) await refresh({ A: [1, value] })
    await at.at.engine.settled()
    if (at.at.engine.database.isShared) return
    const times = [...(await made()).values()].toReversed()
    expect(times).toHaveLength(2)
    const answer = await get('series=fred/A')
    expect(answer.headers['known-since']).toBe(times[0])
    const [from, to] = times.map(short)
    expect(answer.body).toBe(
      `series_id,period,value,known_from,known_to\nfred/A,2024-01,1,${from},\n` +
        `fred/A,2024-02,4,${from},${to}\nfred/A,2024-02,5,${to},\n`,
    )
  })

  it('have an entity tag for the same question of the same versions', async () => {
    await at.follow(id, { series: ['fred/A', 'fred/B'] })
    const tags = [await get('series=fred/A'), await get('series=fred/B'), await get('series=fred/A')]
    const [first, other, again] = tags.map(({ headers }) => String(headers['etag']))
    expect(again).toBe(first)
    expect(other).not.toBe(first)
    await refresh({ A: [1, 9] })
    expect((await get('series=fred/A')).headers['etag']).not.toBe(first)
  })

  it('of no rows, of other data, and of unknown series say so', async () => {
    await at.follow(id, { series: ['fred/NONE'] })
    expect(await body('')).toBe('series_id,period,value,known_from,known_to\n')
    expect((await get('series=fred/A')).json().code).toBe('series_not_found')
    const wrong = ['series=', 'series=GDP', 'series=fred/A&$filter=x eq 1', 'vintages=all']
    expect(await Promise.all(wrong.map(async (query) => (await get(query)).statusCode))).toEqual([
      400, 404, 404, 400,
    ])
    const other = await at.dataset()
    const upload = { body: 'n\n1\n', headers: { 'content-type': 'text/csv' } }
    await at.at.call(at.ada, 'PUT', `/datasets/${other}/data`, upload)
    const answer = await get('', other)
    expect([answer.statusCode, answer.json().code]).toEqual([409, 'other_data'])
  })
})

import { describe, expect, it } from 'vitest'
import type { Column } from '../../server/client/index.ts'
import { hasPlace, readChoice } from '../../server/console/src/plot/choice.ts'
import { drawRows } from '../../server/console/src/plot/group.ts'
import { statsOf, toLiteral, toNumber } from '../../server/console/src/profile/stats.ts'
import { pointsOf } from '../../server/console/src/providers/points.ts'

const column = (name: string, type: Column['type']): Column => ({
  name,
  type,
  nullable: true,
  description: '',
})

describe('a plot', () => {
  it('puts time along and the first number upwards when nothing is said', () => {
    const choice = readChoice({}, [column('n', 'integer'), column('day', 'date'), column('p', 'double')])
    expect(choice).toMatchObject({ x: 'day', y: 'n', kind: 'line', aggregate: 'mean' })
  })

  it('takes what the address says and ignores what it can not take', () => {
    const columns = [column('a', 'double'), column('b', 'double'), column('c', 'json')]
    expect(readChoice({ x: 'c', y: 'b', kind: 'pie', size: '20000' }, columns)).toMatchObject({
      x: 'a',
      y: 'b',
      kind: 'points',
      size: 20_000,
    })
    expect(readChoice({}, [column('c', 'json')])).toBeUndefined()
  })

  it('leaves out what has no place on an axis where the server groups, as elsewhere', () => {
    const columns = [column('day', 'date'), column('Unit price', 'double')]
    const choice = { x: 'day', y: 'Unit price' }
    expect(hasPlace(choice, columns)).toBe('day ne null and "Unit price" gt -INF and "Unit price" lt INF')
    const rows = [
      ['2024-01-01', 'NaN'],
      ['2024-01-02', '-INF'],
      ['2024-01-03', '3'],
    ]
    expect(drawRows(rows, 'date', 'double', 'mean').points).toEqual([{ x: Date.UTC(2024, 0, 3), y: 3 }])
  })

  it('draws the observations of a day by their time', () => {
    const at = (time: string, value: number | null) => ({
      date: '2024-01-05',
      period: `2024-01-05T${time}`,
      value,
    })
    expect(pointsOf({ frequency: 'intraday', observations: [at('09:30', 1), at('09:35', null)] })).toEqual({
      xType: 'timestamp',
      points: [
        { x: Date.UTC(2024, 0, 5, 9, 30), y: 1 },
        { x: Date.UTC(2024, 0, 5, 9, 35), y: null },
      ],
    })
    const month = { date: '2024-01-01', period: '2024-01', value: 2 }
    expect(pointsOf({ frequency: 'monthly', observations: [month] })).toEqual({
      xType: 'date',
      points: [{ x: Date.UTC(2024, 0, 1), y: 2 }],
    })
  })

  it('draws every row along a number, sorted, without those that lack a value', () => {
    const rows = [
      ['3', '1'],
      [null, '9'],
      ['1', '2'],
      ['2', null],
    ]
    expect(drawRows(rows, 'integer', 'double', 'none').points).toEqual([
      { x: 1, y: 2 },
      { x: 3, y: 1 },
    ])
  })

  it.each([
    ['mean', 4],
    ['median', 3],
    ['sum', 12],
    ['min', 1],
    ['max', 8],
  ] as const)('takes the %s of equal values', (aggregate, expected) => {
    const rows = [
      ['a', '1'],
      ['a', '8'],
      ['a', '3'],
    ]
    expect(drawRows(rows, 'string', 'double', aggregate)).toMatchObject({
      labels: ['a'],
      points: [{ x: 0, y: expected }],
    })
  })

  it('brings many days together by month', () => {
    const rows = Array.from({ length: 900 }, (_, day) => [
      new Date(day * 86_400_000).toISOString().slice(0, 10),
      '1',
    ])
    const drawing = drawRows(rows, 'date', 'integer', 'sum')
    expect(drawing.grouping).toBe('by month')
    expect(drawing.points.slice(0, 2)).toEqual([
      { x: 0, y: 31 },
      { x: Date.UTC(1970, 1, 1), y: 28 },
    ])
  })
})

describe('a profile', () => {
  it('counts nulls and distinct values, and keeps extremes as they were written', () => {
    const stats = statsOf(column('x', 'double'), ['10.50', null, '2', '10.50'])
    expect(stats).toMatchObject({ rows: 4, nulls: 1, distinct: 2, min: '2', max: '10.50' })
  })

  it('gives each of few whole numbers a bar', () => {
    const { shape } = statsOf(column('x', 'integer'), ['1', '3', '3'])
    expect(shape).toEqual({
      kind: 'bins',
      bins: [
        { from: 1, to: 2, count: 1 },
        { from: 2, to: 3, count: 0 },
        { from: 3, to: 4, count: 2 },
      ],
    })
  })

  it('names the usual texts and counts the others', () => {
    const values = [...'aaabbcdefgh']
    const { shape } = statsOf(column('x', 'string'), values)
    expect(shape).toMatchObject({ kind: 'values', others: 2 })
  })

  it('fills the gaps between stripes of a column that goes up with the rows', () => {
    const stripes = [0, 1, 500, 501, 1000, 1001].map(String)
    const even = statsOf(column('x', 'integer'), stripes, { stripe: 2, rows: 498 })
    const bins = even.shape.kind === 'bins' ? even.shape.bins : []
    expect(bins.reduce((sum, { count }) => sum + count, 0)).toBeCloseTo(6 + 2 * 498)
    for (const { count } of bins) expect(count).toBeGreaterThan(20)
    const mixed = statsOf(column('x', 'integer'), [...stripes].reverse(), { stripe: 2, rows: 498 })
    expect(mixed.shape.kind === 'bins' && mixed.shape.bins[5]!.count).toBe(0)
  })

  it.each(['date', 'timestamp', 'timestamptz'])('writes a %s as it was read', (type) => {
    const text = {
      date: '2024-01-31',
      timestamp: '2024-01-31T12:00:00',
      timestamptz: '2024-01-31T12:00:00Z',
    }[type]!
    expect(toLiteral(toNumber(text, type), type)).toBe(text)
  })
})

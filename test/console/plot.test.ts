import { describe, expect, it } from 'vitest'
import type { Column } from '../../server/client/index.ts'
import { axisName, hasPosition, ROWS, readChoice, writeYs } from '../../server/console/src/plot/choice.ts'
import { cellsOf, drawingOf, drawSeries, niceStep, textOfX } from '../../server/console/src/plot/draw.ts'

const column = (name: string, type: Column['type']): Column => ({
  name,
  type,
  nullable: true,
  description: '',
})

describe('a plot', () => {
  const columns = [
    column('n', 'integer'),
    column('day', 'date'),
    column('p', 'double'),
    column('s', 'string'),
  ]

  it('puts time along and the first number upwards when nothing is said', () => {
    const choice = readChoice({}, columns)
    expect(choice).toMatchObject({ x: { name: 'day' }, ys: [{ name: 'n' }], kind: 'line', aggregate: 'mean' })
  })

  it('takes what the address says and ignores what it can not take', () => {
    const some = [column('a', 'double'), column('b', 'double'), column('c', 'json')]
    expect(readChoice({ x: 'c', y: 'b', kind: 'pie', size: '20000' }, some)).toMatchObject({
      x: { name: 'a' },
      ys: [{ name: 'b' }],
      kind: 'points',
      size: 20_000,
    })
    expect(readChoice({}, [column('c', 'json')])).toBeUndefined()
    expect(readChoice({ y: '[not json' }, columns)!.ys).toEqual([columns[0]])
  })

  it('draws several columns, or one by the values of another, but not both', () => {
    const y = writeYs([columns[0]!, columns[2]!])
    expect(readChoice({ y, by: 's' }, columns)).toMatchObject({ ys: [{ name: 'n' }, { name: 'p' }], by: [] })
    expect(readChoice({ y: 'p', by: 's' }, columns)!.by).toEqual([columns[3]])
  })

  it('never draws each row along names, of which there are many', () => {
    expect(readChoice({ x: 's', y: 'p', of: 'none' }, columns)!.aggregate).toBe('mean')
  })

  it('leaves out what has no place on an axis where the server groups, as elsewhere', () => {
    const [day, price] = [column('day', 'date'), column('Unit price', 'double')]
    expect(hasPosition([day, price])).toBe('day ne null and "Unit price" gt -INF and "Unit price" lt INF')
    const rows = [
      ['2024-01-01', 'NaN'],
      ['2024-01-02', '-INF'],
      ['2024-01-03', '3'],
    ]
    const cells = cellsOf({ x: day, ys: [price], by: [] }, [day, price], rows)
    expect(cells.map(({ y }) => y)).toEqual([null, null, 3])
  })

  it('draws the observations of a day by their time, with gaps where values are missing', () => {
    const at = (time: string, value: number | null) => ({
      date: '2024-01-05',
      period: `2024-01-05T${time}`,
      value,
    })
    const observations = [at('09:30', 1), at('09:35', null)]
    expect(drawSeries({ frequency: 'intraday', unit: 'EUR', observations })).toMatchObject({
      xType: 'timestamp',
      drawing: {
        xs: [Date.UTC(2024, 0, 5, 9, 30), Date.UTC(2024, 0, 5, 9, 35)],
        series: [{ name: 'EUR', ys: [1, null] }],
      },
    })
    const month = { date: '2024-01-01', period: '2024-01', value: 2 }
    expect(drawSeries({ frequency: 'monthly', unit: null, observations: [month] })).toMatchObject({
      xType: 'date',
      drawing: { xs: [Date.UTC(2024, 0, 1)], series: [{ name: 'value', ys: [2] }] },
    })
  })

  it('draws every row along a number, sorted, in the series of its name', () => {
    const [x, y, name] = [column('x', 'integer'), column('y', 'double'), column('name', 'string')]
    const rows = [
      ['3', '1', 'a'],
      [null, '9', 'a'],
      ['1', '2', 'b'],
      ['1', '5', 'b'],
    ]
    expect(drawingOf(cellsOf({ x, ys: [y], by: [name] }, [x, y, name], rows))).toMatchObject({
      xs: [1, 1, 3],
      series: [
        { name: 'a', ys: [undefined, undefined, 1] },
        { name: 'b', ys: [2, 5, undefined] },
      ],
    })
  })

  it('shows the first labels and series, and counts those that it leaves out', () => {
    const cells = Array.from({ length: 30 }, (_, at) => ({ x: `v${at}`, series: `s${at % 10}`, y: at }))
    const { labels, series, omitted } = drawingOf(cells)
    expect([labels!.length, series.length]).toEqual([24, 8])
    expect(omitted).toEqual({ labels: 0, series: 2 })
  })

  it('makes bins of round widths, and says what is in one', () => {
    expect([0.013, 1, 3.2, 70, 1200].map(niceStep)).toEqual([0.02, 1, 5, 100, 2000])
    expect(textOfX('double', undefined, 50)(125)).toBe('100 to 150')
  })

  it('names axes with the unit where the column has one', () => {
    expect(axisName({ ...column('price', 'double'), unit: 'EUR' })).toBe('price (EUR)')
    expect(axisName(ROWS)).toBe('rows')
  })
})

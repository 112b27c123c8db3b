import { describe, expect, it } from 'vitest'
import { completed } from '../../connectors/observations.ts'
import { csv } from './sdmx/messages.ts'
import { harness } from './support/harness.ts'

const HEADER = 'FREQ,REF_AREA,TITLE,TIME_PERIOD,OBS_STATUS,OBS_VALUE'
const bis = (...rows: readonly string[]) =>
  harness('bis', { '/data/dataflow/BIS/WS_SPP/+/M.BE': csv(`${HEADER}\n${rows.join('\n')}\n`) })

describe('a value among numbers that is no number is null, with a status unless it is a mark for no value', () => {
  it.each([
    ['<5', "reported as '<5'"],
    ['12,34', "reported as '12,34'"],
    ['1 234', "reported as '1 234'"],
    ['1e999', "reported as '1e999'"],
    ['x', "reported as 'x'"],
    ['..', undefined],
    ['NA', undefined],
    ['(D)', 'missing, confidential'],
    [null, undefined],
    ['', undefined],
  ])('in JSON: %j', async (value, status) => {
    const observations = [
      { date: '2024-01-01', value },
      { date: '2024-02-01', value: '1,234.5' },
    ]
    const routes = {
      '/series': { body: { seriess: [{ id: 'X', title: 'T', frequency_short: 'M' }] } },
      '/series/observations': { body: { count: 2, observations } },
    }
    await using at = await harness('fred', routes, { key: 'k' })
    const [first, second] = (await at.connectors.series('fred', 'X')).observations
    expect(first).toEqual({ date: '2024-01-01', period: '2024-01', value: null, ...(status && { status }) })
    expect(second).toEqual({ date: '2024-02-01', period: '2024-02', value: 1234.5 })
  })

  it.each([
    ['A,<5', "reported as '<5'"],
    ['A,"12,34"', "reported as '12,34'"],
    ['P,<5', "provisional, reported as '<5'"],
    ['A,NaN', undefined],
    ['Q,NaN', 'missing, suppressed'],
    ['A,', undefined],
  ])('in SDMX: %s', async (cells, status) => {
    await using at = await bis(`M,BE,T,2024-01,${cells}`, 'M,BE,T,2024-02,A,1.5')
    const [first, second] = (await at.connectors.series('bis', 'WS_SPP/M.BE')).observations
    expect(first).toEqual({ date: '2024-01-01', period: '2024-01', value: null, ...(status && { status }) })
    expect(second?.value).toBe(1.5)
  })

  it.each([
    ['before', ['A,NaN', 'A,2.5']],
    ['after', ['A,2.5', 'A,NaN']],
  ])('unless another row has the value of its period, %s it', async (_, rows) => {
    await using at = await bis(...rows.map((cells) => `M,BE,T,2024-01,${cells}`))
    expect((await at.connectors.series('bis', 'WS_SPP/M.BE')).observations).toEqual([
      { date: '2024-01-01', period: '2024-01', value: 2.5 },
    ])
  })

  it('with its text as it was written, also where cells are separated by semicolons', async () => {
    const body = `${HEADER.replaceAll(',', ';')}\nM;BE;T;2024-01;A;<5,5\nM;BE;T;2024-02;A;1.234,5\n`
    await using at = await harness('bis', { '/data/dataflow/BIS/WS_SPP/+/M.BE': csv(body) })
    expect((await at.connectors.series('bis', 'WS_SPP/M.BE')).observations).toMatchObject([
      { value: null, status: "reported as '<5,5'" },
      { value: 1234.5 },
    ])
  })

  it('in rates, which are divided by their amount', async () => {
    const rates = { '2024-01-02': { USD: '<5' }, '2024-01-03': { USD: 11 } }
    await using at = await harness('frankfurter', {
      '/v1/1999-01-04..': { body: { amount: 10, base: 'EUR', rates } },
      '/v1/currencies': { body: { USD: 'United States Dollar', EUR: 'Euro' } },
    })
    expect((await at.connectors.series('frankfurter', 'EUR/USD')).observations).toEqual([
      { date: '2024-01-02', value: null, status: "reported as '<5'" },
      { date: '2024-01-03', value: 1.1 },
    ])
  })
})

it('a field that a connector leaves undefined is null, and one that it gives stays', () => {
  const rows = [{ time: '2024-01-02', value: '1' }]
  const given = {
    name: 'N',
    frequency: 'daily',
    unit: undefined,
    notes: 'n',
    start: null,
    end: undefined,
    rows,
  }
  expect(completed(given, {}, 'ID')).toEqual({
    series_id: 'ID',
    name: 'N',
    frequency: 'daily',
    unit: null,
    seasonalAdjustment: null,
    source: null,
    notes: 'n',
    dimensions: null,
    start: null,
    end: '2024-01-02',
    lastUpdated: null,
    observations: [{ date: '2024-01-02', value: 1 }],
  })
})

describe('a row that is sent twice', () => {
  const quarters = [
    { date: '2024-03-31', value: '1' },
    { date: '2024-03-31', value: '1' },
    { date: '2024-06-30', value: '2' },
    { date: '2024-09-30', value: '3' },
    { date: '2024-12-31', value: '4' },
  ]
  const fred = (observations: readonly unknown[]) =>
    harness(
      'fred',
      {
        '/series': { body: { seriess: [{ id: 'X', title: 'T', frequency_short: 'Q' }] } },
        '/series/observations': { body: { count: observations.length, observations } },
      },
      { key: 'k' },
    )

  it('is one observation, and counts once in a sum', async () => {
    await using at = await fred(quarters)
    const { observations } = await at.connectors.series('fred', 'X')
    expect(observations.map(({ period, value }) => [period, value])).toEqual([
      ['2024-Q1', 1],
      ['2024-Q2', 2],
      ['2024-Q3', 3],
      ['2024-Q4', 4],
    ])
    const year = await at.connectors.series('fred', 'X', { frequency: 'annual', aggregate: 'sum' })
    expect(year.observations).toEqual([{ date: '2024-01-01', period: '2024', value: 10 }])
  })

  it('with another value stays, as it is not known which is right', async () => {
    await using at = await fred([...quarters, { date: '2024-12-31', value: '5' }])
    const { observations } = await at.connectors.series('fred', 'X')
    expect(observations.map(({ value }) => value)).toEqual([1, 2, 3, 4, 5])
  })
})

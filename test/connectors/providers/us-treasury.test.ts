import { describe, expect, it } from 'vitest'
import { failureOf, harness } from '../support/harness.ts'
import type { Routes } from '../support/upstream.ts'

const PENNY = 'v2/accounting/od/debt_to_penny'
const RATES = 'v2/accounting/od/avg_interest_rates'
const answered = (data: unknown[], total = data.length, meta = {}) => ({
  body: { data, meta: { count: data.length, 'total-count': total, ...meta }, links: { next: null } },
})
const rate = (record_date: string, security_desc: string, avg_interest_rate_amt: string) => ({
  record_date,
  security_type_desc: 'Marketable',
  security_desc,
  avg_interest_rate_amt,
})
const routes: Routes = {
  [`/${PENNY}`]: answered([
    { record_date: '2024-01-02', tot_pub_debt_out_amt: '34001494000000.25', src_line_nbr: '1' },
    { record_date: '2024-01-03', tot_pub_debt_out_amt: 'null', src_line_nbr: '1' },
  ]),
  [`/${RATES}`]: answered([
    rate('2024-01-31', 'Treasury Bills', '5.4'),
    rate('2024-01-31', 'Treasury Notes', '2.4'),
    rate('2023-12-31', 'Treasury Bills', '5.3'),
  ]),
}
const open = (more: Routes = {}) => harness('us-treasury', { ...routes, ...more })

describe('us-treasury', () => {
  it('goes from a table to a series', async () => {
    await using at = await open()
    const { categories } = await at.connectors.browse('us-treasury', '')
    expect(categories[0]).toMatchObject({ path: PENNY, name: 'Debt to the Penny', series: true })
    const page = await at.connectors.seriesList('us-treasury', PENNY, { limit: 1, offset: 0 })
    expect(page.total).toBe(3)
    const range = { start: '2024-01-01', end: '2024-12-31' }
    expect(await at.connectors.series('us-treasury', page.series[0]!.series_id, range)).toMatchObject({
      provider: 'us-treasury',
      series_id: `${PENNY}/tot_pub_debt_out_amt`,
      name: 'Debt to the Penny, Total Public Debt Outstanding',
      frequency: 'daily',
      unit: 'U.S. dollars',
      lastUpdated: null,
      observations: [
        { date: '2024-01-02', value: 34001494000000.25 },
        { date: '2024-01-03', value: null },
      ],
    })
    const { query, url } = at.upstream.requests.at(-1)!
    expect(query.get('filter')).toBe('record_date:gte:2024-01-01,record_date:lte:2024-12-31')
    expect(query.get('sort')).toBe('record_date')
    expect(url).toContain('page%5Bsize%5D=10000')
  })

  it('lists a series for each of the rows of a date, and reads the one that is asked for', async () => {
    await using at = await open()
    const page = await at.connectors.seriesList('us-treasury', RATES, { limit: 10, offset: 0 })
    const id = `${RATES}/avg_interest_rate_amt/security_type_desc=Marketable/security_desc=Treasury Bills`
    expect(page.series.map(({ series_id }) => series_id)).toEqual([id, id.replace('Bills', 'Notes')])
    const series = await at.connectors.series('us-treasury', id)
    expect(series).toMatchObject({ frequency: 'monthly', unit: 'percent' })
    expect(series.observations).toEqual([
      { date: '2023-12-01', period: '2023-12', value: 5.3 },
      { date: '2024-01-01', period: '2024-01', value: 5.4 },
    ])
    const within = await at.connectors.series('us-treasury', id, { start: '2024-01-01', end: '2024-01-15' })
    expect(within.observations).toEqual([{ date: '2024-01-01', period: '2024-01', value: 5.4 }])
    expect(at.upstream.requests.at(-1)!.query.get('filter')).toContain('record_date:lte:2024-12-31')
    const unnamed = at.connectors.series('us-treasury', `${RATES}/avg_interest_rate_amt`)
    expect(await failureOf(unnamed)).toMatchObject({ code: 'invalid_series_id' })
  })

  it('reads a table that is not listed, and finds its value by the types in the answer', async () => {
    const rows = ['2022-09-30', '2023-09-30'].map((record_date) => ({
      record_date,
      src_line_nbr: '1',
      cost_amt: '5',
    }))
    const meta = {
      labels: { cost_amt: 'Cost' },
      dataTypes: { record_date: 'DATE', src_line_nbr: 'INTEGER', cost_amt: 'CURRENCY' },
    }
    await using at = await open({ '/v2/accounting/od/other': answered(rows, 2, meta) })
    const series = await at.connectors.series('us-treasury', 'v2/accounting/od/other')
    expect(series).toMatchObject({ name: 'Cost', unit: 'U.S. dollars', frequency: 'annual' })
    expect(series.observations[0]).toEqual({ date: '2022-01-01', period: '2022', value: 5 })
  })

  it('refuses rows of one date that have different values, and says how to choose one', async () => {
    const rows = ['1', '2'].map((cost_amt) => ({ record_date: '2024-01-31', cost_amt, fund_desc: cost_amt }))
    await using at = await open({ '/v2/accounting/od/other': answered(rows, 2) })
    const error = await failureOf(at.connectors.series('us-treasury', 'v2/accounting/od/other/cost_amt'))
    expect(error).toMatchObject({ code: 'invalid_series_id' })
    expect(error.message).toContain('/column=value')
  })

  it('reads all pages', async () => {
    await using at = await open({
      [`/${PENNY}`]: (hit) => {
        const page = hit.query.get('page[number]')
        return answered([{ record_date: `2024-01-0${page}`, tot_pub_debt_out_amt: '1' }], 10_001)
      },
    })
    const { observations } = await at.connectors.series('us-treasury', `${PENNY}/tot_pub_debt_out_amt`)
    expect(observations.map(({ date }) => date)).toEqual(['2024-01-01', '2024-01-02'])
  })

  it.each([
    ['a bad path: 404 in HTML', { status: 404, body: '<html>', type: 'text/html' }, 'series_not_found'],
    [
      'an unknown field: 400',
      { status: 400, body: { error: 'Invalid Query Param', message: 'm' } },
      'series_not_found',
    ],
    ['no data at all', { body: [] }, 'series_not_found'],
    ['another object', { body: { hello: 1 } }, 'not_understood'],
  ])('tells %s', async (_, reply, code) => {
    await using at = await open({ [`/${PENNY}`]: reply })
    const failed = at.connectors.series('us-treasury', `${PENNY}/tot_pub_debt_out_amt`)
    expect(await failureOf(failed)).toMatchObject({ code })
  })

  it('has no observations where a range has no data', async () => {
    await using at = await open({ [`/${PENNY}`]: { body: [] } })
    const range = { start: '1700-01-01', end: '1700-01-02' }
    const { observations } = await at.connectors.series('us-treasury', `${PENNY}/tot_pub_debt_out_amt`, range)
    expect(observations).toEqual([])
  })
})

import { describe, expect, it } from 'vitest'
import { failureOf, harness } from '../support/harness.ts'
import type { Routes } from '../support/upstream.ts'

const ranged = (rates: unknown, more = {}) => ({
  body: { amount: 1.0, base: 'EUR', start_date: '2024-01-05', end_date: '2024-01-09', rates, ...more },
})
const routes: Routes = {
  '/v1/currencies': { body: { EUR: 'Euro', JPY: 'Japanese Yen', USD: 'United States Dollar' } },
  '/v1/2024-01-06..2024-01-09': ranged({
    // Saturday: snapped to the Friday before.
    '2024-01-05': { USD: 1.0921 },
    '2024-01-08': { USD: 1.0946 },
    '2024-01-09': { USD: 1.094 },
  }),
  '/v1/1999-01-04..': ranged({
    '1999-01-04': { USD: 1.1789 },
    '1999-01-11': { USD: 1.15 },
    '1999-01-18': { USD: 1.16 },
  }),
}
const open = (more: Routes = {}) => harness('frankfurter', { ...routes, ...more })

describe('frankfurter', () => {
  it('goes from a currency to a pair', async () => {
    await using at = await open()
    const root = await at.connectors.browse('frankfurter', '')
    expect(root.categories[0]).toEqual({
      path: 'EUR',
      name: 'Euro',
      description: 'Rates of 1 EUR',
      series: true,
    })
    const page = await at.connectors.seriesList('frankfurter', 'eur', { limit: 1, offset: 1 })
    expect(page).toMatchObject({
      total: 2,
      series: [{ series_id: 'EUR/USD', unit: 'USD', frequency: 'daily' }],
    })
    const range = { start: '2024-01-06', end: '2024-01-09' }
    expect(await at.connectors.series('frankfurter', 'EUR/USD', range)).toMatchObject({
      provider: 'frankfurter',
      series_id: 'EUR/USD',
      name: 'United States Dollar for 1 EUR',
      frequency: 'daily',
      unit: 'USD',
      lastUpdated: null,
      notes: expect.stringMatching(
        /^Version 1 of Frankfurter has the rates of the ECB alone; .* as v2\/EUR\/USD\.$/,
      ),
      observations: [
        { date: '2024-01-08', value: 1.0946 },
        { date: '2024-01-09', value: 1.094 },
      ],
    })
    const { query } = at.upstream.requests.find(({ path }) => path.includes('..'))!
    expect([query.get('base'), query.get('symbols')]).toEqual(['EUR', 'USD'])
  })

  it('says so when a long range is answered by the week', async () => {
    await using at = await open()
    const series = await at.connectors.series('frankfurter', 'EUR/USD')
    expect(series.frequency).toBe('weekly')
    expect(series.observations[0]).toEqual({ date: '1999-01-04', period: '1999-W01', value: 1.1789 })
  })

  it('reads the answer for a single day, and an amount', async () => {
    const body = { amount: 100, base: 'EUR', date: '2024-01-08', rates: { USD: 109.46 } }
    await using at = await open({ '/v1/2024-01-08..2024-01-08': { body } })
    const range = { start: '2024-01-08', end: '2024-01-08' }
    const { observations } = await at.connectors.series('frankfurter', 'EUR/USD', range)
    expect(observations).toEqual([{ date: '2024-01-08', value: 1.0946 }])
  })

  it.each([
    [404, { message: 'not found' }, 'series_not_found'],
    [422, { message: 'bad currency pair' }, 'series_not_found'],
    [200, { message: 'not found' }, 'series_not_found'],
    [429, { message: 'slow down' }, 'provider_limit'],
  ])('tells a failure %s %j', async (status, body, code) => {
    await using at = await open({ '/v1/1999-01-04..': { status, body } })
    expect(await failureOf(at.connectors.series('frankfurter', 'EUR/XXX'))).toMatchObject({ code })
  })

  it.each([
    ['a list for rates by day', 'EUR/USD', []],
    ['an object for a list of rates', 'v2/EUR/USD', { rates: { '2024-01-05': { USD: 1.09 } } }],
  ])('does not take %s for a series without values', async (_name, id, body) => {
    const more = {
      '/v1/1999-01-04..': { body },
      '/v2/currencies': routes['/v1/currencies']!,
      '/v2/rates': { body },
    }
    await using at = await open(more)
    expect(await failureOf(at.connectors.series('frankfurter', id))).toMatchObject({ code: 'not_understood' })
  })

  it.each([
    ['EUR/USD', { start: '2999-01-01' }],
    ['EUR/USD', { end: '1990-01-01' }],
    ['v2/EUR/USD', { end: '1990-01-01' }],
  ])('has no rates of %s for %j, which is no missing series', async (id, range) => {
    await using at = await open({
      '/v2/currencies': {
        body: [
          { iso_code: 'EUR', name: 'Euro', start_date: '1999-01-04' },
          { iso_code: 'USD', name: 'US Dollar', start_date: '1995-01-02' },
        ],
      },
      '/v2/rates': { status: 422, body: { message: 'invalid' } },
    })
    expect(await at.connectors.series('frankfurter', id, range)).toMatchObject({
      unit: 'USD',
      observations: [],
    })
    const unknown = at.connectors.series('frankfurter', id.replace('USD', 'XXX'), range)
    expect(await failureOf(unknown)).toMatchObject({ code: 'series_not_found' })
  })

  it.each(['EUR', 'EUR/EUR', 'EURO/USD', 'EUR/USD/1'])('refuses the id %s', async (id) => {
    await using at = await open()
    expect(await failureOf(at.connectors.series('frankfurter', id))).toMatchObject({
      code: 'invalid_series_id',
    })
  })
})

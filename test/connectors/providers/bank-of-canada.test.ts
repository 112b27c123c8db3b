import { describe, expect, it } from 'vitest'
import { failureOf, harness } from '../support/harness.ts'
import type { Routes } from '../support/upstream.ts'

const terms = { url: 'https://example.org/terms' }
const detail = {
  label: 'USD/CAD',
  description: 'US dollar to Canadian dollar daily exchange rate',
  dimension: { key: 'd', name: 'Date' },
}
const observations = (rows: unknown[], more = {}) => ({
  body: { terms, seriesDetail: { FXUSDCAD: { ...detail, ...more } }, observations: rows },
})

const routes: Routes = {
  '/valet/lists/groups/json': {
    body: {
      terms,
      groups: { FX_RATES_DAILY: { label: 'Daily exchange rates', link: 'l', description: 'Averages' } },
    },
  },
  '/valet/lists/series/json': {
    body: { terms, series: { FXUSDCAD: { label: 'USD/CAD', description: '' }, V1: { label: 'Bank rate' } } },
  },
  '/valet/groups/FX_RATES_DAILY': {
    body: {
      terms,
      groupDetails: { name: 'FX_RATES_DAILY', groupSeries: { FXUSDCAD: { label: 'USD/CAD', link: 'l' } } },
    },
  },
  '/valet/observations/FXUSDCAD/json': observations([
    { d: '2026-03-16', FXUSDCAD: { v: '1.3706' } },
    { d: '2026-03-13', FXUSDCAD: { v: '' } },
    { d: '2026-03-12', FXUSDCAD: { v: '1.3599' } },
    { d: '2026-03-17', FXEURCAD: { v: '1.5' } },
  ]),
}
const open = (more: Routes = {}) => harness('bank-of-canada', { ...routes, ...more }, { base: '/valet' })

describe('bank-of-canada', () => {
  it('goes from groups to a series', async () => {
    await using at = await open()
    const { connectors } = at
    const root = await connectors.browse('bank-of-canada', '')
    expect(root.categories.map(({ path, series }) => [path, series])).toEqual([
      ['groups', false],
      ['series', true],
    ])
    const groups = await connectors.browse('bank-of-canada', 'groups')
    expect(groups.categories).toEqual([
      { path: 'groups/FX_RATES_DAILY', name: 'Daily exchange rates', description: 'Averages', series: true },
    ])
    const page = await connectors.seriesList('bank-of-canada', 'groups/FX_RATES_DAILY', {
      limit: 10,
      offset: 0,
    })
    expect(page).toMatchObject({
      total: 1,
      series: [{ series_id: 'FXUSDCAD', name: 'USD/CAD', unit: 'CAD' }],
    })
    expect(await connectors.series('bank-of-canada', 'FXUSDCAD')).toMatchObject({
      provider: 'bank-of-canada',
      series_id: 'FXUSDCAD',
      name: 'US dollar to Canadian dollar daily exchange rate',
      frequency: 'daily',
      unit: 'CAD',
      lastUpdated: null,
      observations: [
        { date: '2026-03-12', value: 1.3599 },
        { date: '2026-03-13', value: null },
        { date: '2026-03-16', value: 1.3706 },
      ],
    })
  })

  it('slices the list of all series, which is not paged, and fetches it once', async () => {
    await using at = await open()
    const first = await at.connectors.seriesList('bank-of-canada', 'series', { limit: 1, offset: 0 })
    const second = await at.connectors.seriesList('bank-of-canada', 'series', { limit: 1, offset: 1 })
    expect([first.total, first.series[0]?.series_id, second.series[0]?.series_id]).toEqual([
      2,
      'FXUSDCAD',
      'V1',
    ])
    expect(at.upstream.requests).toHaveLength(1)
  })

  it('passes a range on', async () => {
    await using at = await open()
    await at.connectors.series('bank-of-canada', 'FXUSDCAD', { start: '2026-03-13', end: '2026-03-16' })
    const { query } = at.upstream.requests[0]!
    expect([query.get('start_date'), query.get('end_date')]).toEqual(['2026-03-13', '2026-03-16'])
  })

  it('tells the frequency by the dates where the description does not', async () => {
    await using at = await open({
      '/valet/observations/V2/json': {
        body: {
          seriesDetail: { V2: { label: 'Credit', dimension: { key: 'when' } } },
          observations: ['2024-01-01', '2024-02-01', '2024-03-01'].map((when) => ({ when, V2: { v: '1' } })),
        },
      },
    })
    const series = await at.connectors.series('bank-of-canada', 'V2')
    expect(series).toMatchObject({ frequency: 'monthly', name: 'Credit' })
    expect(series.observations[1]).toEqual({ date: '2024-02-01', period: '2024-02', value: 1 })
  })

  it('tells unknown series, groups and paths', async () => {
    await using at = await open()
    const { connectors } = at
    expect(await failureOf(connectors.series('bank-of-canada', 'NONE'))).toMatchObject({
      code: 'series_not_found',
    })
    const page = { limit: 1, offset: 0 }
    const list = connectors.seriesList('bank-of-canada', 'groups/NONE', page)
    expect(await failureOf(list)).toMatchObject({ code: 'path_not_found' })
    expect(await failureOf(connectors.browse('bank-of-canada', 'x'))).toMatchObject({
      code: 'path_not_found',
    })
  })

  it('does not take a page of markup for data', async () => {
    await using at = await open({
      '/valet/observations/FXUSDCAD/json': { body: '<!DOCTYPE html><p>Busy</p>', type: 'text/html' },
    })
    const error = await failureOf(at.connectors.series('bank-of-canada', 'FXUSDCAD'))
    expect(error).toMatchObject({ code: 'not_understood', status: 500 })
    expect(String(error.cause)).toContain('markup')
  })
})

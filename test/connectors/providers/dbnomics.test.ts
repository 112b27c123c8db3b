import { describe, expect, it } from 'vitest'
import { failureOf, harness } from '../support/harness.ts'
import type { Routes } from '../support/upstream.ts'

const doc = (code: string, extra = {}) => ({
  '@frequency': 'quarterly',
  provider_code: 'IMF',
  dataset_code: 'WEO:2024-10',
  series_code: code,
  series_name: `Series ${code}`,
  dimensions: { FREQ: 'Q', unit: 'percent' },
  indexed_at: '2024-11-01T00:00:00Z',
  ...extra,
})
const observed = doc('A.B:C', {
  period: ['2020-Q4', '2021-Q1', '2021-Q2'],
  period_start_day: ['2020-10-01', '2021-01-01', '2021-04-01'],
  value: [1.5, 'NA', -2],
})

const routes: Routes = {
  '/providers': {
    body: { providers: { docs: [{ code: 'IMF', name: 'Monetary Fund', website: 'w' }], num_found: 1 } },
  },
  '/providers/IMF': {
    body: {
      provider: { code: 'IMF' },
      category_tree: [
        {
          code: null,
          name: 'Folder',
          children: [{ code: 'X', name: 'Inner', children: [{ code: 'WEO:2024-10', name: 'Outlook' }] }],
        },
        { code: 'CPI', name: 'Prices' },
      ],
    },
  },
  '/providers/FLAT': { body: { provider: { code: 'FLAT' } } },
  '/datasets/FLAT': (hit) => ({
    body: {
      datasets: {
        docs: [{ code: hit.query.get('offset') === '0' ? 'D1' : 'D2', name: 'Flat' }],
        num_found: 501,
        limit: 500,
      },
    },
  }),
  '/series/IMF/WEO:2024-10': (hit) => ({
    body: {
      series: { docs: [doc('A.B:C')], num_found: 77, limit: 1, offset: Number(hit.query.get('offset')) },
    },
  }),
  '/series': (hit) => ({
    body: {
      errors: null,
      series: { docs: hit.query.get('series_ids') === 'IMF/WEO:2024-10/A.B:C' ? [observed] : [] },
    },
  }),
}
const open = (more: Routes = {}) => harness('dbnomics', { ...routes, ...more })
const paths = (categories: readonly { path: string }[]) => categories.map(({ path }) => path)

describe('dbnomics', () => {
  it('goes down the category tree to a series', async () => {
    await using at = await open()
    const { connectors } = at
    expect((await connectors.browse('dbnomics', '')).categories).toEqual([
      { path: 'IMF', name: 'Monetary Fund', description: 'w', series: false },
    ])
    const top = await connectors.browse('dbnomics', 'IMF')
    expect(top.categories).toEqual([
      { path: 'IMF/~0', name: 'Folder', description: '', series: false },
      { path: 'IMF/CPI', name: 'Prices', description: '', series: true },
    ])
    expect(paths((await connectors.browse('dbnomics', 'IMF/~0')).categories)).toEqual(['IMF/~0.0'])
    expect(paths((await connectors.browse('dbnomics', 'IMF/~0.0')).categories)).toEqual(['IMF/WEO:2024-10'])
    const page = await connectors.seriesList('dbnomics', 'IMF/WEO:2024-10', { limit: 1, offset: 5 })
    expect(page).toMatchObject({
      total: 77,
      series: [{ series_id: 'IMF/WEO:2024-10/A.B:C', frequency: 'quarterly' }],
    })
    expect(at.upstream.requests.at(-1)!.query.get('offset')).toBe('5')
    expect(await connectors.series('dbnomics', 'IMF/WEO:2024-10/A.B:C')).toMatchObject({
      provider: 'dbnomics',
      series_id: 'IMF/WEO:2024-10/A.B:C',
      name: 'Series A.B:C',
      frequency: 'quarterly',
      unit: 'percent',
      lastUpdated: '2024-11-01T00:00:00Z',
      observations: [
        { date: '2020-10-01', period: '2020-Q4', value: 1.5 },
        { date: '2021-01-01', period: '2021-Q1', value: null },
        { date: '2021-04-01', period: '2021-Q2', value: -2 },
      ],
    })
    // The tree is fetched once, however often one looks at it.
    expect(at.upstream.requests.filter(({ path }) => path === '/providers/IMF')).toHaveLength(1)
  })

  it('names the unit by the label of its code, and half years by their frequency', async () => {
    const half = {
      period: ['2024-S1'],
      period_start_day: ['2024-01-01'],
      value: [2.5],
      '@frequency': 'bi-annual',
    }
    const dataset = {
      dimensions_labels: { unit: 'Unit' },
      dimensions_values_labels: { unit: [['PC', 'Percent']] },
    }
    const docs = [{ series_code: 'Y', series_name: 'Name', dimensions: { unit: 'PC' }, ...half }]
    await using at = await open({ '/series': { body: { series: { docs }, dataset } } })
    expect(await at.connectors.series('dbnomics', 'P/X/Y')).toMatchObject({
      unit: 'Percent',
      frequency: 'semiannual',
      observations: [{ date: '2024-01-01', period: '2024-S1', value: 2.5 }],
    })
  })

  it('keeps to a range, which the provider knows nothing of', async () => {
    await using at = await open()
    const range = { start: '2021-01-01', end: '2021-03-31' }
    const { observations } = await at.connectors.series('dbnomics', 'IMF/WEO:2024-10/A.B:C', range)
    expect(observations).toEqual([{ date: '2021-01-01', period: '2021-Q1', value: null }])
  })

  it('lists the datasets of a provider without a tree, all pages of them', async () => {
    await using at = await open()
    expect(paths((await at.connectors.browse('dbnomics', 'FLAT')).categories)).toEqual(['FLAT/D1', 'FLAT/D2'])
  })

  it.each([
    ['an unknown series', {}, 'IMF/X/Y', 'series_not_found'],
    ['a 404', { '/series': { status: 404, body: { message: 'no' } } }, 'IMF/X/Y', 'series_not_found'],
    [
      'lists of unequal length',
      { '/series': { body: { series: { docs: [doc('Y', { period: ['2020'], value: [] })] } } } },
      'IMF/X/Y',
      'not_understood',
    ],
    [
      'another series in the answer',
      { '/series': { body: { series: { docs: [doc('Z')] } } } },
      'IMF/X/Y',
      'series_not_found',
    ],
    ['an id with too few parts', {}, 'IMF/X', 'invalid_series_id'],
    ['several ids', {}, 'IMF/X/Y,IMF/X/Z', 'invalid_series_id'],
  ])('tells %s', async (_, more, id, code) => {
    await using at = await open(more as Routes)
    expect(await failureOf(at.connectors.series('dbnomics', id))).toMatchObject({ code })
  })

  it.each(['IMF/~7', 'IMF/~x', 'NONE', 'a/b/c'])('does not know the path %s', async (path) => {
    await using at = await open()
    expect(await failureOf(at.connectors.browse('dbnomics', path))).toMatchObject({ code: 'path_not_found' })
  })
})

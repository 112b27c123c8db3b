import { describe, expect, it } from 'vitest'
import { failureOf, harness } from '../support/harness.ts'
import type { Routes } from '../support/upstream.ts'

const category = (values: Readonly<Record<string, string>>, more: object = {}) => ({
  index: Object.fromEntries(Object.keys(values).map((code, at) => [code, at])),
  label: values,
  ...more,
})
describe('an office with version 1 of the API', () => {
  const years = Array.from({ length: 20 }, (_, at) => String(2001 + at))
  const places = Array.from({ length: 500 }, (_, at) => String(8100 + at))
  /** As the Swiss office sends it: the codes of years are their positions, and nothing says which variable is time. */
  const metadata = {
    title: 'Population by Canton, Year',
    variables: [
      { code: 'Jahr', text: 'Year', values: years.map((_, at) => String(at)), valueTexts: years },
      {
        code: 'Kanton (-) / Bezirk (>>)',
        text: 'Canton',
        values: places,
        valueTexts: places.map((each) => `P ${each}`),
      },
    ],
  }
  type Query = readonly { code: string; selection: { filter: string; values: string[] } }[]
  const answer = (query: Query) => {
    const selected = query.find(({ code }) => code.startsWith('Kanton'))!.selection
    const codes = selected.filter === 'all' ? places : selected.values
    return {
      class: 'dataset',
      label: 'Population',
      source: 'FSO',
      updated: '2026-08-01T06:30:00Z',
      id: ['Jahr', 'Kanton (-) / Bezirk (>>)'],
      size: [years.length, codes.length],
      dimension: {
        Jahr: { label: 'Year', category: category(Object.fromEntries(years.map((year, at) => [at, year]))) },
        'Kanton (-) / Bezirk (>>)': {
          label: 'Canton',
          category: { index: codes, label: Object.fromEntries(codes.map((code) => [code, `P ${code}`])) },
        },
      },
      value: years.flatMap((year) => codes.map((code) => Number(year) * 10_000 + Number(code))),
    }
  }
  const bfs: Routes = {
    '/': { body: [{ dbid: 'px-x-1', text: 'Population' }] },
    '/px-x-1': {
      body: [{ id: 'px-x-1.px', type: 't', text: 'Population by canton', updated: '2026-08-01' }],
    },
    'GET /px-x-1/px-x-1.px': { body: metadata },
    'POST /px-x-1/px-x-1.px': ({ body }) => ({ body: answer((JSON.parse(body) as { query: Query }).query) }),
  }

  it('goes from a database and a table to a series', async () => {
    await using at = await harness('bfs', bfs)
    const root = await at.connectors.browse('bfs', '')
    expect(root.categories).toEqual([{ path: 'px-x-1', name: 'Population', description: '', series: false }])
    const { categories } = await at.connectors.browse('bfs', 'px-x-1')
    expect(categories).toMatchObject([
      { path: 'px-x-1/px-x-1.px', name: 'Population by canton', series: true },
    ])
    const { series, total } = await at.connectors.seriesList('bfs', categories[0]!.path, {
      limit: 1,
      offset: 499,
    })
    expect(total).toBe(500)
    expect(series).toMatchObject([
      { series_id: 'px-x-1/px-x-1.px/8599', name: 'P 8599', frequency: 'annual' },
    ])
    expect(await at.connectors.series('bfs', 'px-x-1/px-x-1.px/8599')).toMatchObject({
      name: 'Population by Canton, Year: P 8599',
      observations: years.map((year) => ({ date: `${year}-01-01`, value: Number(year) * 10_000 + 8599 })),
    })
    const asked = at.upstream.requests.find(({ method }) => method === 'POST')!
    expect(JSON.parse(asked.body)).toEqual({
      query: [
        { code: 'Kanton (-) / Bezirk (>>)', selection: { filter: 'item', values: ['8599'] } },
        { code: 'Jahr', selection: { filter: 'all', values: ['*'] } },
      ],
      response: { format: 'json-stat2' },
    })
  })

  it('divides what a wildcard selects into answers that are small enough', async () => {
    await using at = await harness('bfs', bfs)
    const { series } = await at.connectors.many([{ provider: 'bfs', id: 'px-x-1/px-x-1.px/*' }])
    expect(series.map(({ series_id }) => series_id.slice(-4))).toEqual(places)
    expect(series[499]!.observations.at(-1)).toMatchObject({ date: '2020-01-01', value: 20_208_599 })
    const sizes = at.upstream.requests
      .filter(({ method }) => method === 'POST')
      .map(({ body }) => (JSON.parse(body) as { query: Query }).query[0]!.selection.values.length)
    expect(sizes).toEqual([125, 125, 125, 125])
  })

  it('takes what is listed nowhere else from the index of tables, if there is one', async () => {
    await using at = await harness('statfin', {
      '/': ({ query }) => ({
        body: query.has('query')
          ? [{ id: 'statfin_khi_pxt_11xb.px', path: '/khi', title: 'Consumer price index', score: 1 }]
          : [{ id: 'khi', type: 'l', text: 'Consumer price index' }],
      }),
    })
    const found = await at.connectors.search('statfin', 'consumer', { limit: 5, offset: 0 })
    expect(found.categories).toMatchObject([{ path: 'statfin_khi_pxt_11xb.px', series: true }])
  })

  it('reads a table whose only variable is time, and the envelope of JSON-stat 1', async () => {
    const dimension = {
      Aasta: { label: 'Year', category: category({ 2024: '2024', 2025: '2025' }) },
      id: ['Aasta'],
      size: [2],
      role: { time: ['Aasta'] },
    }
    await using at = await harness('stat-ee', {
      'GET /IA001': {
        body: {
          title: 'Consumer price index',
          variables: [
            {
              code: 'Aasta',
              text: 'Year',
              values: ['2024', '2025'],
              valueTexts: ['2024', '2025'],
              time: true,
            },
          ],
        },
      },
      'POST /IA001': {
        body: { dataset: { label: 'CPI', dimension, value: [3.5, null], status: { 1: 'p' } } },
      },
    })
    const { series } = await at.connectors.seriesList('stat-ee', 'IA001', { limit: 5, offset: 0 })
    expect(series).toMatchObject([{ series_id: 'IA001' }])
    expect(await at.connectors.series('stat-ee', 'IA001')).toMatchObject({
      name: 'Consumer price index',
      observations: [
        { date: '2024-01-01', value: 3.5 },
        { date: '2025-01-01', value: null, status: 'p' },
      ],
    })
  })

  it.each([
    ['2026M08', '2026-08'],
    ['2026K3', '2026-Q3'],
    ['2026Q3', '2026-Q3'],
    ['2026U35', '2026-W35'],
    ['2026V30', '2026-W30'],
    ['2026W13', '2026-W13'],
    ['2026H1', '2026-S1'],
  ])('reads %s as the period %s', async (code, period) => {
    const variables = [{ code: 'Month', text: 'Month', values: [code], valueTexts: [code] }]
    const dimension = { Month: { label: 'Month', category: category({ [code]: code }) } }
    await using at = await harness('statice', {
      'GET /a/T.px': { body: { title: 'T', variables } },
      'POST /a/T.px': { body: { class: 'dataset', id: ['Month'], size: [1], dimension, value: [1] } },
    })
    const { observations } = await at.connectors.series('statice', 'a/T.px')
    expect(observations).toMatchObject([{ period, value: 1 }])
  })

  it('reads months beside years as one series', async () => {
    const named = { Aasta: ['2024', '2025'], Kuu: ['1', '2'], Kaubagrupp: ['1'] }
    const labels = { ...named, Kuu: ['January', 'February'], Kaubagrupp: ['Total'] }
    const ids = ['Aasta', 'Kaubagrupp', 'Kuu'] as const
    const variables = ids.map((id) => ({ code: id, text: id, values: named[id], valueTexts: labels[id] }))
    const dimension = Object.fromEntries(
      ids.map((id) => [
        id,
        {
          label: id,
          category: category(Object.fromEntries(named[id].map((code, at) => [code, labels[id][at]!]))),
        },
      ]),
    )
    const body = { class: 'dataset', id: ids, size: [2, 1, 2], dimension, value: [1, 2, 3, null] }
    await using at = await harness('stat-ee', {
      'GET /IA02': { body: { title: 'Consumer price index', variables } },
      'POST /IA02': { body },
    })
    const { series } = await at.connectors.seriesList('stat-ee', 'IA02', { limit: 5, offset: 0 })
    expect(series).toMatchObject([{ series_id: 'IA02/1', frequency: 'monthly', end: '2025-02-01' }])
    const { observations } = await at.connectors.series('stat-ee', 'IA02/1')
    expect(observations.map(({ period, value }) => [period, value])).toEqual([
      ['2024-01', 1],
      ['2024-02', 2],
      ['2025-01', 3],
      ['2025-02', null],
    ])
  })

  it('has no series where no variable is time, or at a folder', async () => {
    const variables = [{ code: 'Sex', text: 'Sex', values: ['1'], valueTexts: ['Men'] }]
    await using at = await harness('statice', {
      'GET /T.px': { body: { title: 'T', variables } },
      'GET /spans.px': {
        body: {
          title: 'T',
          variables: [
            { code: 'Tid', text: 'Year', values: ['2005-2009'], valueTexts: ['2005-2009'], time: true },
          ],
        },
      },
      'GET /folder': { body: [{ id: 'T.px', type: 't', text: 'T' }] },
      '*': { status: 400, body: '' },
    })
    expect((await failureOf(at.connectors.series('statice', 'T.px/1'))).message).toContain(
      'has no time dimension',
    )
    expect(await failureOf(at.connectors.series('statice', 'spans.px'))).toMatchObject({ status: 400 })
    expect(await failureOf(at.connectors.series('statice', 'folder'))).toMatchObject({
      code: 'series_not_found',
    })
    expect(await failureOf(at.connectors.browse('statice', 'nowhere'))).toMatchObject({
      code: 'path_not_found',
    })
  })
})

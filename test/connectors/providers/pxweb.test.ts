import { describe, expect, it } from 'vitest'
import { failureOf, harness } from '../support/harness.ts'
import type { Hit, Routes } from '../support/upstream.ts'

const table = (id: string, label: string, ...paths: string[]) => ({
  id,
  label,
  updated: '2025-02-25T07:00:00Z',
  firstPeriod: '2024K1',
  lastPeriod: '2024K4',
  category: 'public',
  variableNames: ['gender', 'contents', 'quarter'],
  source: 'Statistics Norway',
  timeUnit: 'Quarterly',
  paths: paths.map((path) => path.split('/').map((folder) => ({ id: folder, label: `Folder ${folder}` }))),
})
const category = (values: Readonly<Record<string, string>>, more: object = {}) => ({
  index: Object.fromEntries(Object.keys(values).map((code, at) => [code, at])),
  label: values,
  ...more,
})
const LABELS = { Kjonn: 'gender', Alder: 'age', ContentsCode: 'contents', Tid: 'quarter' }
const CODES: Readonly<Record<keyof typeof LABELS, Readonly<Record<string, string>>>> = {
  Kjonn: { 1: 'Males', 2: 'Females' },
  Alder: { '00-06': '0-6 years', '01.1': 'First', '80+': '80 years or older' },
  ContentsCode: { Personer: 'Persons' },
  Tid: { '2024K1': '2024K1', '2024K2': '2024K2' },
}

/** The answer of API v2 for some codes of each variable, as Statistics Norway sends it; values count from 0. */
function dataset(chosen: Partial<Record<keyof typeof LABELS, readonly string[]>> = {}) {
  const ids = Object.keys(LABELS) as (keyof typeof LABELS)[]
  const codes = ids.map((id) => chosen[id] ?? Object.keys(CODES[id]))
  const size = codes.map(({ length }) => length)
  return {
    version: '2.0',
    class: 'dataset',
    label: '05810: Population, by sex and age',
    source: 'Statistics Norway',
    updated: '2025-02-25T07:00:00Z',
    note: ['Preliminary figures.'],
    role: { time: ['Tid'], metric: ['ContentsCode'] },
    id: ids,
    size,
    dimension: Object.fromEntries(
      ids.map((id, at) => [
        id,
        {
          label: LABELS[id],
          category: category(
            Object.fromEntries(codes[at]!.map((code) => [code, CODES[id][code]!])),
            id === 'ContentsCode' ? { unit: { Personer: { base: 'number', decimals: 0 } } } : {},
          ),
          extension: {
            elimination: false,
            ...(id === 'ContentsCode' && { adjustment: { Personer: 'SesOnly' } }),
          },
        },
      ]),
    ),
    value: Array.from({ length: size.reduce((all, each) => all * each) }, (_, at) => at),
  }
}

const chosenBy = ({ body }: Hit) => {
  const { selection } = JSON.parse(body) as { selection: { variableCode: string; valueCodes: string[] }[] }
  return Object.fromEntries(
    selection.map(({ variableCode: id, valueCodes }) => [
      id,
      valueCodes[0] === '*' ? Object.keys(CODES[id as keyof typeof CODES]) : valueCodes,
    ]),
  )
}

const ssb: Routes = {
  '/tables': (hit) => {
    const pages = [
      [table('05810', 'Population, by sex and age', 'be/be05', 'in/in03')],
      [table('03013', 'Consumer Price Index', 'pp')],
    ]
    const page = Number(hit.query.get('pageNumber'))
    return { body: { tables: pages[page - 1], page: { pageNumber: page, pageSize: 1, totalPages: 2 } } }
  },
  '/tables/05810/metadata': { body: { ...dataset(), value: null } },
  'POST /tables/05810/data': (hit) => ({ body: dataset(chosenBy(hit)) }),
}

describe('an office with version 2 of the API', () => {
  it('goes from folders and a table to a series', async () => {
    await using at = await harness('ssb', ssb)
    const { connectors } = at
    const root = await connectors.browse('ssb', '')
    expect(root.categories).toEqual([
      { path: 'be', name: 'Folder be', description: '', series: false },
      { path: 'in', name: 'Folder in', description: '', series: false },
      { path: 'pp', name: 'Folder pp', description: '', series: false },
    ])
    const folder = await connectors.browse('ssb', 'in/in03')
    expect(folder.categories).toEqual([
      {
        path: 'in/in03/05810',
        name: 'Population, by sex and age',
        description: 'quarterly, 2024K1 to 2024K4',
        series: true,
      },
    ])
    const page = await connectors.seriesList('ssb', 'in/in03/05810', { limit: 2, offset: 1 })
    expect(page).toMatchObject({ total: 6 })
    expect(page.series).toEqual([
      {
        series_id: '05810/1.01.1.Personer',
        name: 'Males; First; Persons',
        frequency: 'quarterly',
        unit: null,
        start: '2024-01-01',
        end: '2024-04-01',
      },
      expect.objectContaining({ series_id: '05810/1.80+.Personer' }),
    ])
    expect(await connectors.series('ssb', page.series[1]!.series_id)).toMatchObject({
      name: '05810: Population, by sex and age: Males; 80 years or older; Persons',
      frequency: 'quarterly',
      unit: 'number',
      source: 'Statistics Norway',
      notes: 'Preliminary figures.',
      lastUpdated: '2025-02-25T07:00:00Z',
      seasonalAdjustment: 'Seasonally adjusted',
      dimensions: [
        { id: 'Kjonn', name: 'gender', code: '1', label: 'Males' },
        { id: 'Alder', name: 'age', code: '80+', label: '80 years or older' },
        { id: 'ContentsCode', name: 'contents', code: 'Personer', label: 'Persons' },
      ],
      observations: [
        { date: '2024-01-01', period: '2024-Q1', value: 0 },
        { date: '2024-04-01', period: '2024-Q2', value: 1 },
      ],
    })
    const asked = at.upstream.requests.find(({ method }) => method === 'POST')!
    expect(Object.fromEntries(asked.query)).toEqual({ lang: 'en', outputFormat: 'json-stat2' })
    expect(JSON.parse(asked.body)).toEqual({
      selection: [
        { variableCode: 'Kjonn', valueCodes: ['1'] },
        { variableCode: 'Alder', valueCodes: ['80+'] },
        { variableCode: 'ContentsCode', valueCodes: ['*'] },
        { variableCode: 'Tid', valueCodes: ['*'] },
      ],
    })
  })

  it.each([
    ['05810/*.00-06.Personer', ['1.00-06', '2.00-06']],
    ['05810/1+2.00-06+80+.Personer', ['1.00-06', '1.80+', '2.00-06', '2.80+']],
    ['05810/1..Personer', ['1.00-06', '1.01.1', '1.80+']],
    ['05810/2.80 .', ['2.80+']],
  ])('takes several series by %s', async (id, keys) => {
    await using at = await harness('ssb', ssb)
    const { series, missing } = await at.connectors.many([{ provider: 'ssb', id }])
    expect(missing).toEqual([])
    expect(series.map((one) => one.series_id)).toEqual(keys.map((key) => `05810/${key}.Personer`))
    expect(series.flatMap(({ observations }) => observations.map(({ value }) => value))).toEqual(
      Array.from({ length: 2 * keys.length }, (_, at) => at),
    )
  })

  it('has every table in the search', async () => {
    await using at = await harness('ssb', ssb)
    const found = await at.connectors.search('ssb', 'price', { limit: 5, offset: 0 })
    expect(found.categories).toMatchObject([{ path: '03013', name: 'Consumer Price Index' }])
  })

  it('leaves out the series of a wildcard that have no values', async () => {
    await using at = await harness('ssb', {
      ...ssb,
      'POST /tables/05810/data': (hit) => ({
        body: { ...dataset(chosenBy(hit)), value: { 0: 5 }, status: { 1: '..', 2: ':' } },
      }),
    })
    const { series } = await at.connectors.many([{ provider: 'ssb', id: '05810/*.80+.Personer' }])
    expect(series).toMatchObject([
      { series_id: '05810/1.80+.Personer', observations: [{ value: 5 }, { value: null }] },
    ])
    expect(series[0]!.observations[1]).not.toHaveProperty('status')
  })

  it.each([
    [
      '05810/1.Personer',
      'the table and a code of each of these variables, with points between them: gender, age, contents',
    ],
    ['05810/1.99.Personer', 'gender, age, contents'],
    ['05810', 'gender, age, contents'],
    ['05810/*.80+.Personer', 'one code of each variable, as 05810/0.999B.Personer'],
  ])('refuses %s as one series and says what one is', async (id, message) => {
    await using at = await harness('ssb', ssb)
    const failure = await failureOf(at.connectors.series('ssb', id))
    expect(failure).toMatchObject({ code: 'invalid_series_id', status: 404 })
    expect(failure.message).toContain(message)
  })

  it('says that a table is not there, and that a selection is too large', async () => {
    await using at = await harness('ssb', {
      ...ssb,
      '*': { status: 404, body: { type: 'Parameter error', title: 'Non-existent table', status: 404 } },
      'POST /tables/05810/data': {
        status: 403,
        body: { type: 'Parameter error', title: 'Too many cells selected', status: 403 },
      },
    })
    expect(await failureOf(at.connectors.series('ssb', '99999/1'))).toMatchObject({
      code: 'series_not_found',
    })
    expect(await failureOf(at.connectors.series('ssb', '05810/1.80+.Personer'))).toMatchObject({
      code: 'answer_too_large',
      message:
        "'05810/1.80+.Personer' selects too many cells of Statistics Norway. Write codes in place of some of its wildcards.",
    })
  })
})

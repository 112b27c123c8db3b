import { describe, expect, it } from 'vitest'
import { ConnectorError } from '../../../connectors/index.ts'
import { FORMATS } from '../support/formats.ts'
import { type HarnessOptions, harness } from '../support/harness.ts'
import type { Routes } from '../support/upstream.ts'

/** What a provider answers to the request for data, and the routes of its other requests. */
interface Answer {
  readonly slug: string
  readonly id: string
  readonly data: unknown
  /** The route of the data; default: all that no other one answers. */
  readonly path?: string
  readonly others?: Routes
}

const KEY = 'Ada ada@example.org'
const month = (at: number) => `2026-0${at}`

const CUBE = {
  class: 'dataset',
  label: 'Prices',
  source: 'Office',
  updated: '2026-03-01T06:00:00Z',
  note: ['a note'],
  role: { time: ['Tid'], metric: ['Contents'] },
  id: ['Contents', 'Tid'],
  size: [1, 2],
  dimension: {
    Contents: {
      label: 'contents',
      category: { index: { P: 0 }, label: { P: 'Price' }, unit: { P: { base: 'index' } } },
    },
    Tid: {
      label: 'month',
      category: { index: ['2026M01', '2026M02'], label: { '2026M01': '2026M01', '2026M02': '2026M02' } },
    },
  },
  value: [1.5, null],
  status: { 1: '..' },
}

const ANSWERS: readonly Answer[] = [
  {
    slug: 'fred',
    id: 'GDP',
    path: '/series/observations',
    others: { '/series': { body: { seriess: [{ id: 'GDP', title: 'GDP', frequency: 'Monthly' }] } } },
    data: { count: 2, observations: [1, 2].map((at) => ({ date: `${month(at)}-01`, value: String(at) })) },
  },
  {
    slug: 'bls',
    id: 'CUUR0000SA0',
    data: {
      status: 'REQUEST_SUCCEEDED',
      message: [],
      Results: {
        series: [
          {
            seriesID: 'CUUR0000SA0',
            data: [1, 2].map((at) => ({
              year: '2026',
              period: `M0${at}`,
              value: String(at),
              footnotes: [{}],
            })),
          },
        ],
      },
    },
  },
  {
    slug: 'worldbank',
    id: 'US/X',
    path: '/country/US/indicator/X',
    others: { '/indicator/X': { body: [{ page: 1, total: 1 }, [{ id: 'X', source: { id: '2' } }]] } },
    data: [
      { page: 1, pages: 1, per_page: 50, total: 2, lastupdated: '2026-01-01' },
      ['2024', '2025'].map((date, at) => ({
        indicator: { id: 'X', value: 'Demo' },
        country: { id: 'US', value: 'United States' },
        countryiso3code: 'USA',
        date,
        value: at,
      })),
    ],
  },
  {
    slug: 'bank-of-canada',
    id: 'V1',
    data: {
      seriesDetail: { V1: { label: 'Rate', description: 'd' } },
      observations: ['2026-01-05', '2026-01-06'].map((d) => ({ d, V1: { v: '3.5' } })),
    },
  },
  {
    slug: 'frankfurter',
    id: 'EUR/USD',
    others: { '/v1/currencies': { body: { EUR: 'Euro', USD: 'Dollar' } } },
    data: { base: 'EUR', rates: { '2026-01-05': { USD: 1.1 }, '2026-01-06': { USD: 1.2 } } },
  },
  {
    slug: 'dbnomics',
    id: 'BIS/cbpol/M.AU',
    data: {
      series: {
        docs: [
          {
            provider_code: 'BIS',
            dataset_code: 'cbpol',
            series_code: 'M.AU',
            series_name: 'Australia',
            '@frequency': 'monthly',
            period: [month(1), month(2)],
            value: [4, 'NA'],
          },
        ],
        num_found: 1,
        limit: 1,
        offset: 0,
      },
    },
  },
  {
    slug: 'alphavantage',
    id: 'TIME_SERIES_DAILY/IBM',
    data: {
      'Meta Data': { '2. Symbol': 'IBM', '3. Last Refreshed': '2026-01-06' },
      'Time Series (Daily)': { '2026-01-05': { '4. close': '1' }, '2026-01-06': { '4. close': '2' } },
    },
  },
  {
    slug: 'nasdaq',
    id: 'EOD/X',
    data: {
      dataset: {
        database_code: 'EOD',
        dataset_code: 'X',
        name: 'X',
        frequency: 'daily',
        column_names: ['Date', 'Close'],
        data: [
          ['2026-01-05', 1],
          ['2026-01-06', 2],
        ],
      },
    },
  },
  {
    slug: 'us-treasury',
    id: 'v2/accounting/od/debt_to_penny/tot_pub_debt_out_amt',
    data: {
      data: [{ record_date: '2026-01-05', tot_pub_debt_out_amt: '1.5' }],
      meta: { 'total-count': 1, 'total-pages': 1, labels: {}, dataTypes: {} },
    },
  },
  {
    slug: 'statcan',
    id: 'v1',
    path: '/getDataFromVectorsAndLatestNPeriods',
    data: [
      {
        status: 'SUCCESS',
        object: {
          responseStatusCode: 0,
          productId: 18100004,
          coordinate: '2.1.0.0.0.0.0.0.0.0',
          vectorId: 1,
          vectorDataPoint: [1, 2].map((at) => ({
            refPer: `${month(at)}-01`,
            value: at,
            decimals: 1,
            scalarFactorCode: 3,
            frequencyCode: 6,
          })),
        },
      },
    ],
  },
  {
    slug: 'eia',
    id: 'PET.X.M',
    data: {
      response: {
        total: '2',
        frequency: 'monthly',
        data: [1, 2].map((at) => ({ period: month(at), value: at, units: 'barrels' })),
      },
    },
  },
  {
    slug: 'bea',
    id: 'NIPA/T1/A1/Q',
    data: {
      BEAAPI: {
        Results: {
          Data: [
            {
              TableName: 'T1',
              SeriesCode: 'A1',
              LineNumber: '1',
              LineDescription: 'GDP',
              TimePeriod: '2026Q1',
              METRIC_NAME: 'M',
              CL_UNIT: 'Level',
              UNIT_MULT: '6',
              DataValue: '1,234',
              NoteRef: 'T1',
            },
          ],
          Notes: [{ NoteRef: 'T1', NoteText: 'a note' }],
        },
      },
    },
  },
  {
    slug: 'census',
    id: 'resconst/APERMITS.TOTAL.yes',
    data: [
      ['cell_value', 'data_type_code', 'error_data', 'category_code', 'seasonally_adj', 'time'],
      ['7', 'TOTAL', 'no', 'APERMITS', 'yes', month(1)],
    ],
  },
  {
    slug: 'sec',
    id: '1/us-gaap/Assets/USD',
    data: {
      cik: 1,
      entityName: 'EXAMPLE',
      label: 'Assets',
      description: 'd',
      units: { USD: [{ end: '2025-12-31', val: 5, form: '10-K', filed: '2026-02-01', frame: 'CY2025Q4I' }] },
    },
  },
  {
    slug: 'ssb',
    id: 'T/P',
    path: '/tables/T/data',
    others: { '/tables/T/metadata': { body: CUBE } },
    data: CUBE,
  },
  {
    slug: 'scb',
    id: 'T/P',
    path: '/tables/T/metadata',
    others: { '/tables/T/data': { body: CUBE } },
    data: CUBE,
  },
  {
    slug: 'statfin',
    id: 'a/T.px/P',
    path: 'GET /a/T.px',
    others: { 'POST /a/T.px': { body: CUBE } },
    data: {
      title: 'Prices',
      variables: [
        { code: 'Contents', text: 'contents', values: ['P'], valueTexts: ['Price'] },
        { code: 'Tid', text: 'month', values: ['2026M01', '2026M02'], valueTexts: ['a', 'b'], time: true },
      ],
    },
  },
  ...Object.entries(FORMATS).map(([, data]) => ({ slug: 'ecb', id: 'RATES/M.USD.S', data })),
]

type Damage = readonly [name: string, body: string, mayBeEmpty: boolean]

/** JSON without one of its values, with another one in its place, and with one more; each at every place. */
function* changed(text: string): Generator<Damage> {
  const places: (string | number)[][] = []
  const visit = (value: unknown, path: (string | number)[]) => {
    places.push(path)
    if (typeof value !== 'object' || value === null) return
    for (const [name, each] of Object.entries(value))
      visit(each, [...path, Array.isArray(value) ? Number(name) : name])
  }
  visit(JSON.parse(text), [])
  const with_ = (
    path: readonly (string | number)[],
    change: (at: Record<string, unknown>, name: string) => void,
  ) => {
    const whole = { '': JSON.parse(text) }
    let at = whole as Record<string, unknown>
    const names = ['', ...path.map(String)]
    for (const name of names.slice(0, -1)) at = at[name] as Record<string, unknown>
    change(at, names.at(-1)!)
    return JSON.stringify(whole[''] ?? null)
  }
  for (const path of places) {
    const name = path.join('.')
    yield [
      `null at ${name}`,
      with_(path, (at, key) => {
        at[key] = null
      }),
      false,
    ]
    yield [
      `no ${name}`,
      with_(path, (at, key) => (Array.isArray(at) ? at.splice(Number(key), 1) : delete at[key])),
      true,
    ]
    for (const other of [{}, [], '', 'x', 0, false, [null], { x: null }])
      yield [
        `${JSON.stringify(other)} at ${name}`,
        with_(path, (at, key) => {
          at[key] = other
        }),
        true,
      ]
    yield [
      `more at ${name}`,
      with_(path, (at, key) => {
        const value = at[key]
        if (Array.isArray(value)) value.push(null, {}, 'x')
        else if (typeof value === 'object' && value !== null)
          Object.assign(value, { x_extra: [null, { y: 1 }] })
      }),
      false,
    ]
  }
}

/** CSV and XML with cells, columns and attributes that are empty, missing or more. */
function* changedText(text: string): Generator<Damage> {
  const lines = text.split('\n')
  for (const at of lines.keys()) {
    yield [`without line ${at}`, lines.toSpliced(at, 1).join('\n'), true]
    yield [`an empty line ${at}`, lines.with(at, '').join('\n'), true]
    yield [`one cell more in line ${at}`, lines.with(at, `${lines[at]},x`).join('\n'), false]
  }
  yield ['one column more', lines.map((line) => (line === '' ? '' : `${line},x`)).join('\n'), false]
  yield ['a first column more', lines.map((line) => (line === '' ? '' : `x,${line}`)).join('\n'), false]
  for (const { 0: quoted, index } of text.matchAll(/"[^"]*"/g))
    yield [`an empty text at ${index}`, `${text.slice(0, index)}""${text.slice(index + quoted.length)}`, true]
}

function* damages(data: unknown): Generator<Damage> {
  const text = typeof data === 'string' ? data : JSON.stringify(data)
  yield ['nothing', '', false]
  yield ['blanks', ' \n', false]
  yield ['a mark alone', '\uFEFF', false]
  yield ['a page', '<!DOCTYPE html><html><body>Sorry</body></html>', false]
  yield ['an error', '{"error":{"code":500,"message":"Sorry"}}', false]
  for (const other of ['null', '[]', '{}', '0', '"x"', '[null]', '[[]]']) yield [other, other, false]
  for (let end = 1; end < text.length; end += Math.max(1, Math.floor(text.length / 40)))
    yield [`cut after ${end}`, text.slice(0, end), true]
  if (/^[[{]/.test(text)) yield* changed(text)
  else yield* changedText(text)
}

describe.each(ANSWERS)('a damaged answer of $slug for $id', ({ slug, id, data, path = '*', others = {} }) => {
  it('is read as what it has, or is an error that says what is wrong', { timeout: 120_000 }, async () => {
    let body: string
    const routes: Routes = { ...others, [path]: () => ({ type: 'text/plain', body }) }
    const causes: string[] = []
    const options: HarnessOptions = {
      ...(['fred', 'nasdaq', 'alphavantage', 'eia', 'bea', 'census', 'sec'].includes(slug) && { key: KEY }),
      retry: { attempts: 1 },
      cache: { absentSeconds: 0, freshSeconds: { [slug]: 0 }, staleSeconds: 0 },
      breaker: { failures: Number.MAX_SAFE_INTEGER },
      log: ({ cause }) => void causes.push(String(cause)),
    }
    await using at = await harness(slug, routes, {
      ...options,
      overrides: { [slug]: { limits: { windows: [], withKey: [] } } },
    })
    body = typeof data === 'string' ? data : JSON.stringify(data)
    expect((await at.connectors.series(slug, id)).observations.length).toBeGreaterThan(0)
    const wrong: string[] = []
    for (const [name, damaged, mayBeEmpty] of damages(data)) {
      body = damaged
      causes.length = 0
      try {
        const { observations } = await at.connectors.series(slug, id)
        if (observations.length === 0 && !mayBeEmpty) wrong.push(`${name}: an empty series`)
        if (observations.some(({ date }) => !/^\d{4}-\d{2}-\d{2}$/.test(date))) wrong.push(`${name}: a date`)
      } catch (error) {
        if (!(error instanceof ConnectorError)) wrong.push(`${name}: ${error}`)
      }
      const bug = causes.find((cause) => /\b(Type|Range|Reference)Error\b/.test(cause))
      if (bug !== undefined) wrong.push(`${name}: ${bug}`)
    }
    expect(wrong).toEqual([])
  })
})

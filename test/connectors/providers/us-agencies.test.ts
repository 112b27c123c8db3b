import { describe, expect, it } from 'vitest'
import { failureOf, harness } from '../support/harness.ts'

const PAGE = { limit: 10, offset: 0 }

describe('BEA', () => {
  const row = (code: string, line: string, time: string, value: string, more = {}) => ({
    TableName: 'T10105',
    SeriesCode: code,
    LineNumber: line,
    LineDescription: 'Gross domestic product',
    TimePeriod: time,
    METRIC_NAME: 'Current Dollars',
    CL_UNIT: 'Level',
    UNIT_MULT: '6',
    DataValue: value,
    NoteRef: 'T10105',
    ...more,
  })
  const answer = (Results: object) => ({ '/': { body: { BEAAPI: { Request: {}, Results } } } })
  const data = {
    UTCProductionTime: '2026-03-26T12:30:00.000',
    Data: [
      row('A191RC', '1', '2024Q2', '29,016,714'),
      row('A191RC', '1', '2024Q1', '28,624,069'),
      row('A191RC', '30', '2024Q1', '1'),
      row('A191RL', '2', '2024Q1', '1.6', { CL_UNIT: 'Percent change, annual rate', UNIT_MULT: '0' }),
    ],
    Notes: [{ NoteRef: 'T10105', NoteText: 'Table 1.1.5. Gross Domestic Product' }],
  }

  it('reads a line of a table, once, in the unit that it is given in', async () => {
    await using at = await harness('bea', answer(data), { key: 'k' })
    expect(await at.connectors.series('bea', 'NIPA/T10105/A191RC/Q')).toMatchObject({
      name: 'Gross domestic product',
      frequency: 'quarterly',
      unit: 'Current Dollars, millions',
      notes: 'Table 1.1.5. Gross Domestic Product',
      observations: [
        { date: '2024-01-01', period: '2024-Q1', value: 28_624_069 },
        { date: '2024-04-01', period: '2024-Q2', value: 29_016_714 },
      ],
    })
    expect(Object.fromEntries(at.upstream.requests[0]!.query)).toEqual({
      UserID: 'k',
      method: 'GetData',
      DatasetName: 'NIPA',
      TableName: 'T10105',
      Year: 'ALL',
      Frequency: 'Q',
      ResultFormat: 'JSON',
    })
    expect(await at.connectors.series('bea', 'NIPA/T10105/A191RL/Q')).toMatchObject({
      unit: 'Percent change, annual rate',
    })
    expect(await failureOf(at.connectors.series('bea', 'NIPA/T10105/NOPE/Q'))).toMatchObject({ status: 404 })
    const { series, total } = await at.connectors.seriesList('bea', 'NIPA/T10105', PAGE)
    expect([total, series.map(({ series_id }) => series_id)]).toEqual([
      2,
      ['NIPA/T10105/A191RC/Q', 'NIPA/T10105/A191RL/Q'],
    ])
  })

  it('gives all values in one unit where the multiple changes', async () => {
    const Data = [
      row('A191RC', '1', '2024Q1', '28,624.069', { UNIT_MULT: '9' }),
      row('A191RC', '1', '2024Q2', '29,016,714'),
    ]
    await using at = await harness('bea', answer({ ...data, Data }), { key: 'k' })
    const { unit, observations } = await at.connectors.series('bea', 'NIPA/T10105/A191RC/Q')
    expect(unit).toBe('Current Dollars, billions')
    expect(observations.map(({ value }) => value)).toEqual([28_624.069, 29_016.714])
  })

  it('lists datasets and their tables', async () => {
    const tables = answer({ ParamValue: [{ TableName: 'T10105', Description: 'Table 1.1.5. GDP (A) (Q)' }] })
    await using at = await harness('bea', tables, { key: 'k' })
    expect((await at.connectors.browse('bea', '')).categories[0]).toMatchObject({ path: 'NIPA' })
    expect((await at.connectors.browse('bea', 'NIPA')).categories).toEqual([
      { path: 'NIPA/T10105', name: 'Table 1.1.5. GDP (A) (Q)', description: '', series: true },
    ])
    for (const path of ['Nothing', 'constructor']) {
      expect(await failureOf(at.connectors.browse('bea', path))).toMatchObject({ status: 404 })
      expect(await failureOf(at.connectors.seriesList('bea', path, PAGE))).toMatchObject({ status: 404 })
    }
  })

  it.each([
    ['The BEA API UserID provided in the request does not exist.', 'key_rejected', 400],
    ['Rate limit exceeded.', 'provider_limit', 429],
    ['The value of parameter TableName is invalid.', 'series_not_found', 404],
  ])('understands %j beside status 200', async (text, code, status) => {
    const told = { Error: { APIErrorCode: '1', APIErrorDescription: text } }
    await using at = await harness('bea', answer(told), { key: 'k' })
    expect(await failureOf(at.connectors.series('bea', 'NIPA/T10105/A191RC/Q'))).toMatchObject({
      code,
      status,
    })
  })
})

describe('a figure that BEA does not publish', () => {
  const row = (TimePeriod: string, DataValue: string, NoteRef: string) => {
    return { TableName: 'T', SeriesCode: 'C', LineNumber: '1', TimePeriod, DataValue, NoteRef }
  }

  it('is missing for the reason that its note gives, also where its value is 0', async () => {
    const Data = [row('2022', '0', 'T'), row('2023', '0', 'T,(D)'), row('2024', '(NM)', 'T')]
    await using at = await harness('bea', { '*': { body: { BEAAPI: { Results: { Data } } } } }, { key: 'k' })
    expect((await at.connectors.series('bea', 'NIPA/T/C/A')).observations).toMatchObject([
      { value: 0 },
      { value: null, status: 'missing, confidential' },
      { value: null, status: 'missing, not meaningful' },
    ])
  })
})

describe('the Census Bureau', () => {
  const NAMES = [
    'cell_value',
    'data_type_code',
    'time_slot_id',
    'error_data',
    'category_code',
    'seasonally_adj',
  ]
  const row = (value: string, time: string, isError = 'no') => [
    value,
    'TOTAL',
    '0',
    isError,
    'APERMITS',
    'yes',
    'TOTAL',
    'APERMITS',
    'yes',
    time,
    '1',
  ]
  const body = [
    [...NAMES, 'data_type_code', 'category_code', 'seasonally_adj', 'time', 'us'],
    row('1508', '2024-02'),
    row('1,477', '2024-01'),
    row('2.1', '2024-01', 'yes'),
    row('(NA)', '2024-03'),
  ]
  const path = '/timeseries/eits/resconst'

  it('reads values without their sampling errors', async () => {
    await using at = await harness('census', { [path]: { body } }, { key: 'k' })
    expect(
      await at.connectors.series('census', 'resconst/APERMITS.TOTAL.yes', { start: '2024-01-01' }),
    ).toMatchObject({
      name: 'New residential construction: APERMITS, TOTAL, seasonally adjusted',
      frequency: 'monthly',
      seasonalAdjustment: 'Seasonally adjusted',
      observations: [
        { date: '2024-01-01', period: '2024-01', value: 1477 },
        { date: '2024-02-01', period: '2024-02', value: 1508 },
        { date: '2024-03-01', period: '2024-03', value: null, status: 'missing, not available' },
      ],
    })
    expect(Object.fromEntries(at.upstream.requests[0]!.query)).toMatchObject({
      category_code: 'APERMITS',
      data_type_code: 'TOTAL',
      seasonally_adj: 'yes',
      time: 'from 2024',
      for: 'us:*',
      key: 'k',
    })
    const { series } = await at.connectors.seriesList('census', 'resconst', PAGE)
    expect(await failureOf(at.connectors.browse('census', 'constructor'))).toMatchObject({ status: 404 })
    expect(series.map(({ series_id }) => series_id)).toEqual(['resconst/APERMITS.TOTAL.yes'])
  })

  it('asks for the columns of taxes in capitals, and reads quarters', async () => {
    const body = [
      ['CELL_VALUE', 'DATA_TYPE_CODE', 'ERROR_DATA', 'CATEGORY_CODE', 'SEASONALLY_ADJ', 'time', 'us'],
      ['412345', 'T40', 'no', 'QTAXCAT1', 'no', '2026-Q1', '1'],
    ]
    await using at = await harness('census', { '/timeseries/eits/qtax': { body } }, { key: 'k' })
    expect(await at.connectors.series('census', 'qtax/QTAXCAT1.T40.no')).toMatchObject({
      name: 'Quarterly summary of state and local tax revenue: QTAXCAT1, T40, not seasonally adjusted',
      frequency: 'quarterly',
      observations: [{ date: '2026-01-01', period: '2026-Q1', value: 412_345 }],
    })
    expect(Object.fromEntries(at.upstream.requests[0]!.query)).toEqual({
      get: 'CELL_VALUE,DATA_TYPE_CODE,ERROR_DATA,CATEGORY_CODE,SEASONALLY_ADJ',
      CATEGORY_CODE: 'QTAXCAT1',
      DATA_TYPE_CODE: 'T40',
      SEASONALLY_ADJ: 'no',
      time: 'from 1940',
      for: 'us:*',
      key: 'k',
    })
    const { series } = await at.connectors.seriesList('census', 'qtax', PAGE)
    expect(series.map(({ series_id }) => series_id)).toEqual(['qtax/QTAXCAT1.T40.no'])
  })

  it.each(['ftdadv', 'mhs2', 'mrtsadv', 'qtax'])('has the program %s', async (program) => {
    await using at = await harness('census', {}, { key: 'k' })
    const { categories } = await at.connectors.browse('census', '')
    expect(categories.map((one) => one.path)).toContain(program)
  })

  it.each([
    ['nothing', { status: 204 }, 404],
    ['an unknown code', { status: 400, body: "error: unknown predicate variable: 'x'" }, 404],
    ['a bad key', { type: 'text/html', body: '<html><head><title>Invalid Key</title>' }, 400],
  ])('understands %s', async (_, reply, status) => {
    await using at = await harness('census', { [path]: reply }, { key: 'k' })
    expect(await failureOf(at.connectors.series('census', 'resconst/APERMITS.TOTAL.yes'))).toMatchObject({
      status,
    })
  })
})

describe('the SEC', () => {
  const fact = (end: string, val: number, frame?: string) => ({
    end,
    val,
    accn: '0000320193-24-000123',
    fy: 2024,
    fp: 'FY',
    form: '10-K',
    filed: '2024-11-01',
    ...(frame && { frame }),
  })
  const units = {
    USD: [
      fact('2023-09-30', 380, 'CY2023'),
      fact('2023-12-30', 119, 'CY2023Q4'),
      fact('2023-12-30', 118),
      fact('2024-03-30', 90, 'CY2024Q1'),
    ],
    'USD/shares': [fact('2024-03-30', 1.5, 'CY2024Q1I')],
  }
  const concept = {
    cik: 320193,
    taxonomy: 'us-gaap',
    tag: 'Revenues',
    label: 'Revenues',
    description: 'Amount of revenue.',
    entityName: 'Apple Inc.',
    units,
  }
  const routes = {
    '/companyconcept/CIK0000320193/us-gaap/Revenues.json': { body: concept },
    '/companyfacts/CIK0000320193.json': {
      body: { entityName: 'Apple Inc.', facts: { 'us-gaap': { Revenues: { label: 'Revenues', units } } } },
    },
  }
  const key = 'Example Ltd. ann@example.org'

  it('has one value for each calendar period, the one that was filed last, and is told who asks', async () => {
    await using at = await harness('sec', routes, { key })
    expect(await at.connectors.series('sec', '320193/us-gaap/Revenues/USD')).toMatchObject({
      name: 'Apple Inc.: Revenues',
      unit: 'USD',
      frequency: 'quarterly',
      source: 'Apple Inc.',
      lastUpdated: '2024-11-01',
      observations: [
        { date: '2023-10-01', period: '2023-Q4', value: 119 },
        { date: '2024-01-01', period: '2024-Q1', value: 90 },
      ],
    })
    expect((await at.connectors.series('sec', '320193/us-gaap/Revenues/USD/A')).observations).toEqual([
      { date: '2023-01-01', period: '2023', value: 380 },
    ])
    expect((await at.connectors.series('sec', '320193/us-gaap/Revenues/USD-shares')).unit).toBe('USD/shares')
    expect(at.upstream.requests.map(({ headers }) => headers['user-agent'])).toEqual([key, key, key])
    expect(await failureOf(at.connectors.series('sec', '320193/us-gaap/Revenues/EUR'))).toMatchObject({
      status: 404,
    })
  })

  describe('without a calendar frame for any fact of a concept', () => {
    const reported = (start: string | undefined, end: string, val: number, filed: string) => ({
      ...(start && { start }),
      end,
      val,
      filed,
      form: '10-Q',
    })
    const open = (...facts: unknown[]) =>
      harness(
        'sec',
        {
          '/companyconcept/CIK0000320193/us-gaap/Revenues.json': {
            body: { ...concept, units: { USD: facts } },
          },
        },
        { key },
      )
    const id = '320193/us-gaap/Revenues/USD'

    it('tells quarters and years from its days, and takes the figure that was filed last', async () => {
      await using at = await open(
        reported('2022-09-25', '2022-12-31', 117, '2023-02-03'),
        reported('2023-10-01', '2023-12-30', 119, '2024-02-02'),
        reported('2022-09-25', '2022-12-31', 116, '2024-02-02'),
        reported('2022-09-25', '2022-12-31', 115, '2023-05-05'),
        reported('2022-09-25', '2023-04-01', 212, '2023-05-05'),
        reported('2022-09-25', '2023-09-30', 383, '2023-11-03'),
      )
      expect(await at.connectors.series('sec', id)).toMatchObject({
        frequency: 'quarterly',
        lastUpdated: '2024-02-02',
        observations: [
          { date: '2022-10-01', period: '2022-Q4', value: 116 },
          { date: '2023-10-01', period: '2023-Q4', value: 119 },
        ],
      })
      expect((await at.connectors.series('sec', `${id}/A`)).observations).toEqual([
        { date: '2023-01-01', period: '2023', value: 383 },
      ])
    })

    it('gives a moment to the quarter whose end is nearest', async () => {
      await using at = await open(
        reported(undefined, '2023-12-31', 1, '2024-02-02'),
        reported(undefined, '2024-04-30', 2, '2024-05-02'),
      )
      expect((await at.connectors.series('sec', id)).observations).toMatchObject([
        { period: '2023-Q4', value: 1 },
        { period: '2024-Q1', value: 2 },
      ])
    })

    it('refuses figures of spans that are no periods, and says so', async () => {
      await using at = await open(
        reported('2022-09-25', '2023-04-01', 212, '2023-05-05'),
        reported('2023-13-01', '2023-04-01', 212, '2023-05-05'),
      )
      expect(await failureOf(at.connectors.series('sec', id))).toMatchObject({
        status: 404,
        message:
          "SEC has '320193/us-gaap/Revenues/USD', but not as a series: " +
          'none of its figures is for a quarter, a year or one moment.',
      })
    })
  })

  it('lists the concepts of a company', async () => {
    await using at = await harness('sec', routes, { key })
    expect((await at.connectors.browse('sec', '320193')).categories).toMatchObject([
      { path: '320193/us-gaap' },
    ])
    expect(await at.connectors.seriesList('sec', '320193/us-gaap', PAGE)).toMatchObject({
      total: 2,
      series: [{ series_id: '320193/us-gaap/Revenues/USD', start: '2023-09-30', end: '2024-03-30' }, {}],
    })
    for (const path of ['320193/ifrs-full', '320193/constructor']) {
      expect(await failureOf(at.connectors.seriesList('sec', path, PAGE))).toMatchObject({ status: 404 })
    }
  })
})

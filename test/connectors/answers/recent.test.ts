import { describe, expect, it } from 'vitest'
import { tableOf } from '../../../connectors/table.ts'
import { failureOf, harness } from '../support/harness.ts'
import type { Routes } from '../support/upstream.ts'

const csv = (body: string) => ({ type: 'text/csv', body })
const page = (status: number) => ({ status, type: 'text/html', body: '<html><h1>Bad Request</h1></html>' })

describe('an attribute for confidentiality', () => {
  const head = 'DATAFLOW,LAST UPDATE,freq,unit,geo,TIME_PERIOD,OBS_VALUE,OBS_FLAG,CONF_STATUS\n'
  const row = (period: string, rest: string) => `ESTAT:D(1.0),28/11/26 11:00:00,A,NR,DE,${period},${rest}\n`

  it('makes the status, also beside a flag, and says nothing where the value is free', async () => {
    const body =
      head +
      row('2020', ',,C') +
      row('2021', '5,,') +
      row('2022', '6,p,F') +
      row('2023', ',b,C') +
      row('2024', ',c,C')
    await using at = await harness('eurostat', { '/sdmx/2.1/data/D/A.NR.DE': csv(body) })
    const { observations } = await at.connectors.series('eurostat', 'D/A.NR.DE')
    expect(observations.map(({ value, status }) => [value, status])).toEqual([
      [null, 'confidential'],
      [5, undefined],
      [6, 'provisional'],
      [null, 'break, confidential'],
      [null, 'confidential'],
    ])
  })

  it('is read under the name of the ECB, and for a missing value whatever the reason', async () => {
    const body =
      'KEY,FREQ,AREA,TIME_PERIOD,OBS_VALUE,OBS_STATUS,OBS_CONF,TITLE\n' +
      'D.A.DE,A,DE,2023,7,A,F,T\nD.A.DE,A,DE,2024,,A,N,T\nD.A.DE,A,DE,2025,8,A,N,T\n'
    await using at = await harness('ecb', { '/data/D/A.DE': csv(body) })
    const { observations } = await at.connectors.series('ecb', 'D/A.DE')
    expect(observations.map(({ status }) => status)).toEqual([undefined, 'confidential', undefined])
  })
})

describe('names in columns beside the codes', () => {
  const body = (
    more = '',
  ) => `REF_AREA,Geographic area,INDICATOR,Indicator,SEX,Sex,UNIT_MEASURE,Unit of measure,TIME_PERIOD,OBS_VALUE,OBS_STATUS,Observation Status
AAA,Land A,IND_1,Rate one,_T,Total,PER_1000,"Cases per 1,000",2020,6.5,A,Normal value
AAA,Land A,IND_1,Rate one,_T,Total,PER_1000,"Cases per 1,000",2021,6.25,P,Provisional value
${more}`

  it('name the series, its unit and its dimensions', async () => {
    await using at = await harness('unicef', { '*': csv(body()) })
    const series = await at.connectors.series('unicef', 'FLOW/AAA.IND_1._T')
    expect(series).toMatchObject({ unit: 'Cases per 1,000' })
    expect(series.name).toContain('Land A, Rate one, Total')
    expect(series.dimensions).toMatchObject([
      { id: 'REF_AREA', code: 'AAA', label: 'Land A' },
      { id: 'INDICATOR', code: 'IND_1', label: 'Rate one' },
      { id: 'SEX', code: '_T', label: 'Total' },
    ])
    expect(series.observations).toMatchObject([{ value: 6.5 }, { value: 6.25, status: 'provisional' }])
    expect(series.observations[0]).not.toHaveProperty('status')
  })

  it('are told from columns of their own, whose values differ under one code', async () => {
    const mixed = 'FREQ,area,TIME_PERIOD,OBS_VALUE\nA,DE,2020,1\nA,FR,2020,2\n'
    await using at = await harness('unicef', { '*': csv(mixed) })
    const series = await at.connectors.series('unicef', 'FLOW/A.FR').catch((error: Error) => error)
    expect(series).toMatchObject({ observations: [{ value: 2 }] })
  })
})

describe('an extraction in the queue of Eurostat', () => {
  const DATA = '/sdmx/2.1/data/D/A.DE'
  const ready = csv('DATAFLOW,freq,geo,TIME_PERIOD,OBS_VALUE\nESTAT:D(1.0),A,DE,2020,5\n')
  const queued = (status: string) =>
    `<S:Envelope xmlns:S="s"><S:Body><e:syncResponse xmlns:e="e"><queued><id>11-aa</id><status>${status}</status></queued></e:syncResponse></S:Body></S:Envelope>`
  const timeouts = { queueMs: 64 }

  it.each([200, 413])('is asked for until it is ready, after status %i', async (status) => {
    const states = ['SUBMITTED', 'PROCESSING', 'AVAILABLE']
    const routes: Routes = {
      [DATA]: { status, type: 'application/xml', body: queued('SUBMITTED') },
      '/1.0/async/status/11-aa': () => ({ type: 'application/xml', body: queued(states.shift()!) }),
      '/1.0/async/data/11-aa': ready,
    }
    await using at = await harness('eurostat', routes, { timeouts })
    const { observations } = await at.connectors.series('eurostat', 'D/A.DE')
    expect(observations).toMatchObject([{ value: 5 }])
    expect(states).toEqual([])
  })

  it.each([
    [200, { warning: { status: 413, label: 'ASYNCHRONOUS_RESPONSE. Please try again later.' } }],
    [413, { error: [{ status: 413, label: 'ASYNCHRONOUS_RESPONSE. Please try again later.' }] }],
  ])('without an id is asked for again, after status %i', async (status, body) => {
    let count = 0
    await using at = await harness(
      'eurostat',
      { [DATA]: () => (++count < 3 ? { status, body } : ready) },
      { timeouts },
    )
    const { observations } = await at.connectors.series('eurostat', 'D/A.DE')
    expect([observations.length, count]).toEqual([1, 3])
  })

  it('is told as slow if it takes too long, and as not understood if it is gone', async () => {
    const fails = async (status: string) => {
      const body = { type: 'application/xml', body: queued(status) }
      await using at = await harness(
        'eurostat',
        { [DATA]: body, '/1.0/async/status/11-aa': body },
        { timeouts },
      )
      return await failureOf(at.connectors.series('eurostat', 'D/A.DE'))
    }
    expect(await fails('PROCESSING')).toMatchObject({
      code: 'provider_slow',
      message: expect.stringContaining("Eurostat is still preparing 'D/A.DE'."),
    })
    expect(await fails('EXPIRED')).toMatchObject({ code: 'not_understood' })
  })

  it('is too large if Eurostat refuses it', async () => {
    const body =
      '<S:Fault xmlns:S="s"><faultcode>413</faultcode><faultstring>EXTRACTION_TOO_BIG</faultstring></S:Fault>'
    await using at = await harness('eurostat', { [DATA]: { status: 413, body } }, { timeouts })
    expect(await failureOf(at.connectors.series('eurostat', 'D/A.DE'))).toMatchObject({
      code: 'answer_too_large',
    })
    expect(at.upstream.requests).toHaveLength(1)
  })
})

describe('hours of local time at the EIA', () => {
  const open = (data: object[], frequency = 'local-hourly') =>
    harness(
      'eia',
      { '*': { body: { response: { total: String(data.length), frequency, data } } } },
      { key: 'k' },
    )
  const hour = (period: string, value: string) => ({ period, value, 'value-units': 'megawatthours' })

  it('carry their offset, so that both hours stay apart when summer time ends', async () => {
    await using at = await open([
      hour('2026-11-01T02-05', '4'),
      hour('2026-11-01T01-05', '3'),
      hour('2026-11-01T01-04', '2'),
      hour('2026-11-01T00-04', '1'),
    ])
    const series = await at.connectors.series('eia', 'EBA.X.D.HL')
    expect(series.frequency).toBe('intraday')
    expect(series.observations).toEqual([
      { date: '2026-11-01', period: '2026-11-01T00:00-04:00', value: 1 },
      { date: '2026-11-01', period: '2026-11-01T01:00-04:00', value: 2 },
      { date: '2026-11-01', period: '2026-11-01T01:00-05:00', value: 3 },
      { date: '2026-11-01', period: '2026-11-01T02:00-05:00', value: 4 },
    ])
    const { rows } = tableOf([{ ...series, provider: 'eia' }], 'wide', false)
    expect(rows.map(([, period, value]) => [period, value])).toEqual([
      ['2026-11-01T00:00-04:00', 1],
      ['2026-11-01T01:00-04:00', 2],
      ['2026-11-01T01:00-05:00', 3],
      ['2026-11-01T02:00-05:00', 4],
    ])
  })

  it('are in the order of time east of Greenwich as well', async () => {
    await using at = await open([hour('2026-10-25T02+01', '2'), hour('2026-10-25T02+02', '1')])
    const { observations } = await at.connectors.series('eia', 'EBA.X.D.HL')
    expect(observations.map(({ value }) => value)).toEqual([1, 2])
  })

  it('are hours too in an id that ends with H, where the answer names no frequency', async () => {
    await using at = await open([hour('2026-11-01T05', '1')], '')
    expect((await at.connectors.series('eia', 'EBA.X.D.H')).frequency).toBe('intraday')
  })

  it('have the meaning of the marks that stand for values', async () => {
    const marks = ['W', 'NM', 'NA', '-', '--', '7']
    await using at = await open(
      marks.map((value, month) => hour(`2026-0${month + 1}`, value)),
      'monthly',
    )
    const { observations } = await at.connectors.series('eia', 'ELEC.X.M')
    expect(observations.map(({ value, status }) => [value, status])).toEqual([
      [null, 'missing, withheld'],
      [null, 'missing, not meaningful'],
      [null, 'missing, not available'],
      [null, 'missing, not reported'],
      [null, 'missing, not applicable'],
      [7, undefined],
    ])
  })
})

describe('a figure of a company in several documents', () => {
  const fact = (form: string, filed: string, val: number, more: object = {}) => ({
    start: '2025-01-01',
    end: '2025-12-31',
    val,
    form,
    filed,
    ...more,
  })
  const open = (...facts: object[]) =>
    harness(
      'sec',
      { '*': { body: { entityName: 'EXAMPLE', label: 'Net income', units: { USD: facts } } } },
      { key: 'Ada a@example.org' },
    )
  const ID = '1/us-gaap/NetIncomeLoss/USD/A'
  const proxy = fact('DEF 14A', '2026-04-07', 319_000, { frame: 'CY2025' })

  it('is that of the annual report, and what contradicts it later is told', async () => {
    await using at = await open(fact('10-K', '2026-02-25', 319_000_000), proxy)
    expect((await at.connectors.series('sec', ID)).observations).toEqual([
      {
        date: '2025-01-01',
        period: '2025',
        value: 319_000_000,
        status: 'contradicted by DEF 14A of 2026-04-07: 319000',
      },
    ])
  })

  it.each(['10-K/A', '10-KT', '20-F', '40-F', '40-F/A'])('may be amended by a later %s', async (form) => {
    await using at = await open(
      fact('10-K', '2026-02-25', 1),
      proxy,
      fact(form, '2026-05-01', 2, { frame: 'CY2025' }),
    )
    const { observations } = await at.connectors.series('sec', ID)
    expect(observations).toEqual([{ date: '2025-01-01', period: '2025', value: 2 }])
  })

  it('is that of another document if there is no report, and has no status where both agree', async () => {
    await using alone = await open(proxy)
    expect((await alone.connectors.series('sec', ID)).observations).toMatchObject([{ value: 319_000 }])
    await using same = await open(fact('10-K', '2026-02-25', 319_000), proxy)
    expect((await same.connectors.series('sec', ID)).observations).toEqual([
      { date: '2025-01-01', period: '2025', value: 319_000 },
    ])
  })

  it('is as it was filed until a day, and not there before', async () => {
    await using at = await open(
      fact('10-K', '2026-02-25', 1),
      fact('10-K/A', '2026-05-01', 2, { frame: 'CY2025' }),
    )
    const asOf = async (day: string) =>
      (await at.connectors.series('sec', ID, { asOf: day })).observations.map(({ value }) => value)
    expect(await asOf('2026-02-25')).toEqual([1])
    expect(await asOf('2026-05-01')).toEqual([2])
    expect(await failureOf(at.connectors.series('sec', ID, { asOf: '2026-02-24' }))).toMatchObject({
      code: 'series_not_found',
      message: expect.stringContaining('as they were on that day'),
    })
  })
})

describe('an indicator of the World Bank in another database', () => {
  const missing = { body: [{ message: [{ id: '175', key: 'Invalid format', value: '(not found)' }] }] }
  const head = { page: 1, pages: 1, per_page: 20000, total: 1 }
  const about = (source: string) => ({
    body: [head, [{ id: '123.T', name: 'Demo', unit: '', source: { id: source, value: 'x' } }]],
  })
  const data = {
    body: [
      head,
      [
        {
          indicator: { id: '123.T', value: 'Demo' },
          country: { id: '1W', value: 'World' },
          countryiso3code: 'WLD',
          date: '2017',
          value: 5,
        },
      ],
    ],
  }
  const routes = (source: string): Routes => ({
    '/indicator/123.T': about(source),
    '/indicator': about(source),
    '/source/78/indicator': about(source),
    '/country': { body: [head, [{ id: 'WLD', name: 'World' }]] },
    '/country/WLD/indicator/123.T': ({ query }) => ((query.get('source') ?? '2') === source ? data : missing),
  })

  it('is asked for there, as lists and searches name it', async () => {
    await using at = await harness('worldbank', routes('78'))
    const { connectors } = at
    const list = await connectors.seriesList('worldbank', 'source/78', { limit: 1, offset: 0 })
    const countries = await connectors.seriesList('worldbank', 'source/78/123.T', { limit: 1, offset: 0 })
    const found = await connectors.search('worldbank', 'demo', { limit: 1, offset: 0 })
    const ids = [list, countries, found].map(({ series }) => series[0]!.series_id)
    expect(ids).toEqual(['WLD/123.T', 'WLD/123.T', 'WLD/123.T'])
    expect((await connectors.series('worldbank', ids[0]!)).observations).toMatchObject([{ value: 5 }])
  })

  it('is asked for without a source in the main one', async () => {
    await using at = await harness('worldbank', routes('2'))
    await at.connectors.series('worldbank', 'WLD/123.T')
    expect(at.upstream.requests.at(-1)!.query.has('source')).toBe(false)
  })
})

describe('a refusal', () => {
  it('as a page with 400 means that there is no such series', async () => {
    for (const slug of ['worldbank', 'fred', 'bank-of-canada', 'eurostat']) {
      const id = { worldbank: 'US/X', eurostat: 'D/A.B' }[slug] ?? 'X'
      await using at = await harness(slug, { '*': page(400) }, slug === 'fred' ? { key: 'k' } : {})
      expect((await failureOf(at.connectors.series(slug, id))).status, slug).toBe(404)
    }
  })

  it('of Nasdaq with a code of syntax is none of ours', async () => {
    const body = {
      quandl_error: { code: 'QESx04', message: 'You have submitted incorrect query parameters.' },
    }
    await using at = await harness('nasdaq', { '*': { status: 400, body } }, { key: 'k' })
    expect(await failureOf(at.connectors.series('nasdaq', 'EOD/X'))).toMatchObject({
      code: 'series_not_found',
    })
  })

  it('of the IMF with 401 says that a key helps, and one can be saved', async () => {
    const body = { statusCode: 401, message: 'Access denied due to missing subscription key.' }
    const routes: Routes = {
      '*': ({ headers }) =>
        headers['ocp-apim-subscription-key'] === 'good' ? { status: 404 } : { status: 401, body },
    }
    await using at = await harness('imf', routes)
    const id = 'IMF.STA,CPI,1.0.0/USA.CPI.A'
    expect(at.connectors.get('imf')).toMatchObject({ key: 'optional' })
    const keyless = await failureOf(at.connectors.series('imf', id))
    expect(keyless).toMatchObject({ code: 'key_required', status: 400, remedy: 'own-key' })
    expect(keyless.message).toContain('https://portal.api.imf.org')
    const series = (key: string) =>
      failureOf(at.connectors.series('imf', id, {}, { userKey: { owner: '1', key } }))
    expect(await series('bad')).toMatchObject({ code: 'key_rejected' })
    expect(await series('good')).toMatchObject({ code: 'series_not_found' })
    expect(at.upstream.requests[0]!.headers).not.toHaveProperty('ocp-apim-subscription-key')
  })
})

describe('text with raw control characters', () => {
  it.each([
    'a line\nanother',
    'a tab\tor \u0001 two',
    'a quote \\" and\r\nmore',
  ])('is read: %j', async (note) => {
    const body = `{"BEAAPI":{"Results":{"Data":[{"TableName":"T10101","SeriesCode":"A1","LineNumber":"1","LineDescription":"L","TimePeriod":"2026Q1","METRIC_NAME":"M","CL_UNIT":"Level","UNIT_MULT":"0","DataValue":"5","NoteRef":"T10101"}],"Notes":[{"NoteRef":"T10101","NoteText":"${note}"}]}}}`
    await using at = await harness('bea', { '*': { type: 'application/json', body } }, { key: 'k' })
    expect(await at.connectors.series('bea', 'NIPA/T10101/A1/Q')).toMatchObject({
      notes: note.replaceAll('\\"', '"'),
      observations: [{ value: 5 }],
    })
  })

  it('does not hide that an answer is cut off', async () => {
    await using at = await harness('bea', { '*': { body: '{"BEAAPI":{"Results":"a\nb' } }, { key: 'k' })
    expect((await failureOf(at.connectors.series('bea', 'NIPA/T10101/A1/Q'))).code).toBe('not_understood')
  })
})

describe('the columns of the Census Bureau', () => {
  it('are found whatever their case', async () => {
    const names = [
      'CELL_VALUE',
      'data_type_code',
      'TIME_SLOT_ID',
      'ERROR_DATA',
      'Category_Code',
      'SEASONALLY_ADJ',
      'TIME',
      'us',
    ]
    const rows = [
      ['7', 'TOTAL', '0', 'no', 'APERMITS', 'yes', '2026-01', '1'],
      ['0.1', 'TOTAL', '0', 'yes', 'APERMITS', 'yes', '2026-01', '1'],
    ]
    await using at = await harness('census', { '*': { body: [names, ...rows] } }, { key: 'k' })
    const series = await at.connectors.series('census', 'resconst/APERMITS.TOTAL.yes')
    expect(series).toMatchObject({ frequency: 'monthly', observations: [{ date: '2026-01-01', value: 7 }] })
  })
})

describe('the limit of the OECD', () => {
  it('counts downloads of data, and no structures', async () => {
    await using at = await harness('oecd', { '*': { status: 404 } })
    const left = () => at.connectors.limit('oecd').remaining
    await failureOf(at.connectors.browse('oecd', 'OECD'))
    await failureOf(at.connectors.browse('oecd', 'flow/OECD,DF_X'))
    expect(at.upstream.requests.length).toBeGreaterThan(1)
    expect(left()).toBe(60)
    await failureOf(at.connectors.series('oecd', 'OECD,DF_X,1.0/A.B'))
    expect(left()).toBe(59)
  })

  it('pauses structures as well if the OECD asks for that', async () => {
    const routes: Routes = { '*': { status: 429, headers: { 'retry-after': '600' } } }
    await using at = await harness('oecd', routes)
    await failureOf(at.connectors.series('oecd', 'OECD,DF_X,1.0/A.B'))
    const count = at.upstream.requests.length
    expect((await failureOf(at.connectors.browse('oecd', 'OECD'))).code).toBe('provider_limit')
    expect(at.upstream.requests).toHaveLength(count)
  })
})

describe('what is frozen, moved or renamed', () => {
  it('is told in the notes of a series', async () => {
    const body = 'DATAFLOW,freq,unit,coicop,geo,TIME_PERIOD,OBS_VALUE\nESTAT:X(1.0),M,I15,CP00,DE,2025-12,5\n'
    await using at = await harness('eurostat', { '*': csv(body) })
    const notes = async (id: string) => (await at.connectors.series('eurostat', id)).notes
    expect(await notes('PRC_HICP_MIDX/M.I15.CP00.DE')).toMatch(
      /^PRC_HICP_MIDX is in the old classification.*PRC_HICP_MINR/,
    )
    expect(await notes('prc_hicp_manr/M.I15.CP00.DE')).toMatch(/^PRC_HICP_MANR .*ends with December 2025/)
    expect(await notes('NAMQ_10_GDP/M.I15.CP00.DE')).toBeNull()
    const { series } = await at.connectors.many([{ provider: 'eurostat', id: 'PRC_HICP_MIDX/M.I15.CP00.*' }])
    expect(series[0]!.notes).toMatch(/^PRC_HICP_MIDX/)
  })

  it('is told in the error of a series that is gone', async () => {
    await using bank = await harness('worldbank', {
      '*': { body: [{ message: [{ id: '175', key: 'x', value: 'x' }] }] },
    })
    const gone = async (id: string) => (await failureOf(bank.connectors.series('worldbank', id))).message
    expect(await gone('DE/PV.EST')).toBe(
      "World Bank has no series 'DE/PV.EST'. The Worldwide Governance Indicators have new codes; PV.EST is now GOV_WGI_PV.EST.",
    )
    expect(await gone('DE/GOV_WGI_PV.EST')).toBe("World Bank has no series 'DE/GOV_WGI_PV.EST'.")
    await using fund = await harness('imf', { '*': { status: 204 } })
    expect((await failureOf(fund.connectors.series('imf', 'IMF,IFS/M.US.X'))).message).toContain(
      'exchange rates in ER and EER',
    )
  })
})

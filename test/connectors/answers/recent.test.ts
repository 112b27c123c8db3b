import { describe, expect, it } from 'vitest'
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

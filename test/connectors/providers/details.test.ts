import { describe, expect, it } from 'vitest'
import { csv, xml } from '../sdmx/messages.ts'
import { failureOf, harness } from '../support/harness.ts'
import type { Reply } from '../support/upstream.ts'

/** One series of a provider that gives this answer to everything. */
async function read(slug: string, id: string, reply: Reply, range = {}) {
  await using at = await harness(slug, { '*': reply }, { key: 'k' })
  return await at.connectors.series(slug, id, range)
}

/** As `read`, of a provider of the SDMX family that has data and no structures. */
async function readSdmx(slug: string, id: string, reply: Reply) {
  await using at = await harness(slug, {
    '*': (hit) => (/\/data\//.test(hit.path) ? reply : { status: 404, body: '' }),
  })
  return await at.connectors.series(slug, id)
}

const series = (attributes: string, observations = '<Obs TIME_PERIOD="2024" OBS_VALUE="1"/>') =>
  xml(
    `<m:StructureSpecificData xmlns:m="m"><m:DataSet><Series ${attributes}>${observations}</Series>` +
      '</m:DataSet></m:StructureSpecificData>',
  )

describe('alphavantage', () => {
  it('takes the field with the name of the function, else the first', async () => {
    const of = async (id: string, values: Record<string, string>) => {
      const body = { 'Meta Data': {}, 'Technical Analysis': { '2024-01-02': values } }
      return (await read('alphavantage', id, { body })).observations[0]!.value
    }
    const macd = { MACD_Hist: '1', MACD_Signal: '2', MACD: '3' }
    expect(await of('MACD/IBM/daily/close', macd)).toBe(3)
    expect(await of('TIME_SERIES_DAILY/IBM', { '1. mid': '4', '2. spread': '5' })).toBe(4)
  })
})

describe('bundesbank', () => {
  it('has its German title where there is no English one, and a unit for so many pieces', async () => {
    const title = 'Devisenkurse der Frankfurter Börse / 100 ATS = ... DEM / Österreich'
    const reply = series(`FREQ="A" CURRENCY="ATS" BBK_UNIT="DEM" BBK_UNIT_MULT="0" BBK_TITLE="${title}"`)
    expect(await readSdmx('bundesbank', 'BBEX3/A.ATS', reply)).toMatchObject({
      name: title,
      unit: 'DEM per 100 ATS',
    })
    const one = series('FREQ="A" CURRENCY="USD" BBK_UNIT="DEM" BBK_TITLE="1 USD = ... DEM"')
    expect(await readSdmx('bundesbank', 'BBEX3/A.USD', one)).toMatchObject({ unit: 'DEM per 1 USD' })
  })
})

describe('imf', () => {
  it('has percent as the unit of a percentage change, whatever UNIT says', async () => {
    const unit = async (transformation: string) => {
      const structure = {
        dimensions: {
          series: [
            { id: 'COUNTRY', keyPosition: 0, values: [{ id: 'DE' }] },
            { id: 'TYPE_OF_TRANSFORMATION', keyPosition: 1, values: [{ id: transformation }] },
          ],
          observation: [{ id: 'TIME_PERIOD', keyPosition: 2, values: [{ value: '2024' }] }],
        },
        measures: { observation: [{ id: 'OBS_VALUE' }] },
        attributes: { series: [{ id: 'UNIT', values: [{ id: 'IX', name: 'Index' }] }] },
      }
      const dataSets = [{ series: { '0:0': { attributes: [0], observations: { 0: ['1.5'] } } } }]
      const reply = { body: { data: { dataSets, structures: [structure] } } }
      return (await readSdmx('imf', `IMF.STA,CPI/DE.${transformation}`, reply)).unit
    }
    expect(await unit('PCH')).toBe('percent')
    expect(await unit('POP_PCH_PA_PT')).toBe('percent')
    expect(await unit('IX')).toBe('Index')
  })
})

describe('insee', () => {
  it('has its seasonal adjustment in CORRECTION', async () => {
    const reply = series('IDBANK="1" FREQ="A" TITLE_EN="GDP" CORRECTION="CVS-CJO"')
    expect(await readSdmx('insee', 'SERIES_BDM/1', reply)).toMatchObject({ seasonalAdjustment: 'CVS-CJO' })
  })
})

describe('us-treasury', () => {
  it('dates the quarters as before where one rate was amended within its quarter', async () => {
    const row = (record_date: string, exchange_rate: string) => ({
      record_date,
      exchange_rate,
      country_currency_desc: 'Argentina-Peso',
    })
    const data = [
      row('2023-09-30', '350'),
      row('2023-12-31', '820'),
      row('2023-12-13', '800'),
      row('2024-03-31', '857'),
    ]
    const id = 'v1/accounting/od/rates_of_exchange/exchange_rate/country_currency_desc=Argentina-Peso'
    const { observations } = await read('us-treasury', id, { body: { data, meta: { 'total-count': 4 } } })
    expect(observations).toEqual([
      { date: '2023-07-01', period: '2023-Q3', value: 350 },
      {
        date: '2023-10-01',
        period: '2023-Q4',
        value: 820,
        status: 'amended, before: 800 on 2023-12-13',
      },
      { date: '2024-01-01', period: '2024-Q1', value: 857 },
    ])
  })
})

describe('bls', () => {
  const year = new Date().getUTCFullYear()
  const reply = (...years: readonly number[]): Reply => ({
    body: {
      status: 'REQUEST_SUCCEEDED',
      Results: {
        series: [
          {
            seriesID: 'S',
            data: years.map((each) => ({ year: String(each), period: 'A01', value: '1', footnotes: [{}] })),
          },
        ],
      },
    },
  })

  it('tells the start of a series only where all of it was asked for', async () => {
    const start = async (first: number) => (await read('bls', 'S', reply(first, year))).start
    // With a key one request spans 20 years.
    expect(await start(year - 19)).toBeNull()
    expect(await start(year - 10)).toBe(`${year - 10}-01-01`)
  })
})

describe('nasdaq', () => {
  it('has the description as notes, and the unit that it names', async () => {
    const dataset = {
      database_code: 'D',
      dataset_code: 'X',
      name: 'Debt',
      description: 'Public debt. Units: Billions of Dollars. Source: Treasury',
      column_names: ['Date', 'Value'],
      data: [['2024-01-01', 1]],
    }
    expect(await read('nasdaq', 'D/X', { body: { dataset } })).toMatchObject({
      unit: 'Billions of Dollars',
      notes: dataset.description,
    })
  })
})

describe('refusals of a range', () => {
  it('by FRED are 400, and tell where its dates begin', async () => {
    const error_message =
      'Bad Request.  Variable observation_start is not between 1776-07-04 and 9999-12-31 in the YYYY-MM-DD format.'
    const reply = { status: 400, body: { error_code: 400, error_message } }
    const failure = await failureOf(read('fred', 'GDP', reply, { start: '1700-01-01' }))
    expect(failure).toMatchObject({ code: 'invalid_range', status: 400 })
    expect(failure.message).toContain('1776-07-04')
  })

  it('by FRED for a series without history say that none is kept', async () => {
    const error_message = 'Bad Request.  The series does not exist in ALFRED but may exist in FRED.'
    const reply = { status: 400, body: { error_code: 400, error_message } }
    const failure = await failureOf(read('fred', 'SP500', reply, { asOf: '2001-01-01' }))
    expect(failure).toMatchObject({ code: 'series_not_found', status: 404 })
    expect(failure.message).toContain('FRED keeps no version of the series as it was on that day')
  })

  it('by the Bank of Canada are 400', async () => {
    const reply = { status: 400, body: { message: 'End date must be greater than the start date' } }
    const failure = await failureOf(read('bank-of-canada', 'FXUSDCAD', reply, { start: '2099-01-01' }))
    expect(failure).toMatchObject({ code: 'invalid_range', status: 400 })
  })

  it('do not come from the Bank of Canada for a single day', async () => {
    const observations = ['2024-01-02', '2024-01-03'].map((d) => ({ d, S: { v: '1' } }))
    await using at = await harness('bank-of-canada', {
      '*': { body: { observations, seriesDetail: { S: {} } } },
    })
    const day = { start: '2024-01-02', end: '2024-01-02' }
    expect((await at.connectors.series('bank-of-canada', 'S', day)).observations).toHaveLength(1)
    expect(at.upstream.requests[0]!.query.get('end_date')).toBe('2024-01-03')
  })
})

describe('SDMX data', () => {
  it('without time are refused with the reason', async () => {
    const rows = csv('FREQ,REF_AREA,OBS_VALUE\nA,DE,1\n')
    const failure = await failureOf(readSdmx('bis', 'WS_X/A.DE', rows))
    expect(failure).toMatchObject({ code: 'invalid_option', status: 400 })
    expect(failure.message).toContain('has no time dimension')
    const message = series('FREQ="A" REF_AREA="DE"', '<Obs OBS_VALUE="1"/>')
    expect((await failureOf(readSdmx('insee', 'X/A.DE', message))).code).toBe('invalid_option')
  })

  it('leave out observations that were deleted', async () => {
    const reply = csv(
      'STRUCTURE,STRUCTURE_ID,ACTION,FREQ,TIME_PERIOD,OBS_VALUE\n' +
        'dataflow,BIS:X(1.0),R,A,2023,1\ndataflow,BIS:X(1.0),D,A,2024,2\n',
    )
    expect((await readSdmx('bis', 'X/A', reply)).observations).toEqual([
      { date: '2023-01-01', period: '2023', value: 1 },
    ])
  })

  it('of a quarterly series written as months have quarters as periods', async () => {
    const reply = csv('FREQ,TIME_PERIOD,OBS_VALUE\nQ,2024-03,1\nQ,2024-06,2\n')
    const { observations } = await readSdmx('bis', 'X/Q', reply)
    expect(observations.map(({ date, period }) => [date, period])).toEqual([
      ['2024-01-01', '2024-Q1'],
      ['2024-04-01', '2024-Q2'],
    ])
  })

  it('are not listed under invented ids where the structure is missing', async () => {
    const reply = csv('FREQ,NOTE,REF_AREA,TIME_PERIOD,OBS_VALUE\nA,x,DE,2024,1\n')
    await using at = await harness('ilo', {
      '*': (hit) => (/\/data\//.test(hit.path) ? reply : { status: 404, body: '' }),
    })
    const page = { limit: 10, offset: 0 }
    const failure = await failureOf(at.connectors.seriesList('ilo', 'flow/DF_X', page))
    expect(failure).toMatchObject({ code: 'provider_down' })
  })
})

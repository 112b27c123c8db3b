import { describe, expect, it } from 'vitest'
import { failureOf, harness } from '../../support/harness.ts'
import type { Routes } from '../../support/upstream.ts'
import {
  categoryScheme,
  codelists,
  concepts,
  constraint,
  csv,
  dataflows,
  dataStructure,
  json,
  keysMessage,
  structureMessage,
  xml,
} from '../messages.ts'

const FLOWS = dataflows(['ECB', 'EXR', 'Exchange Rates', 'ECB_EXR1'], ['ECB', 'ICP', 'Prices', 'ECB_ICP1'])
const DSD =
  dataStructure('ECB', 'ECB_EXR1', { FREQ: 'CL_FREQ', CURRENCY: 'CL_CURRENCY', EXR_TYPE: 'CL_TYPE' }) +
  concepts('ECB', { FREQ: 'Frequency', CURRENCY: 'Currency', EXR_TYPE: 'Type' })
const LISTS = {
  CL_FREQ: { A: 'Annual', D: 'Daily', M: 'Monthly' },
  CL_CURRENCY: { GBP: 'Pound sterling', USD: 'US dollar', XXX: 'None' },
  CL_TYPE: { SP00: 'Spot', FWD: 'Forward' },
}
const KEYS = keysMessage(
  'Exchange Rates',
  { FREQ: LISTS.CL_FREQ, CURRENCY: LISTS.CL_CURRENCY, EXR_TYPE: LISTS.CL_TYPE },
  'M.USD.SP00',
  'D.USD.SP00',
  'D.GBP.SP00',
)
const HEADER =
  'KEY,FREQ,CURRENCY,EXR_TYPE,TIME_PERIOD,OBS_VALUE,OBS_STATUS,OBS_COM,TITLE,TITLE_COMPL,UNIT,UNIT_MULT\n'
const row = (
  period: string,
  value: string,
  more = 'A,,"US dollar/Euro","ECB reference rate, 2:15 pm",USD,0',
) => `EXR.M.USD.SP00,M,USD,SP00,${period},${value},${more}\n`

const routes: Routes = {
  '/service/categoryscheme/ECB': xml(
    structureMessage(categoryScheme('ECB', 'NAVI', ['01', 'Markets'], ['0101', 'Rates'], 'EXR')),
  ),
  '/service/dataflow/ECB': xml(structureMessage(FLOWS)),
  '/service/datastructure/ECB/ECB_EXR1': xml(structureMessage(DSD, codelists('ECB', LISTS))),
  '/service/data/EXR/all': json(KEYS),
  // The standard media type of CSV is not acceptable to this service; the parameter is.
  '/service/data/EXR/M.USD.SP00': (hit) =>
    String(hit.headers.accept).includes('csv') || hit.query.get('format') !== 'csvdata'
      ? { status: 406, type: 'text/html', body: '<html>Not acceptable</html>' }
      : csv(HEADER + row('2024-01', '1.0905') + row('2024-02', '') + row('2024-03', '1.0872')),
}

const open = (more: Routes = {}) => harness('ecb', { ...routes, ...more }, { base: '/service' })

describe('ecb', () => {
  it('goes from category schemes over dataflows and dimensions to a series', async () => {
    await using at = await open()
    const browse = async (path: string) => (await at.connectors.browse('ecb', path)).categories
    const paths = async (path: string) => (await browse(path)).map((one) => one.path)
    expect(await paths('')).toEqual(['category/ECB,NAVI', 'flows'])
    expect(await browse('category/ECB,NAVI')).toEqual([
      { path: 'category/ECB,NAVI/01', name: 'Markets', description: '', series: false },
    ])
    expect(await paths('category/ECB,NAVI/01')).toEqual(['category/ECB,NAVI/01.0101'])
    expect(await browse('category/ECB,NAVI/01.0101')).toEqual([
      { path: 'flow/EXR', name: 'Exchange Rates', description: '', series: true },
    ])
    expect(await paths('flows')).toEqual(['flow/EXR', 'flow/ICP'])
    expect(await browse('flow/EXR')).toContainEqual({
      path: 'flow/EXR/D',
      name: 'Daily',
      description: 'Frequency: D',
      series: true,
    })
    expect(await paths('flow/EXR/D')).toEqual(['flow/EXR/D.GBP', 'flow/EXR/D.USD', 'flow/EXR/D.XXX'])
    expect(await paths('flow/EXR/D.USD')).toEqual([])
  })

  it('lists series by their keys, with the names of their codes, in slices', async () => {
    await using at = await open({ '/service/data/EXR/D..': json(KEYS) })
    const all = await at.connectors.seriesList('ecb', 'flow/EXR', { limit: 200, offset: 0 })
    expect(all.total).toBe(3)
    expect(all.series.map((one) => one.series_id)).toEqual([
      'EXR/D.GBP.SP00',
      'EXR/D.USD.SP00',
      'EXR/M.USD.SP00',
    ])
    expect(all.series[0]).toEqual({
      series_id: 'EXR/D.GBP.SP00',
      name: 'Exchange Rates: Pound sterling, Spot',
      frequency: 'daily',
      unit: null,
      start: null,
      end: null,
    })
    const second = await at.connectors.seriesList('ecb', 'flow/EXR', { limit: 1, offset: 1 })
    expect([second.total, second.series[0]?.series_id]).toEqual([3, 'EXR/D.USD.SP00'])
    const daily = await at.connectors.seriesList('ecb', 'flow/EXR/D', { limit: 200, offset: 0 })
    expect(daily.series.map((one) => one.series_id)).toEqual(['EXR/D.GBP.SP00', 'EXR/D.USD.SP00'])
    const keys = at.upstream.requests.filter((hit) => hit.path.includes('/data/EXR'))
    expect(keys.map((hit) => [hit.path, hit.query.get('detail')])).toEqual([
      ['/service/data/EXR/all', 'serieskeysonly'],
      ['/service/data/EXR/D..', 'serieskeysonly'],
    ])
  })

  it('has no series above dataflows, and no such path elsewhere', async () => {
    await using at = await open()
    const list = (path: string) => at.connectors.seriesList('ecb', path, { limit: 10, offset: 0 })
    expect(await list('flows')).toMatchObject({ total: 0, series: [] })
    for (const path of [
      'nope',
      'category/ECB,NAVI/99',
      'flow/NOPE',
      'flow/EXR/D.USD.SP00.X',
      'flow/EXR/Q',
      'flow/E?R',
    ]) {
      expect(await failureOf(list(path)), path).toMatchObject({
        code: 'path_not_found',
        status: 404,
        provider: 'ecb',
      })
      expect(await failureOf(at.connectors.browse('ecb', path)), path).toMatchObject({
        code: 'path_not_found',
      })
    }
  })

  it('shows the codes that the constraint of the dataflow names, where the service sends one', async () => {
    const available = constraint('ECB', 'EXR', { FREQ: ['M', 'D'], CURRENCY: ['USD', 'NEW'] })
    await using at = await open({
      '/service/dataflow/ECB/EXR': xml(structureMessage(FLOWS, DSD, codelists('ECB', LISTS), available)),
    })
    const names = async (path: string) => {
      return (await at.connectors.browse('ecb', path)).categories.map(({ name }) => name)
    }
    expect(await names('flow/EXR')).toEqual(['Daily', 'Monthly'])
    expect(await names('flow/EXR/M')).toEqual(['US dollar', 'NEW'])
  })

  it('fetches a series', async () => {
    await using at = await open()
    expect(await at.connectors.series('ecb', 'EXR/M.USD.SP00')).toMatchObject({
      provider: 'ecb',
      series_id: 'EXR/M.USD.SP00',
      name: 'US dollar/Euro',
      frequency: 'monthly',
      unit: 'USD',
      lastUpdated: null,
      observations: [
        { date: '2024-01-01', period: '2024-01', value: 1.0905 },
        { date: '2024-02-01', period: '2024-02', value: null },
        { date: '2024-03-01', period: '2024-03', value: 1.0872 },
      ],
    })
    expect(at.upstream.requests.filter(({ path }) => path.includes('/data/'))).toHaveLength(1)
  })

  it('asks for a range in periods of the frequency, and keeps to its days', async () => {
    await using at = await open()
    const { observations } = await at.connectors.series('ecb', 'EXR/M.USD.SP00', {
      start: '2024-01-15',
      end: '2024-03-02',
    })
    expect(observations.map(({ date }) => date)).toEqual(['2024-02-01', '2024-03-01'])
    const { query } = at.upstream.requests[0]!
    expect([query.get('startPeriod'), query.get('endPeriod')]).toEqual(['2024-01', '2024-03'])
  })

  it('tells a series without observations in the range from one that does not exist', async () => {
    const none = { status: 404, body: '<mes:Error xmlns:mes="m"><mes:ErrorMessage code="100"/></mes:Error>' }
    await using at = await open({
      '/service/data/EXR/D.GBP.SP00': (hit) =>
        hit.query.get('detail') === 'serieskeysonly' ? json(KEYS) : none,
      '/service/data/EXR/D.GBP.FWD': none,
    })
    const range = { start: '1900-01-01', end: '1901-01-01' }
    expect(await at.connectors.series('ecb', 'EXR/D.GBP.SP00', range)).toMatchObject({
      frequency: 'daily',
      observations: [],
    })
    const failure = await failureOf(at.connectors.series('ecb', 'EXR/D.GBP.FWD', range))
    expect(failure).toMatchObject({ code: 'series_not_found', status: 404 })
  })

  it('takes a key with wildcards if it matches one series, and names some of several', async () => {
    const two = csv(
      `${HEADER}${row('2024-01', '1.09')}${row('2024-01', '0.86').replaceAll('USD,', 'GBP,').replace('USD', 'GBP')}`,
    )
    await using at = await open({
      '/service/data/EXR/M..SP00': two,
      '/service/data/EXR/M..': csv(HEADER + row('2024-01', '1.09')),
    })
    const failure = await failureOf(at.connectors.series('ecb', 'EXR/M..SP00'))
    expect(failure).toMatchObject({ code: 'invalid_series_id', status: 404 })
    expect(failure.message).toContain(
      'matches 2 series of European Central Bank, which differ in CURRENCY: EXR/M.USD.SP00, EXR/M.GBP.SP00.',
    )
    expect(await at.connectors.series('ecb', 'EXR/M..')).toMatchObject({
      series_id: 'EXR/M..',
      name: 'US dollar/Euro',
    })
  })

  it.each([
    'EXR',
    'EXR/',
    'EXR/..',
    'EXR/all',
    'EXR/M.USD/x',
    '../EXR/M',
    'EXR/M.USD?x',
    'EXR/M.USD#',
    'E R/M',
    'EXR/M\r\nX',
    '//evil.example/M',
  ])('refuses the id %j before anything is asked', async (id) => {
    await using at = await open()
    expect(await failureOf(at.connectors.series('ecb', id))).toMatchObject({
      code: 'invalid_series_id',
      status: 404,
    })
    expect(at.upstream.requests).toEqual([])
  })

  it('asks with agency and version where the id names them', async () => {
    await using at = await open({
      '/service/data/ECB,EXR,1.0/M.USD.SP00': routes['/service/data/EXR/M.USD.SP00']!,
    })
    expect(await at.connectors.series('ecb', 'ECB,EXR,1.0/M.USD.SP00')).toMatchObject({
      name: 'US dollar/Euro',
    })
  })

  it('says that a request may be too wide, where the service fails at one', async () => {
    await using at = await open({
      '/service/data/EXR/all': { status: 503 },
      '/service/data/EXR/M..SP00': { status: 503 },
    })
    const wide = [
      () => at.connectors.seriesList('ecb', 'flow/EXR', { limit: 10, offset: 0 }),
      () => at.connectors.series('ecb', 'EXR/M..SP00'),
    ]
    for (const ask of wide) {
      const failure = await failureOf(ask())
      expect(failure).toMatchObject({ code: 'provider_down', status: 503 })
      expect(failure.message).toContain('Choose a narrower one')
    }
  })

  it('says what a key consists of when the service refuses it', async () => {
    await using at = await open({ '/service/data/EXR/M.USD': { status: 400, body: 'Bad key' } })
    const failure = await failureOf(at.connectors.series('ecb', 'EXR/M.USD'))
    expect(failure).toMatchObject({ code: 'invalid_series_id', status: 404 })
    expect(failure.message).toContain('a key of 3 parts for Exchange Rates: Frequency, Currency, Type')
  })

  it.each([
    ['404', { status: 404, body: 'No results found' }, 'series_not_found', 404],
    ['503', { status: 503, body: '' }, 'provider_down', 503],
    [
      'HTML',
      { type: 'text/html', body: '<!DOCTYPE html><html><body>Sorry<br></body></html>' },
      'not_understood',
      500,
    ],
    ['a row that is cut off', csv(`${HEADER}EXR.M.USD.SP00,M,US`), 'not_understood', 500],
    ['a period that is none', csv(HEADER + row('soon', '1')), 'not_understood', 500],
    ['an answer that is not acceptable', { status: 406, body: '' }, 'not_understood', 500],
  ])('answers %s with the right error', async (_, reply, code, status) => {
    await using at = await open({ '/service/data/EXR/M.USD.SP00': reply })
    const failure = await failureOf(at.connectors.series('ecb', 'EXR/M.USD.SP00'))
    expect(failure).toMatchObject({ code, status, provider: 'ecb' })
    expect(failure.message).not.toContain('127.0.0.1')
  })
})

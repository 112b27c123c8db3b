import { describe, expect, it } from 'vitest'
import { failureOf, harness } from '../support/harness.ts'
import type { Routes } from '../support/upstream.ts'

const point = (refPer: string, value: number | null) => ({
  refPer,
  refPerRaw: refPer,
  value,
  decimals: 1,
  scalarFactorCode: 3,
  frequencyCode: 6,
  releaseTime: '2024-02-20T08:30',
})
const object = (...vectorDataPoint: unknown[]) => ({
  responseStatusCode: 0,
  productId: 18100004,
  coordinate: '2.1.0.0.0.0.0.0.0.0',
  vectorId: 41690973,
  vectorDataPoint,
})
const success = (object: unknown) => ({ body: [{ status: 'SUCCESS', object }] })
const member = (memberId: number, memberNameEn: string, memberUomCode: number | null = null) => ({
  memberId,
  memberNameEn,
  memberUomCode,
})
const metadata = {
  productId: '18100004',
  cubeTitleEn: 'Consumer Price Index',
  cubeStartDate: '1914-01-01',
  cubeEndDate: '2024-01-01',
  frequencyCode: 6,
  dimension: [
    {
      dimensionPositionId: 2,
      member: [member(1, 'All-items', 17), member(2, 'Food', 17), member(3, 'Meat', 17)],
    },
    { dimensionPositionId: 1, member: [member(2, 'Canada'), member(3, 'Quebec')] },
  ],
}

const routes: Routes = {
  '/getAllCubesListLite': {
    body: [
      {
        productId: 18100004,
        cubeTitleEn: 'Consumer Price Index',
        cubeStartDate: '1914-01-01',
        cubeEndDate: '2024-01-01',
        subjectCode: ['18'],
        frequencyCode: 6,
      },
      {
        productId: 10100001,
        cubeTitleEn: 'Federal employment',
        subjectCode: ['10', '1401'],
        frequencyCode: 12,
      },
    ],
  },
  'POST /getCubeMetadata': success(metadata),
  '/getCodeSets': {
    body: { status: 'SUCCESS', object: { uom: [{ memberUomCode: 17, memberUomEn: '2002=100' }] } },
  },
  'POST /getDataFromVectorsAndLatestNPeriods': success(
    object(point('2024-01-01', null), point('2023-12-01', 158.3)),
  ),
  'POST /getDataFromCubePidCoordAndLatestNPeriods': success(object(point('2024-01-01', 1))),
  '/getDataFromVectorByReferencePeriodRange': success(object(point('2023-12-01', 158.3))),
}
const open = (more: Routes = {}) => harness('statcan', { ...routes, ...more })

const LATEST = 'POST /getDataFromVectorsAndLatestNPeriods'

describe('statcan', () => {
  it('goes from a subject and a table to a series', async () => {
    await using at = await open()
    const { connectors } = at
    const subjects = await connectors.browse('statcan', '')
    expect(subjects.categories.map(({ path, name }) => [path, name])).toEqual([
      ['10', 'Government'],
      ['14', 'Labour'],
      ['18', 'Prices and price indexes'],
    ])
    const cubes = await connectors.browse('statcan', '18')
    expect(cubes.categories).toEqual([
      {
        path: '18/18100004',
        name: 'Consumer Price Index',
        description: 'monthly, 1914-01-01 to 2024-01-01',
        series: true,
      },
    ])
    const page = await connectors.seriesList('statcan', '18/18100004', { limit: 2, offset: 3 })
    expect(page.total).toBe(6)
    expect(page.series.map(({ series_id, name }) => [series_id, name])).toEqual([
      ['18100004/3.1', 'Quebec; All-items'],
      ['18100004/3.2', 'Quebec; Food'],
    ])
    await connectors.series('statcan', page.series[0]!.series_id)
    const asked = at.upstream.requests.find(({ path }) => path.includes('CubePidCoord'))!
    expect(JSON.parse(asked.body)).toMatchObject([{ productId: 18100004, coordinate: '3.1.0.0.0.0.0.0.0.0' }])
  })

  it.each(['v41690973', '41690973', 'V41690973'])('reads the vector %s', async (id) => {
    await using at = await open()
    expect(await at.connectors.series('statcan', id)).toMatchObject({
      provider: 'statcan',
      series_id: id,
      name: 'Consumer Price Index: Canada; All-items',
      frequency: 'monthly',
      unit: '2002=100, thousands',
      lastUpdated: '2024-02-20T08:30',
      observations: [
        { date: '2023-12-01', period: '2023-12', value: 158.3 },
        { date: '2024-01-01', period: '2024-01', value: null },
      ],
    })
    expect(JSON.parse(at.upstream.requests[0]!.body)).toMatchObject([{ vectorId: 41690973 }])
  })

  it('gives all values in one unit where the scale of the series changes', async () => {
    const scaled = (refPer: string, value: number | null, scalarFactorCode: number) => ({
      ...point(refPer, value),
      scalarFactorCode,
    })
    const points = [
      scaled('2023-10-01', 1_234_567, 0),
      scaled('2023-11-01', 1.1, 6),
      scaled('2023-12-01', null, 6),
      scaled('2024-01-01', 1300.5, 3),
    ]
    await using at = await open({ [LATEST]: success(object(...points)) })
    const { unit, observations } = await at.connectors.series('statcan', 'v1')
    expect(unit).toBe('2002=100, thousands')
    expect(observations.map(({ value }) => value)).toEqual([1234.567, 1100, null, 1300.5])
  })

  it('asks for a range by reference period, with the vector in quotes', async () => {
    await using at = await open()
    await at.connectors.series('statcan', 'v1', { start: '2023-12-01', end: '2023-12-31' })
    const { query } = at.upstream.requests[0]!
    expect(Object.fromEntries(query)).toEqual({
      vectorIds: '"1"',
      startRefPeriod: '2023-12-01',
      endReferencePeriod: '2023-12-31',
    })
  })

  it('does without title and unit where they can not be had', async () => {
    const missing = { status: 404, body: {} }
    await using at = await open({ 'POST /getCubeMetadata': missing, '/getCodeSets': missing })
    expect(await at.connectors.series('statcan', 'v1')).toMatchObject({ name: 'v1', unit: 'thousands' })
  })

  it.each([
    [
      'an item that failed: its object is a sentence',
      { body: [{ status: 'FAILED', object: 'Vector is invalid' }] },
      'series_not_found',
    ],
    ['no item', { body: [] }, 'series_not_found'],
    ['an unknown vector: 404', { status: 404, body: { message: 'x' } }, 'series_not_found'],
    ['tables locked for a release: 409', { status: 409, body: { message: 'x' } }, 'provider_down'],
    ['markup', { body: '<html>' }, 'not_understood'],
  ])('tells %s', async (_, reply, code) => {
    await using at = await open({ [LATEST]: reply })
    expect(await failureOf(at.connectors.series('statcan', 'v1'))).toMatchObject({ code })
  })

  const failed = (responseStatusCode: number, points: object = { vectorDataPoint: [] }) => ({
    responseStatusCode,
    productId: 18100004,
    coordinate: null,
    vectorId: 1,
    ...points,
  })

  it.each([
    [1, 'series_not_found', "Statistics Canada has no series 'v1'."],
    [2, 'series_not_found', "Statistics Canada has no series 'v1'."],
    [3, 'provider_down', 'Statistics Canada is failing at the moment.'],
    [4, 'series_not_found', "Statistics Canada has no series 'v1'."],
    [5, 'series_not_found', "Statistics Canada has no series 'v1'."],
    [6, 'provider_down', "'v1' is being published by Statistics Canada at the moment."],
    [7, 'provider_down', 'Statistics Canada is failing at the moment.'],
    [8, 'not_understood', 'The response of Statistics Canada could not be understood.'],
  ])('tells what the code %i of an item means, whatever else it has', async (code, kind, message) => {
    for (const points of [{ vectorDataPoint: [] }, { vectorDataPoint: null }, {}]) {
      for (const status of ['FAILED', 'SUCCESS']) {
        const body = [{ status, object: failed(code, points) }]
        await using at = await open({
          [LATEST]: { body },
          'POST /getDataFromCubePidCoordAndLatestNPeriods': { body },
        })
        for (const id of ['v1', '18100004/2.98']) {
          const error = await failureOf(at.connectors.series('statcan', id))
          expect([error.code, error.message]).toEqual([
            kind,
            expect.stringContaining(message.replace('v1', id)),
          ])
        }
      }
    }
  })

  it('tells a table that is being published, and one that is not there, in lists as well', async () => {
    const list = async (code: number) => {
      await using at = await open({
        'POST /getCubeMetadata': { body: [{ status: 'SUCCESS', object: failed(code) }] },
      })
      const page = { limit: 1, offset: 0 }
      return (await failureOf(at.connectors.seriesList('statcan', '18/18100004', page))).code
    }
    expect([await list(5), await list(6)]).toEqual(['path_not_found', 'provider_down'])
  })

  it('takes a success without points for no series, except within a range', async () => {
    for (const vectorDataPoint of [[], null]) {
      const body = [{ status: 'SUCCESS', object: failed(0, { vectorDataPoint }) }]
      await using at = await open({
        [LATEST]: { body },
        '/getDataFromVectorByReferencePeriodRange': { body },
      })
      expect(await failureOf(at.connectors.series('statcan', 'v1'))).toMatchObject({
        code: 'series_not_found',
      })
      const { observations } = await at.connectors.series('statcan', 'v1', { start: '2030-01-01' })
      expect(observations).toEqual([])
    }
  })

  it.each(['x', '18100004/', '18100004/1.2.x', '1/2/3'])('refuses the id %s', async (id) => {
    await using at = await open()
    expect(await failureOf(at.connectors.series('statcan', id))).toMatchObject({ code: 'invalid_series_id' })
  })
})

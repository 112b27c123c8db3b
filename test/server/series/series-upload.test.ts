import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Hit, Reply } from '../../connectors/support/upstream.ts'
import { basic, dataset, type Platform } from '../platform.ts'
import { fredPlatform } from './fred.ts'

type Answering = (hit: Hit) => Reply

let at: Platform
let ada: string
beforeAll(async () => {
  at = await fredPlatform()
  ada = await at.account('ada')
})
afterAll(() => at[Symbol.asyncDispose]())

const get = (url: string, key = ada, headers: Record<string, string> = {}) =>
  at.call(key, 'GET', url, { headers })

describe('series saved as rows', () => {
  it('with POST they are appended, with PUT they replace', async () => {
    const { repository } = await dataset(at, ada)
    const { id } = (
      await at.call(ada, 'POST', '/datasets', { json: { name: 'saved', repositoryId: repository } })
    ).json()
    const save = (method: string) =>
      at.call(ada, method, `/datasets/${id}/data`, { json: { provider: 'FRED', series: ['GNPCA', 'GNPCA'] } })
    const saved = await save('POST')
    expect(saved.statusCode, saved.body).toBe(200)
    expect(saved.json()).toMatchObject({ rowCount: 6 })
    expect(
      saved.json().columns.map((column: { name: string; type: string }) => [column.name, column.type]),
    ).toEqual([
      ['provider', 'string'],
      ['series_id', 'string'],
      ['name', 'string'],
      ['unit', 'string'],
      ['frequency', 'string'],
      ['date', 'date'],
      ['period', 'string'],
      ['value', 'double'],
      ['status', 'string'],
    ])
    const head = 'provider,series_id,name,unit,frequency,date,period,value,status\n'
    const about = 'fred,GNPCA,Real Gross National Product,Billions of Dollars,annual'
    expect((await get(`/datasets/${id}/data?$top=2`)).body).toBe(
      `${head}${about},1929-01-01,1929,1065.9,\n${about},1930-01-01,1930,,\n`,
    )
    expect((await save('POST')).json().rowCount).toBe(12)
    expect((await save('PUT')).json().rowCount).toBe(6)
  })

  it('a dataset that has fewer of the columns goes on with those', async () => {
    const { id } = await dataset(at, ada, {
      name: 'fewer',
      csv: 'provider,series_id,date,value\nfred,OLD,2020-01-01,1.5\n',
    })
    const json = { provider: 'fred', series: ['GNPCA'] }
    const answer = await at.call(ada, 'POST', `/datasets/${id}/data`, { json })
    expect(answer.statusCode, answer.body).toBe(200)
    expect((await get(`/datasets/${id}/data?$top=2`)).body).toBe(
      'provider,series_id,date,value\nfred,OLD,2020-01-01,1.5\nfred,GNPCA,1929-01-01,1065.9\n',
    )
  })

  it('all or nothing', async () => {
    const { id } = await dataset(at, ada)
    const before = (await get(`/datasets/${id}`)).json()
    const response = await at.call(ada, 'PUT', `/datasets/${id}/data`, {
      json: { provider: 'fred', series: ['GNPCA', 'NOPE'] },
    })
    expect(response.statusCode).toBe(404)
    expect((await get(`/datasets/${id}`)).json()).toEqual(before)
  })

  it('asks for no others once one of them has failed', async () => {
    const { id } = await dataset(at, ada)
    const { routes } = at.upstream
    const answer = routes['/fred/series'] as Answering
    at.upstream.routes = {
      ...routes,
      '/fred/series': (hit) => {
        const known = hit.query.get('series_id') !== 'NOPE'
        if (known) hit.query.set('series_id', 'GNPCA')
        return answer(hit)
      },
    }
    const series = ['NOPE', ...Array.from({ length: 80 }, (_, n) => `S${n}`)]
    const response = await fetch(`${await at.listen()}/datasets/${id}/data`, {
      method: 'PUT',
      headers: { authorization: basic(ada), 'content-type': 'application/json' },
      body: JSON.stringify({ provider: 'fred', series }),
    })
    expect(response.status).toBe(404)
    await delay(500)
    at.upstream.routes = routes
    const asked = at.upstream.requests.filter((hit) => hit.path === '/fred/series/observations')
    expect(asked.length).toBeLessThan(8)
  })

  it.each([
    [{ provider: 'fred' }],
    [{ series: ['GNPCA'] }],
    [{ provider: 'fred', series: [] }],
    [{ provider: 'fred', series: 'GNPCA' }],
    [{ provider: 'fred', series: [1] }],
    [{ provider: 1, series: ['GNPCA'] }],
    [{ provider: 'fred', series: ['GNPCA'], mode: 'x' }],
    [{ provider: 'fred', series: Array(101).fill('GNPCA') }],
  ])('%j is 400', async (json) => {
    const { id } = await dataset(at, ada)
    const response = await at.call(ada, 'POST', `/datasets/${id}/data`, { json })
    expect(response.statusCode).toBe(400)
    expect(response.json().code).toBe('invalid_body')
  })
})

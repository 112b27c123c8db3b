import { describe, expect, it } from 'vitest'
import { service } from './asked.ts'

const at = service()

describe('POST', () => {
  it('gives the repository and the dataset that it made, a new one on each call', async () => {
    const made = await at.ask(at.ada, 'POST', '/repositories', { name: 'made', private: false })
    expect(made.status).toBe(201)
    expect((await at.get(`/repositories/${made.json.id}`)).json).toEqual(made.json)
    const dataset = await at.ask(at.ada, 'POST', '/datasets', { name: 'd', repositoryId: made.json.id })
    expect(dataset.status).toBe(201)
    expect((await at.get(`/datasets/${dataset.json.id}`)).json).toEqual(dataset.json)
  })
})

describe('GET /datasets/{id}/data', () => {
  const rows = Array.from({ length: 10 }, (_, i) => i + 1)
  const csv = (numbers: readonly number[]) => `n\n${numbers.map((n) => `${n}\n`).join('')}`

  it('gives csv unless told otherwise; json, xlsx and tsv where asked', async () => {
    const { id } = await at.table('n,word\n1,a b\n2,\n')
    expect((await at.get(`/datasets/${id}/data`)).text).toBe('n,word\n1,a b\n2,\n')
    expect((await at.get(`/datasets/${id}/data?$format=csv`)).text).toBe('n,word\n1,a b\n2,\n')
    expect((await at.get(`/datasets/${id}/data?$format=tsv`)).text).toBe('n\tword\n1\ta b\n2\t\n')
    expect((await at.get(`/datasets/${id}/data?$format=json`)).json).toEqual([
      { n: 1, word: 'a b' },
      { n: 2, word: null },
    ])
    const xlsx = await at.get(`/datasets/${id}/data?$format=xlsx`)
    expect(xlsx.text.startsWith('PK')).toBe(true)
    expect((await at.get(`/datasets/${id}/data?$format=pdf`)).status).toBe(400)
  })

  it('cuts to the first rows by $top and to the last by $last, with Row-Count of all', async () => {
    const { id } = await at.table(csv(rows))
    const top = await at.get(`/datasets/${id}/data?$top=3`)
    expect([top.text, top.headers.get('row-count')]).toEqual([csv([1, 2, 3]), '10'])
    const last = await at.get(`/datasets/${id}/data?$last=2`)
    expect([last.text, last.headers.get('row-count')]).toEqual([csv([9, 10]), '10'])
    const filtered = await at.get(`/datasets/${id}/data?$filter=n gt 4&$top=1`)
    expect([filtered.text, filtered.headers.get('row-count')]).toEqual([csv([5]), '6'])
  })

  it('filters by $filter, and names every column that there is not', async () => {
    const { id } = await at.table(csv(rows))
    expect((await at.get(`/datasets/${id}/data?$filter=n in (2,4)`)).text).toBe(csv([2, 4]))
    const wrong = await at.get(`/datasets/${id}/data?$filter=m eq 1 or N eq 2`)
    expect(wrong.status).toBe(400)
    expect(wrong.json.error).toMatch(/^Filter contains invalid column\(s\): m, N/i)
  })

  it('lists the columns', async () => {
    const { id } = await at.table()
    expect((await at.get(`/datasets/${id}/columns`)).json).toMatchObject([
      { name: 'n', type: 'integer' },
      { name: 'word', type: 'string' },
    ])
  })
})

describe('providers', () => {
  const series = async (query: string) =>
    (await at.get(`/providers/fred/browse?path=13&${query}`)).json.series

  it('are browsed by categories, with series=true by series: 200 unless told otherwise, 1000 at most', async () => {
    expect((await at.get('/providers/fred/browse')).json.categories).toHaveLength(1)
    expect(await series('series=true')).toHaveLength(200)
    expect(await series('series=true&limit=1000')).toHaveLength(1000)
    expect((await at.get('/providers/fred/browse?path=13&series=true&limit=1001')).status).toBe(400)
    const [first] = await series('series=true&limit=1&offset=300')
    expect(first.series_id).toBe('S300')
  })

  it('give series with their observations', async () => {
    const { json } = await at.get('/providers/fred/series/GNPCA')
    expect(json.observations).toMatchObject([
      { date: '1929-01-01', value: 1065.9 },
      { date: '1930-01-01', value: null },
      { date: '1931-01-01', value: -0.5 },
    ])
  })

  it('are asked with the key that a user saved', async () => {
    const key = 'my-own-key-for-fred'
    const saved = await at.ask(at.ada, 'PUT', '/user-keys/fred', { key })
    expect(saved.status).toBe(200)
    expect(saved.text).not.toContain(key)
    await at.get('/providers/fred/series/GNPCA?start=1931-01-01')
    expect(at.at.upstream.requests.at(-1)!.query.get('api_key')).toBe(key)
    await at.get('/providers/fred/series/GNPCA?start=1930-01-01', at.eve)
    expect(at.at.upstream.requests.at(-1)!.query.get('api_key')).toBe('the-key-of-the-service')
    await at.ask(at.ada, 'DELETE', '/user-keys/fred')
  })
})

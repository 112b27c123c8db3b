import { afterAll, describe, expect, test } from 'vitest'
import { openFeed } from './feed.ts'

const feed = await openFeed()
const { at, key, id, root, get } = feed
afterAll(() => feed[Symbol.asyncDispose]())

describe('what Power Query sends', () => {
  const headers = {
    accept:
      'application/json;odata.metadata=minimal;q=1.0,application/json;odata=minimalmetadata;q=0.9,' +
      'application/atomsvc+xml;q=0.8,application/atom+xml;q=0.8,application/xml;q=0.7,text/plain;q=0.7',
    'odata-version': '4.0',
    'odata-maxversion': '4.0',
    maxdataserviceversion: '3.0',
    'user-agent': 'Microsoft.Data.Mashup',
  }

  test.each([
    ['$top=1000', [1, 2, 3]],
    ["$filter=contains(tolower(Row_1),'a')&$top=1000", [1]],
    ['$filter=day ge 2020-06-01 and day lt 2022-01-01&$orderby=day&$top=200', [3]],
    ["$filter=Row_1 in ('a','b')&$select=Row", [1, 2]],
    ['$filter=(Body_Mass__g_ eq null or Body_Mass__g_ gt 2)&$count=true', [2, 3]],
    ["$filter=startswith(Row_1,'b') and Row_1 ne null", [2]],
    ['$filter=year(day) eq 2020', [1]],
  ])('%s', async (query, rows) => {
    const response = await get(`/my_table?${query}`, headers)
    expect(response.statusCode, response.body).toBe(200)
    expect(response.headers['odata-version']).toBe('4.0')
    expect(response.headers['content-type']).toMatch(/^application\/json;odata.metadata=minimal/)
    expect(response.json().value.map((row: { Row: number }) => row.Row)).toEqual(rows)
  })

  test('metadata is XML for it', async () => {
    const response = await get('/$metadata', headers)
    expect(response.headers['content-type']).toBe('application/xml;charset=utf-8')
    expect(response.body).toContain('Version="4.0"')
  })
})

test('connection files open Power BI and Excel at the feed, and hold no key', async () => {
  const pbids = await at.call(key, 'GET', `/datasets/${id}/odata.pbids`)
  expect(pbids.headers['content-disposition']).toContain('filename="my table.pbids"')
  expect(pbids.json().connections[0].details).toEqual({
    protocol: 'odata',
    address: { url: `http://localhost:80${root}/my_table` },
  })
  const odc = await at.call(key, 'GET', `/datasets/${id}/odata.odc`)
  expect(odc.body).toContain('[Name = &#38;#34;my_table&#38;#34;')
  expect((await at.call(key, 'GET', `${root}.pbids`)).body).toContain(`${root}/"`)
  expect(pbids.body + odc.body).not.toContain(key)
})

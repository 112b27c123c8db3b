import { afterAll, beforeAll, expect, test } from 'vitest'
import { FORMATS } from '../../../engine/index.ts'
import { dataset, type Platform, platform } from '../platform.ts'

let at: Platform
let ada: string
let time = Date.parse('2026-11-21T12:00:00Z')
const BROWSER = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' }

beforeAll(async () => {
  at = await platform({
    now: () => new Date(time),
    config: { providers: { fred: { key: 'k' } } },
    routes: {
      '/fred/series': { body: { seriess: [{ id: 'X', title: 'Output', frequency: 'Annual', units: 'u' }] } },
      '/fred/series/observations': {
        body: { count: 1, observations: [{ date: '2020-01-01', value: '1.50' }] },
      },
    },
  })
  ada = await at.account('ada')
})
afterAll(() => at[Symbol.asyncDispose]())

async function linkTo(path: string, fields: object = {}): Promise<string> {
  return (await at.call(ada, 'POST', '/links', { json: { path, ...fields } })).json().url
}
const open = (url: string, headers: Record<string, string> = BROWSER) =>
  at.call(undefined, 'GET', url, { headers })
const textsOf = (body: string, tag: string) =>
  Array.from(body.matchAll(new RegExp(`<${tag}\\b[^>]*>(.*?)</${tag}>`, 'gs')), ([, text]) => text)
const hrefs = (body: string) =>
  Array.from(body.matchAll(/href="([^"]*)"/g), ([, url]) => url!.replaceAll('&amp;', '&'))

test('a link that is opened in a browser is a page with the first rows, and the same rows in each format', async () => {
  const csv = `2024,word,n\n${Array.from({ length: 30 }, (_, n) => `${n},w${n},${n}.5`).join('\n')}\n`
  const { id } = await dataset(at, ada, { name: 'prices', csv })
  const url = await linkTo(`/datasets/${id}/data?$filter=n%20gt%201`)
  const { statusCode, headers, body } = await open(url)
  expect(statusCode).toBe(200)
  expect(headers).toMatchObject({
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'private, no-store',
    vary: 'Accept',
    'content-security-policy': expect.stringContaining("default-src 'none'; style-src 'sha256-"),
  })
  expect(textsOf(body, 'h1')).toEqual(['prices'])
  expect(body).toContain('works until 21 November 2026')
  expect(textsOf(body, 'th')).toEqual(['2024', 'word', 'n'])
  expect(textsOf(body, 'td').slice(0, 3)).toEqual(['1', 'w1', '1.5'])
  expect(textsOf(body, 'tr')).toHaveLength(21)
  expect(textsOf(body, 'a')).toEqual([...FORMATS])
  const [, , json] = hrefs(body)
  const rows = await open(json!)
  expect(rows.headers['content-disposition']).toContain('prices.json')
  expect(rows.json()).toHaveLength(29)
  for (const href of hrefs(body)) expect((await open(href)).statusCode, href).toBe(200)
})

test('programs, and whoever asks for a download, get the data', async () => {
  const { id } = await dataset(at, ada, { name: 'data', csv: 'a\n1\n' })
  const url = await linkTo(`/datasets/${id}/data`)
  const wanted = ['*/*', 'text/csv', 'text/html;q=0.5, text/csv', 'application/json, text/html']
  for (const accept of wanted) expect((await open(url, { accept })).body, accept).not.toContain('<html')
  expect((await open(url, {})).body).toBe('a\n1\n')
  expect((await open(`${url}&download=true`)).body).toBe('a\n1\n')
  expect((await at.call(ada, 'GET', `/datasets/${id}/data`, { headers: BROWSER })).body).toBe('a\n1\n')
  expect((await at.call(ada, 'GET', `/datasets/${id}/data?download=true`)).json().option).toBe('download')
  const { fileUrl } = (
    await at.call(ada, 'POST', '/links', { json: { path: `/datasets/${id}/data?$format=csv` } })
  ).json()
  expect((await open(fileUrl)).body).toBe('a\n1\n')
})

test('a page shows names and values as they are, whatever they contain', async () => {
  const csv = `"<b>",long,none\n"<script>alert(1)</script> & ""'",${'x'.repeat(5_000)},\n`
  const { id } = await dataset(at, ada, { name: '<i>"\'&', csv })
  const { body } = await open(await linkTo(`/datasets/${id}/data`))
  expect(body).not.toMatch(/<(?:script|b>|i>")/)
  expect(textsOf(body, 'th')[0]).toBe('&lt;b&gt;')
  const [text, long, none] = textsOf(body, 'td')
  expect(text).toBe('&lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;&#39;')
  expect(long).toBe(`${'x'.repeat(300)}…`)
  expect(none).toBe('<i>null</i>')
  expect(body).toContain('1 row, 3 columns.')
  expect(body).not.toContain('The first')
})

test('a page that has room for all rows that match says how many they are', async () => {
  const csv = `a\n${Array.from({ length: 40 }, (_, n) => n).join('\n')}\n`
  const { id } = await dataset(at, ada, { name: 'few', csv })
  const some = (await open(await linkTo(`/datasets/${id}/data?$filter=a%20mod%2010%20eq%203`))).body
  expect([
    textsOf(some, 'td').length,
    some.includes('4 rows, 1 column.'),
    some.includes('The first'),
  ]).toEqual([4, true, false])
  const many = (await open(await linkTo(`/datasets/${id}/data?$filter=a%20ge%203`))).body
  expect(many).toContain('The first 20 rows:')
})

test('a link that has a name shows that, and one to no rows the columns', async () => {
  const { id } = await dataset(at, ada, { name: 'board', csv: 'a,b\n1,2\n' })
  const path = `/datasets/${id}/data?$filter=a%20gt%201&$format=xlsx&$overlong=cut`
  const { body } = await open(await linkTo(path, { name: 'For the board' }))
  expect(textsOf(body, 'h1')).toEqual(['For the board'])
  expect(textsOf(body, 'th')).toEqual(['a', 'b'])
  expect(textsOf(body, 'td')).toEqual([])
  // What is done with long texts is an option of workbooks alone.
  expect(textsOf(body, 'a')).toEqual(['xlsx'])
})

test('a link to a series is a page of its observations', async () => {
  const { body, statusCode } = await open(await linkTo('/providers/fred/series/X?$select=date,value'))
  expect(statusCode).toBe(200)
  expect(textsOf(body, 'h1')).toEqual(['Output'])
  expect(textsOf(body, 'td')).toEqual(['2020-01-01', '1.5'])
  const [csv] = hrefs(body)
  expect((await open(csv!)).body).toBe('date,value\n2020-01-01,1.5\n')
})

test('a link that has ended, was deleted or changed is a page that says so, and asks for no password', async () => {
  const { id } = await dataset(at, ada, { name: 'ended', csv: 'a\n1\n' })
  const url = await linkTo(`/datasets/${id}/data`)
  const [download] = hrefs((await open(url)).body)
  const gone = async (address: string) => {
    const { statusCode, headers, body } = await open(address)
    expect(statusCode).toBe(401)
    expect(headers['content-type']).toBe('text/html; charset=utf-8')
    expect(headers).not.toHaveProperty('www-authenticate')
    expect(body).toContain(
      'This link has expired or was altered, or whoever made it has deleted it or replaced their key.',
    )
  }
  await gone(url.replace('/data', '/data?$top=1&x').replace('?ticket', '&ticket'))
  const program = await open(`${url}x`, {})
  expect(program.json()).toMatchObject({ code: 'unauthorized' })
  expect(program.headers).not.toHaveProperty('www-authenticate')
  time += 301_000
  await gone(url)
  expect((await open(download!)).statusCode).toBe(401)
})

test('a key lets in beside a link that has ended, and gives the data', async () => {
  const { id } = await dataset(at, ada, { name: 'beside', csv: 'a\n1\n' })
  const url = await linkTo(`/datasets/${id}/data`)
  const series = await linkTo('/providers/fred/series/X?$select=value&$format=csv')
  time += 301_000
  expect(await at.call(ada, 'GET', url, { headers: BROWSER })).toMatchObject({
    statusCode: 200,
    body: 'a\n1\n',
  })
  expect((await at.call(ada, 'GET', series, { headers: BROWSER })).body).toBe('value\n1.5\n')
})

test('a page says what is wrong where the rows are gone', async () => {
  const { id } = await dataset(at, ada, { name: 'deleted', csv: 'a\n1\n' })
  const url = await linkTo(`/datasets/${id}/data`)
  await at.call(ada, 'DELETE', `/datasets/${id}`)
  const { statusCode, body } = await open(url)
  expect(statusCode).toBe(404)
  expect(body).toContain(`There is no dataset ${id}`)
})

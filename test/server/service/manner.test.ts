import ExcelJS from 'exceljs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { dataset, type Platform, platform } from '../platform.ts'

let at: Platform
let ada: string
let id: number
let repository: number
beforeAll(async () => {
  at = await platform()
  ada = await at.account('ada')
  ;({ id, repository } = await dataset(at, ada, { name: 'prices' }))
  await at.call(ada, 'PUT', `/datasets/${id}/data?columns=replace`, {
    body: 'price,what\n1.5,=1+1\n,\n-2.25,"NA"\n',
    headers: { 'content-type': 'text/csv' },
  })
})
afterAll(() => at[Symbol.asyncDispose]())

const get = (query: string, headers: Record<string, string> = {}, method = 'GET') =>
  at.call(ada, method, `/datasets/${id}/data${query}`, { headers })

const OFFICE = '\ufeffprice;what\n1,5;"\'=1+1"\nNA;NA\n-2,25;"NA"\n'

describe('how csv is written', () => {
  it('is said in the address', async () => {
    const answer = await get('?$bom=true&$delimiter=;&$decimal=,&$null=NA&$formulas=escape')
    expect(answer.statusCode).toBe(200)
    expect(answer.body).toBe(OFFICE)
    expect((await get('?$delimiter=tab')).body).toBe((await get('?$format=tsv')).body)
  })

  it('is said in the body of a question, as text and as JSON', async () => {
    const ask = (body: string, type: string) =>
      at.call(ada, 'POST', `/datasets/${id}/data/$query`, { body, headers: { 'content-type': type } })
    const text = await ask('$bom=true&$delimiter=%3B&$decimal=%2C&$null=NA&$formulas=escape', 'text/plain')
    expect(text.body).toBe(OFFICE)
    const options = { $bom: true, $delimiter: ';', $decimal: ',', $null: 'NA', $formulas: 'escape' }
    expect((await ask(JSON.stringify(options), 'application/json')).body).toBe(OFFICE)
  })

  it('has an entity tag and a kept answer of its own', async () => {
    const plain = await get('')
    const semicolons = await get('?$delimiter=;')
    expect(semicolons.headers.etag).not.toBe(plain.headers.etag)
    expect((await get('')).body).toBe(plain.body)
    const again = await get('?$delimiter=;')
    expect(again.body).toBe(semicolons.body)
    expect(again.headers.etag).toBe(semicolons.headers.etag)
    const tag = String(semicolons.headers.etag)
    expect((await get('?$delimiter=;', { 'if-none-match': tag })).statusCode).toBe(304)
    expect((await get('', { 'if-none-match': tag })).statusCode).toBe(200)
  })

  it.each([
    ['?$format=json&$bom=true', '$bom is for csv and tsv; the format is json.'],
    ['?$decimal=,', '$decimal=, needs another sign between the fields'],
    ['?$format=tsv&$delimiter=;', '$delimiter is for csv; the format is tsv.'],
    ['?$delimiter=ab', '$delimiter must be one character that no number, date or uuid contains'],
    ['?$overlong=cut', '$overlong is for xlsx; the format is csv'],
    ['?$formulas=yes', '$formulas'],
    ['?$bom=1', '$bom must be true or false'],
  ])('%s is refused in a sentence, for HEAD, too', async (query, sentence) => {
    const refused = await get(query)
    expect(refused.statusCode).toBe(400)
    expect(refused.json().error).toContain(sentence)
    expect((await get(query, {}, 'HEAD')).statusCode).toBe(400)
  })
})

describe('a text that a cell of a workbook can not hold', () => {
  it('is refused, or cut where that is asked for, and says so at its end', async () => {
    const { id: long } = await dataset(at, ada, { name: 'long' })
    const text = `${'é'.repeat(20_000)}${'😀'.repeat(20_000)}`
    await at.call(ada, 'PUT', `/datasets/${long}/data?columns=replace`, {
      body: `t\n${text}\nshort\n`,
      headers: { 'content-type': 'text/csv' },
    })
    const url = `/datasets/${long}/data?$format=xlsx`
    const refused = await at.call(ada, 'GET', url)
    expect(refused.statusCode).toBe(400)
    expect(refused.json().error).toMatch(/row 1, column 't' has 60,000.*\$overlong=cut/)
    const cut = await at.call(ada, 'GET', `${url}&$overlong=cut`)
    expect(cut.statusCode).toBe(200)
    const workbook = new ExcelJS.Workbook()
    await workbook.xlsx.load(cut.rawPayload as unknown as ArrayBuffer)
    const value = String(workbook.worksheets[0]!.getCell('A2').value)
    expect(value.length).toBeLessThanOrEqual(32_767)
    expect(value.length).toBeGreaterThan(32_700)
    expect(value).toMatch(/^é{20000}(😀)+… \[cut: 60,000 characters\]$/u)
    expect(workbook.worksheets[0]!.getCell('A3').value).toBe('short')
  })
})

describe('Accept', () => {
  const typeFor = async (accept: string, query = '') =>
    String((await get(query, { accept })).headers['content-type']).split(';')[0]

  it.each([
    ['application/json', 'application/json'],
    ['application/json, text/plain, */*', 'application/json'],
    ['application/vnd.apache.parquet', 'application/vnd.apache.parquet'],
    ['application/x-ndjson;q=0.5, text/tab-separated-values;q=0.8', 'text/tab-separated-values'],
    ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'text/csv'],
    ['application/json;q=0.1, */*', 'text/csv'],
    ['application/json;q=0', 'text/csv'],
    ['text/html', 'text/csv'],
    ['*/*', 'text/csv'],
    ['text/*, application/json;q=0.9', 'text/csv'],
  ])('%s gives %s', async (accept, type) => {
    expect(await typeFor(accept)).toBe(type)
  })

  it('is overruled by $format', async () => {
    expect(await typeFor('application/json', '?$format=tsv')).toBe('text/tab-separated-values')
  })

  it('gives a file under the ending of its format', async () => {
    const { headers } = await get('', { accept: 'application/vnd.apache.arrow.stream' })
    expect(headers['content-disposition']).toContain('.arrow')
    expect(headers.vary).toBe('Accept, Accept-Encoding')
    expect(repository).toBeGreaterThan(0)
  })
})

import { execFileSync } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Platform, platform } from './platform.ts'

let at: Platform
let ada: string
let id: number
beforeAll(async () => {
  at = await platform()
  ada = await at.account('ada')
  id = await made('price list', 'day,price,ok,note\n2024-01-31,1.5,true,x\n,2,false,\n')
})
afterAll(() => at[Symbol.asyncDispose]())

async function made(name: string, csv: string, more = {}): Promise<number> {
  const repository = await at.call(ada, 'POST', '/repositories', { json: { name: `of ${name}` } })
  const json = { name, repositoryId: repository.json().id, ...more }
  const { id } = (await at.call(ada, 'POST', '/datasets', { json })).json()
  if (csv !== '') {
    const headers = { 'content-type': 'text/csv' }
    const written = await at.call(ada, 'PUT', `/datasets/${id}/data`, { body: csv, headers })
    expect(written.statusCode, written.body).toBe(200)
  }
  return id
}

const patch = (json: object, of = id) => at.call(ada, 'PATCH', `/datasets/${of}`, { json })
const get = async (ending: string, of = id) => {
  const answer = await at.call(ada, 'GET', `/datasets/${of}${ending}`)
  expect(answer.statusCode, answer.body).toBe(200)
  return answer
}

const METADATA = {
  title: 'Prices of the market',
  license: 'CC-BY-4.0',
  source: 'https://example.org/market',
  creator: 'The market',
  keywords: ['prices', 'food'],
  citation: 'The market (2024): Prices.',
}

describe('what is written down about a dataset', () => {
  it('is changed field by field, kept by uploads, and removed by null', async () => {
    const words = {
      ...METADATA,
      description: 'In **euros**.',
      columns: [{ name: 'price', title: 'Price', unit: 'EUR' }],
    }
    const changed = await patch(words)
    expect(changed.statusCode, changed.body).toBe(200)
    expect(changed.json()).toMatchObject({ ...METADATA, description: 'In **euros**.' })
    expect(changed.json().columns[1]).toEqual({
      ...{ name: 'price', type: 'double', nullable: true, description: '' },
      ...{ title: 'Price', unit: 'EUR' },
    })
    await patch({ columns: [{ name: 'price', description: 'of one', unit: null }] })
    expect((await patch({ citation: 'one\n\ttwo' })).statusCode).toBe(200)
    expect((await patch({ citation: null })).json().citation).toBeUndefined()
    const body = 'day,price,ok,note\n2024-01-31,1.5,true,x\n'
    await at.call(ada, 'POST', `/datasets/${id}/data`, { body, headers: { 'content-type': 'text/csv' } })
    const { citation: _, ...kept } = METADATA
    const record = (await get('')).json()
    expect(record).toMatchObject(kept)
    expect(record.columns[1]).toEqual({
      ...{ name: 'price', type: 'double', nullable: true, description: 'of one', title: 'Price' },
    })
    // What was read can be declared again.
    const again = await at.call(ada, 'PUT', `/datasets/${id}/columns`, { json: record.columns })
    expect(again.json().columns).toEqual(record.columns)
    const listed = (await at.call(ada, 'GET', '/datasets')).json()
    expect(listed.find((one: { id: number }) => one.id === id)).toMatchObject(kept)
    await patch({ citation: METADATA.citation, columns: [{ name: 'price', unit: 'EUR' }] })
  })

  it('is refused where it is wrong, and then nothing is changed', async () => {
    const before = (await get('')).json()
    for (const [wrong, message] of [
      [{ license: 'do what you like!' }, 'SPDX'],
      [{ description: 'a\0b' }, 'U+0000'],
      [{ description: 'a\ud800' }, 'half characters'],
      [{ title: ' ' }, 'title must be text'],
      [{ title: 'a\0b' }, 'title must be text'],
      [{ citation: 'a\u0085b' }, 'no control characters'],
      [{ keywords: ['a\u0007'] }, 'keywords must be a list'],
      [{ license: 'https://a\0' }, 'license'],
      [{ columns: [{ name: 'price', title: 'a\0' }] }, 'title'],
      [{ columns: [{ name: 'price', description: 'a\0' }] }, 'without control characters'],
      [{ title: 'x'.repeat(301) }, 'title'],
      [{ keywords: 'a' }, 'keywords'],
      [{ keywords: [''] }, 'keywords must be a list'],
      [{ title: 'new', columns: [{ name: 'prize', unit: 'EUR' }] }, 'no column \\"prize\\"'],
      [{ columns: [{ name: 'price', unit: '' }] }, 'unit'],
      [{ columns: [{ name: 'price', type: 'string' }] }, 'type'],
    ] as const) {
      const refused = await patch(wrong)
      expect(refused.statusCode, refused.body).toBe(400)
      expect(refused.body).toContain(message)
    }
    expect((await get('')).json()).toEqual(before)
  })

  it('is told with the rows', async () => {
    const { link } = (await get('/data?$version=1')).headers
    expect(link).toContain(`</datasets/${id}/versions/1>; rel="memento"`)
    expect(link).toContain(`</datasets/${id}/croissant.json>; rel="describedby"; type="application/ld+json"`)
    expect(link).toContain('<https://spdx.org/licenses/CC-BY-4.0.html>; rel="license"')
  })
})

describe('documents for other programs', () => {
  it('describe a row as JSON Schema', async () => {
    const { headers, body } = await get('/schema.json')
    expect(headers['content-type']).toBe('application/schema+json; charset=utf-8')
    expect(JSON.parse(body)).toMatchObject({
      title: METADATA.title,
      properties: {
        day: { type: ['string', 'null'], format: 'date' },
        price: { type: ['number', 'string', 'null'], title: 'Price', description: 'of one Unit: EUR' },
        ok: { type: ['boolean', 'null'] },
      },
      required: ['day', 'price', 'ok', 'note'],
    })
  })

  it('describe all that a double may be, and no other text', async () => {
    const one = await made('doubles', 'd\n1.5\nNaN\n-INF\nINF\n\n')
    const check = new Ajv2020().compile((await get('/schema.json', one)).json())
    const rows = (await get('/data?$format=json', one)).json()
    expect(rows).toEqual([1.5, 'NaN', '-INF', 'INF', null].map((d) => ({ d })))
    for (const row of rows) expect(check(row), JSON.stringify(row)).toBe(true)
    expect(check({ d: '1.5' })).toBe(false)
  })

  it.each([
    'croissant',
    'datapackage',
    'schema',
  ])('%s.json is sent again only if it has changed', async (name) => {
    const { headers } = await get(`/${name}.json`)
    const url = `/datasets/${id}/${name}.json`
    const again = () => at.call(ada, 'GET', url, { headers: { 'if-none-match': String(headers['etag']) } })
    expect((await again()).statusCode).toBe(304)
    await patch({ citation: `as ${name}` })
    expect((await again()).statusCode).toBe(200)
  })

  it.each([
    'croissant',
    'datapackage',
  ])('%s.json that is asked for by an address with the key leads to rows that need none', async (name) => {
    const answer = await at.call(undefined, 'GET', `/datasets/${id}/${name}.json?apiKey=${ada}`)
    const [, address] = /"(http[^"]*\/data\?[^"]*)"/.exec(answer.body)!
    const { pathname, search } = new URL(address!)
    expect(search).not.toContain(ada)
    const rows = await at.call(undefined, 'GET', pathname + search)
    expect(rows.body).toBe((await get('/data?$format=csv')).body)
  })

  it('are for those who may read the dataset', async () => {
    const eve = await at.account('eve')
    expect((await at.call(eve, 'GET', `/datasets/${id}/croissant.json`)).statusCode).toBe(403)
    expect((await at.call(ada, 'GET', '/datasets/9999/croissant.json')).statusCode).toBe(404)
  })

  const python = process.env['PARQUETRY_PYTHON']
  it.skipIf(!python)(
    'are valid by mlcroissant and frictionless, also of odd datasets',
    { timeout: 300_000 },
    async () => {
      const types = ['boolean', 'integer', 'double', 'decimal(10,2)', 'string', 'date', 'time', 'timestamp']
      const all = [...types, 'timestamptz', 'uuid', 'binary', 'json']
      const odd = [
        await made('empty', ''),
        await made('ÄÖÜ / 日本', 'größe,"a b","x""y",日本\n1,2,3,4\n'),
        await made('...', 'a\n1\n'),
        await made('types', '', { columns: all.map((type, at) => ({ name: `c${at}`, type })) }),
        await made('not null', '', { columns: [{ name: 'a', type: 'integer', nullable: false }] }),
        await made('nothing but nulls', 'a,b\n,\n'),
        await made('"quoted" <b>&amp;</b>', '"<b>",\'\n1,2\n'),
        await made('long', `${'x'.repeat(900)}\n1\n`),
        await made('wide', `${Array.from({ length: 200 }, (_, at) => `c${at}`).join()}\n`),
        await made('with a description', 'a\n1\n', { description: '# Title\n\n- one\n- two\n' }),
        id,
      ]
      const folder = mkdtempSync(join(tmpdir(), 'parquetry-metadata-'))
      for (const one of odd) {
        writeFileSync(join(folder, `${one}.croissant.json`), (await get('/croissant.json', one)).body)
        writeFileSync(join(folder, `${one}.datapackage.json`), (await get('/datapackage.json', one)).body)
      }
      const program = join(import.meta.dirname, '../tools/programs/metadata.py')
      const said = execFileSync(python!, [program, folder], { encoding: 'utf8' })
      expect(said.trim().split('\n').at(-1)).toBe(`${odd.length * 2} documents are valid`)
    },
  )
})

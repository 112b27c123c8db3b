import { createRequire } from 'node:module'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { zipOf } from '../ingest/support/zips.ts'
import { dataset, type Platform, platform } from '../server/platform.ts'

const { utils, write } = createRequire(import.meta.url)('@e965/xlsx') as typeof import('@e965/xlsx')

let at: Platform
beforeAll(async () => {
  at = await platform()
})
afterAll(() => at[Symbol.asyncDispose]())

const JAN = 'Datum;Umsatz\n01.01.2024;1.234,50\n15.01.2024;12.000,00\n'
const FEB = 'Datum;Umsatz\n01.02.2024;2.500\n15.02.2024;13.000\n'
const OPTIONS = { delimiter: ';', decimal: ',', thousands: '.', dates: 'D.M.YYYY' }
const KEPT = { ...OPTIONS, dialect: 'auto' }

async function table() {
  const { id, repository } = await dataset(at, at.root, {})
  const send = async (method: string, query: string, body: string | Buffer, type = 'text/csv') =>
    (
      await at.call(at.root, method, `/datasets/${id}/data${query}`, {
        body,
        headers: { 'content-type': type },
      })
    ).json()
  const record = async () => (await at.call(at.root, 'GET', `/datasets/${id}`)).json()
  const rows = async () => (await at.call(at.root, 'GET', `/datasets/${id}/data?$format=json`)).json()
  return { id, repository, send, record, rows }
}

it('an append is read as the last upload was, and the record, the preview and the answer say so', async () => {
  const { send, record, rows } = await table()
  expect((await send('PUT', '?columns=replace&dialect=auto', JAN)).options).toEqual(OPTIONS)
  expect((await record()).uploadOptions).toEqual(KEPT)
  expect(await send('POST', '?dryRun=true', FEB)).toMatchObject({
    options: OPTIONS,
    rows: [{ Umsatz: 2500 }, { Umsatz: 13_000 }],
  })
  expect(await send('POST', '', FEB)).toMatchObject({ options: OPTIONS, uploadOptions: KEPT })
  expect((await rows()).map(({ Umsatz }: { Umsatz: number }) => Umsatz)).toEqual([
    1234.5, 12_000, 2500, 13_000,
  ])
  expect((await send('PUT', '', FEB)).rowCount).toBe(2)
  expect(await rows()).toEqual([
    { Datum: '2024-02-01', Umsatz: 2500 },
    { Datum: '2024-02-15', Umsatz: 13_000 },
  ])
})

it('each option that an upload names takes the place of one, and is kept with the others', async () => {
  const { send, record, rows } = await table()
  await send('PUT', '?columns=replace&delimiter=;&nulls=NA,-', 'n;t\n1;-\n')
  expect((await record()).uploadOptions).toEqual({ nulls: 'NA,-', delimiter: ';' })
  await send('POST', '?delimiter=|', 'n|t\nNA|x\n')
  expect((await record()).uploadOptions).toEqual({ nulls: 'NA,-', delimiter: '|' })
  await send('POST', '', '{"n":3,"t":"-"}\n', 'application/x-ndjson')
  await send('POST', '', 'n\tt\n4\t-\n', 'text/tab-separated-values')
  expect((await record()).uploadOptions).toEqual({ nulls: 'NA,-', delimiter: '|' })
  expect(await rows()).toEqual([
    { n: 1, t: null },
    { n: null, t: 'x' },
    { n: 3, t: '-' },
    { n: 4, t: null },
  ])
})

it('dialect and columns=replace read a file as if it were the first', async () => {
  const { send, record } = await table()
  await send('PUT', '?columns=replace&dialect=auto', JAN)
  expect((await send('POST', '?dialect=standard', FEB)).code).toBe('invalid_upload')
  expect(await send('PUT', '?columns=replace', 'a,b\n1,2\n')).toMatchObject({
    columns: [{ name: 'a' }, { name: 'b' }],
  })
  expect(await record()).not.toHaveProperty('uploadOptions')
  await send('PUT', '?columns=replace&dialect=auto', 'a,b\n1,2\n')
  expect((await record()).uploadOptions).toEqual({ dialect: 'auto' })
})

it('a file that does not fit is told with which options it was read', async () => {
  const { send, record } = await table()
  await send('PUT', '?columns=replace&dialect=auto', JAN)
  const refused = await send('POST', '', 'Datum,Umsatz\n2024-03-01,7.5\n')
  expect(refused).toMatchObject({ code: 'column_conflict' })
  expect(refused.error).toContain('read as the last upload was, with delimiter=%3B&decimal=%2C&thousands=.')
  expect((await record()).uploadOptions).toEqual(KEPT)
  expect((await send('POST', '?dialect=auto', 'Datum,Umsatz\n2024-03-01,7.5\n')).rowCount).toBe(3)
})

it('after auto, numbers of another column do not show what a point in a column of whole numbers is for', async () => {
  const { send } = await table()
  await send('PUT', '?columns=replace&dialect=auto', 'n,x\n1,1.5\n')
  expect(await send('POST', '', 'n,x\n2.000,1.5\n')).toMatchObject({ code: 'invalid_upload', column: 'n' })
  expect(await send('POST', '?decimal=.', 'n,x\n2.000,1.5\n')).toMatchObject({ rowCount: 2 })
})

it('after auto, a file without a header is not taken by the order of its columns', async () => {
  const { send, rows } = await table()
  await send('PUT', '?columns=replace&dialect=auto', 'k,v,w\n1,a,x\n2,b,y\n')
  expect(await send('POST', '', '3,z,c\n4,u,d\n')).toMatchObject({ code: 'column_conflict' })
  expect(await send('POST', '?dialect=auto', '3,z,c\n4,u,d\n')).toMatchObject({ code: 'column_conflict' })
  expect(await send('POST', '?header=absent', '3,c,z\n')).toMatchObject({ rowCount: 3 })
  expect((await rows()).at(-1)).toEqual({ k: 3, v: 'c', w: 'z' })
})

it('a copy is read as the original was', async () => {
  const { id, repository, send } = await table()
  await send('PUT', '?columns=replace&dialect=auto', JAN)
  const json = { repositoryId: repository, name: 'copied' }
  const copy = (await at.call(at.root, 'POST', `/datasets/${id}/copy`, { json })).json()
  expect(copy.uploadOptions).toEqual(KEPT)
})

it('a title is looked for in each later file, which may have none', async () => {
  const { send, record } = await table()
  const titled = 'All shops, 2026\n\nday;n\n01.02.2026;1,5\n13.02.2026;2\n'
  expect((await send('PUT', '?columns=replace&dialect=auto', titled)).options).toMatchObject({ skip: '2' })
  expect((await record()).uploadOptions).not.toHaveProperty('skip')
  expect(await send('POST', '', 'day;n\n14.02.2026;3,5\n')).toMatchObject({ rowCount: 3 })
  expect(await send('POST', '', titled)).toMatchObject({ rowCount: 5, options: { skip: '2' } })
})

it('a footer is looked for in each later file, whose last rows may be rows; one that was asked for is left out', async () => {
  const { send, record, rows } = await table()
  const totals = 'day;n\n2024-01-01;1\n2024-01-13;2\ntotal;3\n'
  expect((await send('PUT', '?columns=replace&dialect=auto', totals)).options).toMatchObject({ footer: '1' })
  expect((await record()).uploadOptions).not.toHaveProperty('footer')
  expect((await send('POST', '', 'day;n\n2024-02-01;4\n2024-02-02;5\n')).rowCount).toBe(4)
  expect(await send('POST', '', totals)).toMatchObject({ options: { footer: '1' }, rowCount: 6 })
  expect((await send('POST', '?footer=1', totals)).rowCount).toBe(8)
  expect((await record()).uploadOptions).toMatchObject({ footer: '1' })
  expect((await rows()).map(({ n }: { n: number }) => n)).toEqual([1, 2, 4, 5, 1, 2, 1, 2])
})

it('warns in words of the API where a blank line is between the rows of a footer', async () => {
  const { send } = await table()
  const { warnings } = await send('PUT', '?columns=replace&footer=2', 'a,b\n1,2\ntotal,2\n\nnote,\n')
  expect(warnings).toEqual([
    'footer=2 counts rows that are not blank: the first that it leaves out is "total,2".',
  ])
})

it.each([
  ['k,n\na,5\nb,7\n', '2.000', '7.00', 7],
  ['k,n\na,1.5\nb,2.25\n', '2.500', '2.5', 2.5],
  ['k,n\na,0.125\n', '-13.250', '13.2505', 13.2505],
])('after auto, an append to %j takes no number that may be another one', async (first, open, sure, number) => {
  const { send, record, rows } = await table()
  await send('PUT', '?columns=replace&dialect=auto', first)
  const before = await rows()
  for (const method of ['POST', 'PUT']) {
    expect(await send(method, '', `k,n\nc,${open}\nd,${open}\n`)).toMatchObject({
      code: 'invalid_upload',
      row: 1,
      column: 'n',
      value: open,
      hints: expect.arrayContaining(['decimal=,&thousands=.', 'decimal=.']),
    })
  }
  expect(await rows()).toEqual(before)
  await send('POST', '', `k,n\nc,${sure}\n`)
  expect((await rows()).at(-1)).toEqual({ k: 'c', n: number })
  expect((await record()).uploadOptions).toEqual({ dialect: 'auto' })
  await send('POST', '?decimal=,&thousands=.', `k,n\nd,${open}\n`)
  const n = Number(open.replace('.', ''))
  expect((await rows()).at(-1)).toEqual({ k: 'd', n })
})

it('the zone of an upload of local times holds for later ones; without one, they are refused', async () => {
  const { id, send, record, rows } = await table()
  await send('PUT', '?columns=replace', 't\n2024-07-01T10:00:00Z\n')
  const local = 't\n2024-07-01T12:00:00\n'
  expect(await send('POST', '', local)).toMatchObject({
    code: 'invalid_upload',
    option: 'zone',
    row: 1,
    column: 't',
    value: '2024-07-01T12:00:00',
    hints: ['zone=Europe/Berlin'],
  })
  expect(await send('POST', '?zone=Nowhere', local)).toMatchObject({ code: 'invalid_option', option: 'zone' })
  const uploadOptions = { zone: '+02:00' }
  expect(await send('POST', '?zone=%2B02:00', local)).toMatchObject({ uploadOptions })
  expect((await record()).uploadOptions).toEqual(uploadOptions)
  expect(await send('POST', '?dryRun=true&zone=+02:00', local)).toMatchObject({ options: uploadOptions })
  const json = JSON.stringify([{ t: '2024-07-01T13:00' }])
  expect(await send('POST', '', json, 'application/json')).toMatchObject({ options: uploadOptions })
  expect((await rows()).map(({ t }: { t: string }) => t.slice(11))).toEqual([
    '10:00:00Z',
    '10:00:00Z',
    '11:00:00Z',
  ])
  const change = async (set: object) =>
    (await at.call(at.root, 'PATCH', `/datasets/${id}/data?$filter=true`, { json: set })).json()
  expect(await change({ t: '2024-07-01T12:00' })).toMatchObject({
    code: 'invalid_option',
    column: 't',
    value: '2024-07-01T12:00',
  })
})

it('hold for csv in an archive or called xls as well, and are left out for what they are not for', async () => {
  const csv = 'n;v\n1;1.234\n'
  const options = { delimiter: ';', decimal: ',', thousands: '.' }
  const { send, record, rows } = await table()
  await send('PUT', '?columns=replace&delimiter=;&decimal=,&thousands=.', 'n;v\n0;0,5\n')
  for (const [body, type] of [
    [await zipOf({ 'a.csv': csv }), 'application/zip'],
    [gzipSync(csv), 'application/gzip'],
    [csv, 'application/vnd.ms-excel'],
  ] as const) {
    expect(await send('POST', '?dryRun=true', body, type)).toMatchObject({ options, errors: [] })
    expect(await send('POST', '', body, type)).toMatchObject({ options })
  }
  const json = await send('POST', '', await zipOf({ 'a.json': '[{"n":4,"v":5.5}]' }), 'application/zip')
  expect(json.options ?? {}).toEqual({})
  const book = utils.book_new(
    utils.aoa_to_sheet([
      ['n', 'v'],
      [5, 6.5],
    ]),
  )
  const sheet = write(book, { type: 'buffer', bookType: 'biff8' })
  const xls = await send('POST', '', sheet, 'application/vnd.ms-excel')
  expect(xls.options ?? {}).toEqual({})
  expect((await rows()).map(({ v }: { v: number }) => v)).toEqual([0.5, 1234, 1234, 1234, 5.5, 6.5])
  expect((await record()).uploadOptions).toEqual(options)
  const named = await send('POST', '?decimal=,', await zipOf({ 'a.json': '[]' }), 'application/zip')
  expect(named).toMatchObject({ code: 'invalid_option', option: 'decimal' })
})

const GERMAN = '?columns=replace&delimiter=;&decimal=,&thousands=.'

it.each(['POST', 'PUT'])('%s warns of thousands that only an earlier upload shows', async (method) => {
  const { send } = await table()
  await send('PUT', GERMAN, 'k;n\na;1.234,5\n')
  const { warnings, hints } = await send(method, '', 'k;n\na;7\nb;-1.234\nc;2.500\n')
  expect(warnings).toEqual([
    'Row 2, column "n": "-1.234" was read with thousands=. of an earlier upload, and no number of the file shows that. ' +
      'If its point is before decimal places, the file needs decimal=. instead.',
  ])
  expect(hints).toEqual(['thousands=.', 'decimal=.'])
  expect((await send(method, '?dryRun=true', 'k;n\na;1.234\n')).warnings).toHaveLength(1)
})

it.each([
  ['decimal places', 'k;n\na;1.234\nb;1.234,5\n', ''],
  ['two separators', 'k;n\na;1.234\nb;1.234.567\n', ''],
  ['no separator', 'k;n\na;1234\nb;1,234\n', ''],
  ['text', 'k;n\n1.234;7\nx;8\n', ''],
  ['the option itself', 'k;n\na;1.234\n', '?thousands=.'],
  ['the option of decimals', 'k;n\na;1.234\n', '?decimal=,'],
])('does not warn of thousands that %s shows', async (_, body, query) => {
  const { send } = await table()
  await send('PUT', GERMAN, 'k;n\na;1.234,5\n')
  const sent = await send('POST', query, body)
  expect(sent).toMatchObject({ rowCount: body.split('\n').length - 1 })
  expect(sent).not.toHaveProperty('warnings')
})

it('does not warn of thousands that decimal places in another column show', async () => {
  const { send } = await table()
  await send('PUT', GERMAN, 'k;n\n0,5;1.234,5\n')
  expect(await send('POST', '', 'k;n\n1,5;1.234\n')).not.toHaveProperty('warnings')
})

it('warns of commas that only an earlier upload shows, unless there are decimal places', async () => {
  const { send } = await table()
  await send('PUT', '?columns=replace&thousands=,', 'n\n"1,234.5"\n')
  expect((await send('POST', '', 'n\n"1,234"\n')).warnings).toEqual([
    expect.stringContaining('If its comma is before decimal places, the file needs decimal=, instead.'),
  ])
  expect(await send('POST', '', 'n\n"1,234"\n0.5\n')).not.toHaveProperty('warnings')
})

it('a decimal separator that an upload names is not kept between thousands', async () => {
  const { send, rows, record } = await table()
  await send('PUT', GERMAN, 'n\n"1.234,5"\n')
  expect(await send('POST', '?decimal=.', 'n\n1.234\n')).toMatchObject({ rowCount: 2 })
  expect(await rows()).toEqual([{ n: 1234.5 }, { n: 1.234 }])
  expect((await record()).uploadOptions).toEqual({ delimiter: ';', decimal: '.' })
})

import { readdirSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { dataset, type Platform, platform } from '../platform.ts'

let at: Platform
let ada: string
beforeAll(async () => {
  at = await platform()
  ada = await at.account('ada')
})
afterAll(() => at[Symbol.asyncDispose]())

const csv = (body: string | Buffer, more: Record<string, string> = {}) => ({
  body,
  headers: { 'content-type': 'text/csv', ...more },
})

async function preview(body: string | Buffer, query: Record<string, string> = {}) {
  const response = await at.call(ada, 'POST', `/preview?${new URLSearchParams(query)}`, csv(body))
  expect(response.statusCode, response.body).toBe(200)
  return response.json()
}

const shape = ({ columns }: { columns: { name: string; type: string }[] }) =>
  columns.map(({ name, type }) => `${name} ${type}`)

/** The files that an upload has left in the data directory. */
function files(): string[] {
  return readdirSync(at.directory, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /\.parquet$|upload|preview/.test(name),
  )
}

describe('POST /preview', () => {
  it('gives columns, rows and why a column is text, and stores nothing', async () => {
    const before = files()
    const given = await preview('n,price\n1,1.5\n2,3\n3,"1.234,50"\n4,x\n')
    expect(given).toEqual({
      columns: [
        { name: 'n', type: 'integer', nullable: true, description: '' },
        {
          name: 'price',
          type: 'string',
          nullable: true,
          description: '',
          because: { row: 3, value: '1.234,50', above: 'double', try: 'decimal=,&thousands=.' },
        },
      ],
      rowCount: 4,
      options: {},
      warnings: [],
      errors: [],
      rows: [
        { n: 1, price: '1.5' },
        { n: 2, price: '3' },
        { n: 3, price: '1.234,50' },
        { n: 4, price: 'x' },
      ],
    })
    expect(files()).toEqual(before)
  })

  it('takes a csv with a blank line at its end', async () => {
    expect(await preview('a,b\n1,x\n\n')).toMatchObject({ rowCount: 1, errors: [] })
  })

  it('warns in words of the API', async () => {
    const { warnings } = await preview('a,b\n1,2\ntotal,2\n\nnote,\n', { footer: '2' })
    expect(warnings[0]).toMatch(/^footer=2 counts rows/)
  })

  it('reads the beginning of a file without a record that is cut off', async () => {
    const cut = await preview('a,b\n1,2\n3,"4\n5', { beginning: 'true' })
    expect(cut).toMatchObject({ rows: [{ a: 1, b: 2 }], errors: [] })
    expect(cut.warnings[0]).toContain('Only the beginning')
    expect((await preview('a;b\n1;2\n3', { beginning: 'true', dialect: 'auto' })).rows).toEqual([
      { a: 1, b: 2 },
    ])
    const utf16 = Buffer.from('\ufeffa,b\n1,é\n2', 'utf16le').subarray(0, -1)
    expect((await preview(utf16, { beginning: 'true', encoding: 'utf-16' })).rows).toEqual([{ a: 1, b: 'é' }])
    const lines = await at.call(ada, 'POST', '/preview?beginning=true', {
      body: '{"a":1}\n{"a":2}\n{"a',
      headers: { 'content-type': 'application/x-ndjson' },
    })
    expect(lines.json().rows).toEqual([{ a: 1 }, { a: 2 }])
  })

  it('names what is wrong with the file, up to twenty things', async () => {
    const one = await preview('a,b\n1,2\n3\n4,5,6\n')
    expect(one).toMatchObject({ columns: [], rows: [] })
    expect(one.errors).toEqual([
      {
        row: 2,
        error: 'Row 2: it has 1 of the 2 fields of the header: "3". Remove the line if it is a note.',
      },
      { row: 3, error: expect.stringContaining('the first that is too many is "6"'), hints: ['names=index'] },
    ])
    expect((await preview(`a,b\n${'1\n'.repeat(30)}`)).errors).toHaveLength(20)
    expect((await preview('')).errors[0].error).toContain('The file is empty')
  })

  it('shows the first rows alone, and reads packed files and workbooks', async () => {
    const many = Array.from({ length: 1000 }, (_, index) => index).join('\n')
    const { rows, rowCount } = await preview(`n\n${many}\n`)
    expect([rows.length, rowCount]).toEqual([20, 1000])
    const packed = csv(gzipSync('a\n1\n'), { 'content-encoding': 'gzip' })
    expect((await at.call(ada, 'POST', '/preview', packed)).json().rows).toEqual([{ a: 1 }])
    const { id } = await dataset(at, ada)
    const book = await at.call(ada, 'GET', `/datasets/${id}/data?$format=xlsx`)
    const type = String(book.headers['content-type'])
    const read = await at.call(ada, 'POST', '/preview', {
      body: book.rawPayload,
      headers: { 'content-type': type },
    })
    expect(read.json()).toMatchObject({ rowCount: 10, sheets: [expect.any(String)], errors: [] })
  })

  it('names the option for days that may be read in two ways', async () => {
    const { because } = (await preview('day\n01/02/2024\n03/04/2024\n')).columns[0]
    expect(because).toEqual({ row: 1, value: '01/02/2024', try: 'dates=D/M/YYYY', or: 'dates=M/D/YYYY' })
    expect((await preview('day\n01/13/2024\n')).columns[0].because.try).toBe('dates=M/D/YYYY')
  })

  it('names no option for a day that does not exist', async () => {
    const text = 'day\n31.01.2024\n31.02.2024\n'
    const because = { row: 2, value: '31.02.2024', above: 'date' }
    expect((await preview(text, { dates: 'D.M.YYYY' })).columns[0].because).toEqual(because)
    expect((await preview('day\n31.02.2024\n')).columns[0].because).toEqual({ row: 1, value: '31.02.2024' })
  })

  it('says of a row of totals that the values above it have a type', async () => {
    const text = 'day;sum\n01.02.2024;2,5\n13.02.2024;7,5\ntotal;10,0\n'
    const read = await preview(text, { delimiter: ';', decimal: ',', dates: 'D.M.YYYY' })
    expect(read.columns[0]).toMatchObject({
      type: 'string',
      because: { row: 3, value: 'total', above: 'date' },
    })
    expect(read.columns[1]).toMatchObject({ type: 'double' })
    expect(read.rows[0]).toEqual({ day: '01.02.2024', sum: 2.5 })
    const auto = await preview(text, { dialect: 'auto' })
    expect(auto).toMatchObject({ rowCount: 2, options: { footer: '1' } })
    expect(auto.why).toContainEqual({ option: 'footer', row: 3, value: 'total' })
    expect((await preview('n\n\nall\n')).columns[0].because).not.toHaveProperty('above')
  })

  it('needs a key, a known type and options that fit', async () => {
    expect((await at.call(undefined, 'POST', '/preview', csv('a\n1\n'))).statusCode).toBe(401)
    const image = { body: 'x', headers: { 'content-type': 'image/png' } }
    expect((await at.call(ada, 'POST', '/preview', image)).statusCode).toBe(415)
    expect((await at.call(ada, 'POST', '/preview?sheet=x', csv('a\n1\n'))).json().code).toBe('invalid_option')
    const series = await at.call(ada, 'POST', '/preview', { json: { provider: 'fred', series: ['GDP'] } })
    expect(series.json().error).toContain('A preview reads rows')
  })
})

describe('dialect=auto', () => {
  it.each([
    ['a;b\n1;1.234,50\n2;3,5\n', ['a integer', 'b double'], { delimiter: ';', decimal: ',', thousands: '.' }],
    ['a,b\n"1,234",x\n5,y\n', ['a integer', 'b string'], { thousands: ',' }],
    ['day\tn\n31.12.2024\t1\n', ['day date', 'n integer'], { delimiter: 'tab', dates: 'D.M.YYYY' }],
    ['d,n\n12/31/2024,NA\n01/02/2024,3\n', ['d date', 'n integer'], { dates: 'M/D/YYYY', nulls: 'NA' }],
    ['d\n01/02/2024\n', ['d string'], {}],
    ['"","x"\n"1",2\n"2",3\n', ['index integer', 'x integer'], { names: 'index' }],
    ['1,2020-01-01\n2,2020-01-02\n', ['column1 integer', 'column2 date'], { header: 'absent' }],
    [
      Buffer.from('n|v\nJosé|1\n', 'latin1'),
      ['n string', 'v integer'],
      { delimiter: '|', encoding: 'windows-1252' },
    ],
    [
      Buffer.from('\ufeffn;v\nx;1,5\n', 'utf16le'),
      ['n string', 'v double'],
      { encoding: 'utf-16', decimal: ',' },
    ],
    ['a,b\n1,2\n', ['a integer', 'b integer'], {}],
  ])('reads %j as a person would, and says how', async (body, columns, options) => {
    const read = await preview(body, { dialect: 'auto' })
    expect(shape(read)).toEqual(columns)
    expect(read.options).toMatchObject(options)
    if (Object.keys(options).length === 0) expect(read.options).toEqual({})
  })

  const latin1 = (text: string) => Buffer.from(text, 'latin1')

  it.each([
    ['plain', 'a,b\n1,2.5\n', ''],
    [
      'semicolons and decimal commas in Latin 1',
      latin1('Stadt;Höhe\nKöln;1,5\nHof;-2,25\n'),
      'decimal=,&delimiter=;&encoding=windows-1252',
    ],
    ['tabs in UTF-16', Buffer.from('\ufeffa\tb\n1\tx\n', 'utf16le'), 'delimiter=tab&encoding=utf-16'],
    ['bars', 'a|b\n1|x, y\n', 'delimiter=|'],
    ['no names', '1,x\n2,y\n', 'header=absent'],
    ['years as names', 'country,2020,2021\nNO,1,2\n', ''],
    ['texts alone', 'a,b\nx,y\n', ''],
    ['words for no value', 'n,t\n1,a\nNA,NA\n-,b\n', 'nulls=NA,-&textNulls=keep'],
    ['days before months', 'a;am\n1;31.12.2023\n2;1.2.2024\n', 'dates=D.M.YYYY&delimiter=;'],
    ['slashes, the day first', 'a,d\n1,31/01/2024\n2,NA\n', 'dates=D/M/YYYY&nulls=NA&textNulls=keep'],
    ['slashes, the month first, with times', 'a,d\n1,1/31/2024 9:05\n', 'dates=M/D/YYYY'],
    ['versions, which are no days', 'a,v\n1,31.12.2023\n2,1.2\n', ''],
    ['quoted delimiters', 'a,b\n"x;y;z",1\n"u;v;w",2\n', ''],
    ['one column', 'a\n1\n2\n', ''],
    ['a header alone', 'a;b', 'delimiter=;'],
  ])('finds %s', async (_, body, options) => {
    const { options: found, errors } = await preview(body, { dialect: 'auto' })
    expect(errors).toEqual([])
    const shown = Object.entries(found).map(([name, value]) => `${name}=${value}`)
    expect(shown.sort().join('&')).toBe(options)
  })

  it('leaves options alone that are given', async () => {
    const read = await preview('a;b\n1;2\n', { dialect: 'auto', delimiter: ',' })
    expect(read.errors[0].error).toContain('delimiter=;')
    expect(read.options).toEqual({ delimiter: ',' })
  })

  it('is told in the answer of an upload', async () => {
    const { id } = await dataset(at, ada)
    const path = `/datasets/${id}/data?dialect=auto&columns=replace`
    const { options, why, columns } = (await at.call(ada, 'PUT', path, csv('a;b\n1,5;x\n'))).json()
    expect(why).toContainEqual({ option: 'decimal', row: 1, value: '1,5' })
    expect(options).toEqual({ delimiter: ';', decimal: ',' })
    expect(columns[1]).toMatchObject({ type: 'string', because: { row: 1, value: 'x' } })
  })
})

describe('an upload with dryRun=true', () => {
  it('reads the file as the dataset wants it, and changes nothing', async () => {
    const { id } = await dataset(at, ada)
    const before = (await at.call(ada, 'GET', `/datasets/${id}`)).json()
    const right = await at.call(ada, 'POST', `/datasets/${id}/data?dryRun=true`, csv('word,n\nx,1\n'))
    expect(right.json()).toMatchObject({ rows: [{ n: 1, word: 'x' }], errors: [] })
    const wrong = await at.call(
      ada,
      'POST',
      `/datasets/${id}/data?dryRun=true`,
      csv('n,word\nx,1\n2,y\nz,w\n'),
    )
    expect(wrong.json().errors.map(({ row, value }: { row: number; value: string }) => [row, value])).toEqual(
      [
        [1, 'x'],
        [3, 'z'],
      ],
    )
    const other = await at.call(
      ada,
      'PUT',
      `/datasets/${id}/data?dryRun=true&columns=replace`,
      csv('d\n2020-01-01\n'),
    )
    expect(shape(other.json())).toEqual(['d date'])
    const conflict = await at.call(ada, 'PUT', `/datasets/${id}/data?dryRun=true`, csv('d\n2020-01-01\n'))
    expect(conflict.json().errors[0].error).toContain('does not have')
    expect((await at.call(ada, 'GET', `/datasets/${id}`)).json()).toEqual(before)
  })

  it('is only for those who may write, and beginning only for it', async () => {
    const { id, repository } = await dataset(at, ada)
    const grace = await at.account('grace')
    await at.call(ada, 'PUT', `/repositories/${repository}/members/grace`, { json: { permission: 'Read' } })
    const path = `/datasets/${id}/data?dryRun=true`
    expect((await at.call(grace, 'POST', path, csv('n,word\n1,x\n'))).statusCode).toBe(403)
    const cut = await at.call(ada, 'POST', `/datasets/${id}/data?beginning=true`, csv('n,word\n1,x\n'))
    expect(cut.json().error).toContain('add dryRun=true')
  })
})

describe('an upload that is wrong', () => {
  it('lists up to twenty values that do not fit', async () => {
    const { id } = await dataset(at, ada)
    const rows = Array.from({ length: 50 }, (_, index) => (index % 2 ? `${index},w` : `x${index},w`)).join(
      '\n',
    )
    const response = await at.call(ada, 'POST', `/datasets/${id}/data`, csv(`n,word\n${rows}\n`))
    const { error, code, errors } = response.json()
    expect([response.statusCode, code, errors.length]).toEqual([400, 'invalid_upload', 20])
    expect(errors[0]).toEqual({ row: 1, column: 'n', value: 'x0', error })
    expect(errors[19]).toMatchObject({ row: 39, value: 'x38' })
    const json = { rows: [{ n: 'a' }, { n: 1 }, { n: 'b' }] }
    const typed = (await at.call(ada, 'POST', `/datasets/${id}/data?missing=null`, { json })).json()
    expect(typed.errors.map(({ row }: { row: number }) => row)).toEqual([1, 3])
  })
})

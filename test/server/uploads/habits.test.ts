import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { zipOf } from '../../ingest/support/zips.ts'
import { type Platform, platform } from '../platform.ts'

let at: Platform
let ada: string
beforeAll(async () => {
  at = await platform()
  ada = await at.account('ada')
})
afterAll(() => at[Symbol.asyncDispose]())

async function read(body: string | Buffer, type: string | undefined, query = '', more = {}) {
  const headers = { ...(type !== undefined && { 'content-type': type }), ...more }
  const answer = await at.call(ada, 'POST', `/preview${query}`, { body, headers })
  const { columns = [], rowCount, errors, error } = answer.json()
  const shape = columns.map(({ name, type }: { name: string; type: string }) => `${name} ${type}`).join()
  return { status: answer.statusCode, shape, rowCount, error: error ?? errors?.[0]?.error }
}

const form = (content: string | Buffer, name: string, type = '') =>
  Buffer.concat([
    Buffer.from(`--xyz\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\n${type}\r\n`),
    Buffer.from(content),
    Buffer.from('\r\n--xyz--\r\n'),
  ])
const together = (...forms: readonly Buffer[]) =>
  Buffer.concat(
    forms.map((one, at) => (at < forms.length - 1 ? one.subarray(0, -'--xyz--\r\n'.length) : one)),
  )
const FORM = 'multipart/form-data; boundary=xyz'

describe('types that programs and browsers send', () => {
  it.each([
    ['application/octet-stream', 'a,b\n1,2\n', 'a integer,b integer'],
    [undefined, 'a\tb\n1\t2\n', 'a integer,b integer'],
    ['application/x-www-form-urlencoded', 'a,b\n1,2\n', 'a integer,b integer'],
    ['application/csv', 'a,b\n1,2\n', 'a integer,b integer'],
    ['application/vnd.ms-excel', 'a,b\n1,2\n', 'a integer,b integer'],
    ['application/jsonl', '{"a":1}\n{"a":2}\n', 'a integer'],
    ['text/plain', '{"a":1}\n{"a":2}\n', 'a integer'],
    ['text/plain', '[{"a":1}]', 'a integer'],
    ['text/plain', '{\n"rows": [{"a": 1}]}', 'a integer'],
    ['text/plain; charset=iso-8859-1', Buffer.from('größe\n1\n', 'latin1'), 'größe integer'],
    ['text/csv; charset=windows-1252', Buffer.from('größe\n1\n', 'latin1'), 'größe integer'],
    ['text/csv; charset="UTF-16"', Buffer.from('\ufeffgröße\n1\n', 'utf16le'), 'größe integer'],
    [
      'text/tab-separated-values;charset=windows-1252',
      Buffer.from('größe\tb\n1\t2\n', 'latin1'),
      'größe integer,b integer',
    ],
  ])('%s', async (type, body, shape) => {
    expect(await read(body, type)).toMatchObject({ status: 200, shape, error: undefined })
  })

  it.each([
    ['a charset of a format that has none', 'application/json; charset=windows-1252', 'charset windows-1252'],
    ['no header, beside a charset', 'text/csv; header=absent;charset=windows-1252', '?header=absent'],
    ['no header, behind a charset', 'text/csv;charset=windows-1252;header=absent', '?header=absent'],
  ])('that say %s are refused', async (_, type, message) => {
    expect(await read('[{"a":1}]', type)).toMatchObject({
      status: 415,
      error: expect.stringContaining(message),
    })
  })

  it('Parquet, Arrow and workbooks by their first bytes', async () => {
    const json = { name: 'r' }
    const repositoryId = (await at.call(ada, 'POST', '/repositories', { json })).json().id
    const { id } = (await at.call(ada, 'POST', '/datasets', { json: { name: 'd', repositoryId } })).json()
    const headers = { 'content-type': 'application/octet-stream' }
    const sent = await at.call(ada, 'PUT', `/datasets/${id}/data`, { body: 'a,b\n1,x\n', headers })
    expect(sent.statusCode, sent.body).toBe(200)
    for (const format of ['parquet', 'arrow', 'xlsx']) {
      const file = await at.call(ada, 'GET', `/datasets/${id}/data?$format=${format}`)
      expect(await read(file.rawPayload, 'application/octet-stream')).toMatchObject({
        shape: 'a integer,b string',
      })
      const as = (await read(file.rawPayload, 'text/csv')).error
      expect(as).toContain(`send it as ${format}`)
    }
  })
})

describe('a form', () => {
  it.each([
    ['by the name of its file', form('a;b\n1;2\n', 'x.csv', 'Content-Type: application/octet-stream\r\n')],
    ['by its own type', form('a;b\n1;2\n', 'x', 'Content-Type: text/csv\r\n')],
    ['of a browser on Windows', form('a;b\n1;2\n', 'x.csv', 'Content-Type: application/vnd.ms-excel\r\n')],
  ])('is read %s', async (_, body) => {
    expect(await read(body, FORM, '?delimiter=;')).toMatchObject({
      shape: 'a integer,b integer',
      rowCount: 1,
    })
  })

  it('is read whatever its file has in it', async () => {
    const text = `a\n${'--xy\r\n--xyz'.repeat(1)}x\n${'y'.repeat(300_000)}\n`
    expect(await read(form(text, 'x.csv'), FORM)).toMatchObject({
      error: expect.stringContaining('occurs in one of them'),
    })
    const near = `a\n"--xyz\r\n-"\n${'y'.repeat(300_000)}\n`
    expect(await read(form(near, 'x.csv'), FORM)).toMatchObject({ shape: 'a string', rowCount: 2 })
  })

  it.each([
    [
      'without a file',
      '--xyz\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--xyz--\r\n',
      'has files and no other fields',
    ],
    ['that is cut off', form('a\n1\n', 'x.csv').subarray(0, -8), 'cut off'],
    ['with two files', together(form('a\n1\n', 'x.csv'), form('a\n', 'y.csv')), 'add entry=* to read all'],
    [
      'with a file and a field',
      `${form('a\n1\n', 'x.csv').subarray(0, -4)}\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--xyz--`,
      'no other fields',
    ],
    ['that is none', 'a,b\n1,2\n', 'cut off'],
    ['with a long beginning', 'x'.repeat(40_000), 'does not begin'],
  ])('%s is refused', async (_, body, message) => {
    expect(await read(body, FORM)).toMatchObject({ status: 415, error: expect.stringContaining(message) })
  })
})

describe('all files of a form', () => {
  const files = together(
    form('n,t\n2,x\n', 'b.csv'),
    form('{"n":1,"t":null}\n', 'a.ndjson'),
    form('n,t\n', 'c.csv'),
  )

  it('are read one after the other, as one version', async () => {
    const json = { name: 'forms' }
    const repositoryId = (await at.call(ada, 'POST', '/repositories', { json })).json().id
    const { id } = (await at.call(ada, 'POST', '/datasets', { json: { name: 'd', repositoryId } })).json()
    const headers = { 'content-type': FORM, 'idempotency-key': 'one' }
    const path = `/datasets/${id}/data?entry=*&fileColumn=file`
    for (const _ of [1, 2]) {
      const sent = await at.call(ada, 'POST', path, { body: files, headers })
      expect({ status: sent.statusCode, ...sent.json() }).toMatchObject({
        status: 200,
        version: 1,
        rowCount: 2,
      })
    }
    const rows = await at.call(ada, 'GET', `/datasets/${id}/data`)
    expect(rows.body).toBe('n,t,file\n2,x,b.csv\n1,,a.ndjson\n')
    const other = { body: form('n,t\n2,x\n', 'b.csv'), headers }
    expect((await at.call(ada, 'POST', path, other)).statusCode).toBe(422)
    const one = { body: form('n,t\n7,y\n', 'old/d.csv'), headers: { 'content-type': FORM } }
    await at.call(ada, 'PUT', `/datasets/${id}/data?fileColumn=file`, one)
    expect((await at.call(ada, 'GET', `/datasets/${id}/data`)).body).toBe('n,t,file\n7,y,d.csv\n')
  })

  it('may be large', async () => {
    const large = form(`n\n${'1\n'.repeat(400_000)}`, 'large.csv')
    const read400 = await read(together(form('n\n1\n', 'a.csv'), large, large), FORM, '?entry=*')
    expect(read400).toMatchObject({ status: 415, error: 'The form has two files called "large.csv".' })
    const all = together(form('n\n1\n', 'a.csv'), large)
    expect(await read(all, FORM, '?entry=*')).toMatchObject({ shape: 'n integer', rowCount: 400_001 })
  })

  it('may be one archive with several', async () => {
    const archive = await zipOf({ 'a.csv': 'n\n1\n', 'b.csv': 'n\n2\n' })
    expect(await read(form(archive, 'all.zip'), FORM, '?entry=*')).toMatchObject({ rowCount: 2 })
  })

  it.each([
    ['where a row of one is wrong', form('n,t\nx,y\n', 'd.csv'), 200, '"d.csv": Row 1, column "n"'],
    ['where a name shows no format', form('n\n', 'README'), 415, '"README" does not show its format'],
    ['where one is hidden', form('n\n', '.d.csv'), 415, '".d.csv" does not show'],
    ['where the form is cut off', form('n\n', 'd.csv').subarray(0, -8), 415, 'cut off'],
  ])('are refused %s', async (_, last, status, message) => {
    expect(await read(together(files, last), FORM, '?entry=*')).toMatchObject({
      status,
      error: expect.stringContaining(message),
    })
  })
})

describe('files that can not be read are named', () => {
  it.each([
    ['bzip2', Buffer.from('BZh91AY&SY'), 'compressed with bzip2: unpack it with bunzip2'],
    ['Stata', Buffer.from('<stata_dta><header>'), 'a Stata file (dta): convert it'],
    ['Feather 1', Buffer.from('FEA1xxxxxxxxFEA1'), 'Feather version 1'],
  ])('%s', async (_, body, message) => {
    for (const type of ['application/octet-stream', 'text/csv', 'application/vnd.ms-excel']) {
      expect((await read(body, type)).error).toContain(message)
    }
  })
})

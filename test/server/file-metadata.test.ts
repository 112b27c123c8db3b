import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import {
  Field,
  Int64,
  Message,
  RecordBatchReader,
  Schema,
  Table,
  tableToIPC,
  vectorFromArray,
} from 'apache-arrow'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Platform, platform } from './platform.ts'

const TYPES = {
  parquet: 'application/vnd.apache.parquet',
  arrow: 'application/vnd.apache.arrow.stream',
  'arrow-file': 'application/vnd.apache.arrow.file',
}
type Written = keyof typeof TYPES
const FORMATS = Object.keys(TYPES) as Written[]

const WORDS = {
  title: 'Prices “of” the market',
  description: 'In **euros**.\n\nNew line.',
  license: 'CC-BY-4.0',
  source: 'https://example.org/market',
  creator: 'The market',
  keywords: ['prices', 'food, fresh'],
  citation: 'The market (2024): Prices.',
}
const COLUMNS = [
  { name: 'day', description: 'of trade' },
  { name: 'größe', title: 'Größe', description: 'inside', unit: 'm²' },
]
const CSV = 'day,größe,note\n2024-01-31,1.5,x\n2024-02-29,2,y\n'

let at: Platform
let ada: string
let repositoryId: number
beforeAll(async () => {
  at = await platform()
  ada = await at.account('ada')
  repositoryId = (await at.call(ada, 'POST', '/repositories', { json: { name: 'prices' } })).json().id
})
afterAll(() => at[Symbol.asyncDispose]())

let made = 0
async function dataset(): Promise<number> {
  const json = { name: `dataset ${++made}`, repositoryId }
  return (await at.call(ada, 'POST', '/datasets', { json })).json().id
}

async function upload(id: number, body: Buffer | string, type: string, method = 'PUT', query = '') {
  const headers = { 'content-type': type }
  const answer = await at.call(ada, method, `/datasets/${id}/data${query}`, { body, headers })
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.json()
}

const record = async (id: number) => (await at.call(ada, 'GET', `/datasets/${id}`)).json()
const patch = async (id: number, json: object) => {
  const answer = await at.call(ada, 'PATCH', `/datasets/${id}`, { json })
  expect(answer.statusCode, answer.body).toBe(200)
}
const get = (id: number, format: string, query = '', headers = {}) =>
  at.call(ada, 'GET', `/datasets/${id}/data?$format=${format}${query}`, { headers })

async function described(): Promise<number> {
  const id = await dataset()
  await upload(id, CSV, 'text/csv')
  await patch(id, { ...WORDS, columns: COLUMNS })
  return id
}

/** The JSON that a file has under our key, as other readers see it. */
async function textIn(format: Written, bytes: Buffer): Promise<string | undefined> {
  if (format !== 'parquet') return RecordBatchReader.from(bytes).open().schema.metadata.get('parquetry')
  const path = join(at.directory, `file ${++made}.parquet`)
  writeFileSync(path, bytes)
  const rows = await duck(
    `SELECT decode(value) FROM parquet_kv_metadata(${quoted(path)}) WHERE decode(key) = 'parquetry'`,
  )
  return rows[0]?.[0] as string | undefined
}

const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`

async function duck(sql: string) {
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  const rows = (await connection.runAndReadAll(sql)).getRows()
  connection.closeSync()
  instance.closeSync()
  return rows
}

describe.each(FORMATS)('what is written down, in %s', (format) => {
  it('is in exports, and in the dataset that they are uploaded to', async () => {
    const id = await described()
    for (const query of ['', '&$filter=note eq %27x%27', '&$top=1', '&$select=größe,day']) {
      const { rawPayload } = await get(id, format, query)
      const other = await dataset()
      await upload(other, rawPayload, TYPES[format])
      const found = await record(other)
      expect(found, query).toMatchObject(WORDS)
      const words = new Map(COLUMNS.map((column) => [column.name, column]))
      for (const { name, type: _, nullable: __, ...column } of found.columns) {
        expect(column).toEqual({ description: '', ...words.get(name), name: undefined })
      }
    }
  })

  it('of columns follows them under other names, and is left out of what is calculated', async () => {
    const id = await described()
    const query = '&$apply=groupby((note),aggregate(größe with max as größe))'
    const text = await textIn(format, (await get(id, format, query)).rawPayload)
    expect(JSON.parse(text!)).toEqual(WORDS)
  })

  it('is in no file of a dataset that nobody has described', async () => {
    const id = await dataset()
    await upload(id, CSV, 'text/csv')
    expect(await textIn(format, (await get(id, format)).rawPayload)).toBeUndefined()
  })

  it('fills what is empty, and changes nothing that is there', async () => {
    const file = (await get(await described(), format)).rawPayload
    for (const method of ['PUT', 'POST']) {
      const id = await dataset()
      await upload(id, CSV, 'text/csv')
      await patch(id, { title: 'Mine', keywords: ['my own'], columns: [{ name: 'größe', unit: 'km' }] })
      const written = await upload(id, file, TYPES[format], method)
      const found = await record(id)
      expect(found).toMatchObject({ ...WORDS, title: 'Mine', keywords: ['my own'] })
      expect(found.columns).toEqual(written.columns)
      expect(found.columns[1]).toMatchObject({ title: 'Größe', description: 'inside', unit: 'km' })
    }
  })

  it('changes the entity tag, and is new in the next answer', async () => {
    const id = await described()
    const first = await get(id, format)
    const tag = first.headers['etag'] as string
    expect((await get(id, format, '', { 'if-none-match': tag })).statusCode).toBe(304)
    const csv = (await get(id, 'csv')).headers['etag']
    await patch(id, { title: 'Other' })
    const second = await get(id, format, '', { 'if-none-match': tag })
    expect(second.statusCode).toBe(200)
    expect(second.headers['etag']).not.toBe(tag)
    expect(JSON.parse((await textIn(format, second.rawPayload))!)['title']).toBe('Other')
    expect((await get(id, 'csv')).headers['etag']).toBe(csv)
    await patch(id, { title: WORDS.title })
    expect((await get(id, format, '', { 'if-none-match': tag })).statusCode).toBe(304)
  })
})

it('stays with columns of the same names when an upload replaces the columns', async () => {
  const id = await described()
  const written = await upload(id, 'größe,more\n12,text\n', 'text/csv', 'PUT', '?columns=replace')
  expect(written.columns).toMatchObject([COLUMNS[1]!, { name: 'more', because: { value: 'text' } }])
  const { columns } = await record(id)
  expect(columns).toEqual([
    { ...COLUMNS[1], type: 'integer', nullable: true },
    { name: 'more', type: 'string', nullable: true, description: '' },
  ])
  const declared = await at.call(ada, 'PUT', `/datasets/${id}/columns`, { json: columns })
  expect(declared.json().version).toBe(written.version)
})

describe('the metadata of files by others', () => {
  const FIELDS = new Map([
    ['title', 'Size'],
    ['unit', 'm'],
    ['description', 'outside'],
  ])
  const PAIRS = new Map([
    ['title', 'Sizes'],
    ['license', 'not a license!'],
    ['keywords', 'one, two'],
    ['creator', 'x'.repeat(1001)],
    ['parquetry', 'no json'],
  ])
  const fields = [new Field('size', new Int64(), true, FIELDS), new Field('n', new Int64(), true)]
  const schema = new Schema(fields, PAIRS)
  const asFound = { title: 'Sizes', keywords: ['one', 'two'] }
  const column = { name: 'size', title: 'Size', unit: 'm', description: 'outside' }

  it('is read from the fields of an Arrow stream, where it is valid', async () => {
    const id = await dataset()
    const table = new Table(schema, { size: vectorFromArray([1n]), n: vectorFromArray([2n]) })
    await upload(id, Buffer.from(tableToIPC(table, 'stream')), TYPES.arrow)
    expectFound(await record(id))
  })

  it('is read from the pairs of a Parquet file, and from the schema that Arrow leaves there', async () => {
    const id = await dataset()
    await upload(
      id,
      await parquet({ ...Object.fromEntries(PAIRS), 'ARROW:schema': arrowSchema() }),
      TYPES.parquet,
    )
    expectFound(await record(id))
  })

  it('is no reason to refuse rows, however damaged it is', async () => {
    const message = Buffer.from(arrowSchema(), 'base64')
    for (const at of [9, 12, 20, 40, message.length - 30]) {
      const damaged = Buffer.from(message)
      damaged.writeUInt32LE(0xfffffff0, at)
      const id = await dataset()
      const parquetry = '{"description":"a\\u0000b","columns":[null,1,{"name":1}]}'
      const body = await parquet({ 'ARROW:schema': damaged.toString('base64'), parquetry })
      await upload(id, body, TYPES.parquet)
      expect(await record(id)).toMatchObject({ rowCount: 1, description: '' })
    }
  })

  function expectFound(found: { columns: object[] }) {
    expect(found).toMatchObject({ ...asFound, description: '' })
    expect(found).not.toHaveProperty('license')
    expect(found).not.toHaveProperty('creator')
    expect(found.columns[0]).toMatchObject(column)
    expect(found.columns[1]).not.toHaveProperty('unit')
  }

  /** A schema as Arrow's libraries write it into Parquet: a message in base64. */
  function arrowSchema(): string {
    const encoded = Message.encode(Message.from(schema))
    const head = Buffer.alloc(8)
    head.writeUInt32LE(0xffffffff)
    head.writeUInt32LE(encoded.length, 4)
    return Buffer.concat([head, encoded]).toString('base64')
  }

  async function parquet(pairs: Record<string, string>): Promise<Buffer> {
    const path = join(at.directory, `other ${++made}.parquet`)
    const list = Object.entries(pairs).map(([key, value]) => `${quoted(key)}: ${quoted(value)}`)
    await duck(
      `COPY (SELECT 1::bigint AS size, 2::bigint AS n) TO ${quoted(path)} (FORMAT parquet, KV_METADATA {${list}})`,
    )
    return readFileSync(path)
  }
})

const python = process.env['PARQUETRY_PYTHON']
it.skipIf(!python)('pyarrow reads the metadata that we write, and we read what pyarrow writes', async () => {
  const id = await described()
  const program = join(import.meta.dirname, '../tools/programs/file_metadata.py')
  for (const format of FORMATS) {
    const from = join(at.directory, `from.${format}`)
    const to = join(at.directory, `to.${format}`)
    const { rawPayload } = await get(id, format)
    writeFileSync(from, rawPayload)
    const said = execFileSync(python!, [program, format, from, to], { encoding: 'utf8' })
    expect(JSON.parse(said)).toEqual({ ...WORDS, columns: COLUMNS })
    const other = await dataset()
    await upload(other, readFileSync(to), TYPES[format])
    const found = await record(other)
    expect(found).toMatchObject({ title: 'By pyarrow', keywords: ['one', 'two'] })
    expect(found.columns[1]).toMatchObject({ title: 'GRÖSSE', unit: 'cm' })
  }
})

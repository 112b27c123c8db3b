import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import {
  DateDay,
  Decimal,
  Field,
  makeData,
  makeVector,
  RecordBatch,
  Schema,
  Table,
  TimeMicrosecond,
  TimestampMicrosecond,
  tableFromArrays,
  tableToIPC,
} from 'apache-arrow'
import ExcelJS from 'exceljs'
import type { UploadFormat } from '../../../engine/ingest/request.ts'
import type { DeclaredColumn } from '../../../engine/types/columns.ts'
import { type ColumnType, FORMATS, type Format, quoteLiteral, sqlType } from '../../../engine/types/index.ts'
import { bytesOf, openTestExecutor, statement } from '../../export/support.ts'
import { database, duckDatabase } from './databases.ts'
import { type Bench, declared } from './helper.ts'
import { zipOf } from './zips.ts'

/** A good file, and the columns of the dataset that it is meant for, where they aren't inferred from the file. */
export interface Original {
  readonly bytes: Uint8Array
  readonly declared?: DeclaredColumn[]
  /** Whether the file is compressed. */
  readonly gzip?: true
}

/** What is uploaded in one of the formats, and has a structure of its own. */
export const WITHIN = { 'json-stat': 'json', compressed: 'csv' } as const satisfies Record<
  string,
  UploadFormat
>
export type Kind = UploadFormat | keyof typeof WITHIN

const { utils, write } = createRequire(import.meta.url)('@e965/xlsx') as typeof import('@e965/xlsx')

/** The rows as SheetJS writes them; `xlml` is the XML of Excel 2003. */
function sheet(bookType: 'xls' | 'xlsb' | 'xlml'): Buffer {
  const book = utils.book_new()
  const rows = ROWS.map(({ id, name, price, day }) => ({ id, name, price, day: new Date(day) }))
  utils.book_append_sheet(book, utils.json_to_sheet(rows), 'rows')
  return write(book, { bookType, type: 'buffer' })
}

/** A cube of prices in JSON-stat 2. */
function cube(): Buffer {
  const months = ROWS.slice(0, 12).map(({ id }) => `2020M${String(id + 1).padStart(2, '0')}`)
  const category = { index: months, label: Object.fromEntries(months.map((month) => [month, month])) }
  const goods = { index: { a: 0, b: 1 }, label: { a: 'Apples', b: 'Bread' }, unit: { a: { base: 'kg' } } }
  return Buffer.from(
    JSON.stringify({
      version: '2.0',
      class: 'dataset',
      label: 'Prices',
      id: ['goods', 'time'],
      size: [2, 12],
      role: { time: ['time'] },
      dimension: { goods: { label: 'Goods', category: goods }, time: { label: 'Month', category } },
      value: ROWS.slice(0, 24).map(({ price }) => price),
      status: { 0: '..', 3: 'p' },
    }),
  )
}

const TEXTS = ['plain', 'a,b', 'say "hi"', 'line\nbreak', 'é😀', '', '007', '1.50', '2020-02-29', 'true']
const ROWS = Array.from({ length: 40 }, (_, i) => ({
  id: i,
  name: TEXTS[i % 10]!,
  price: i % 7 === 0 ? null : i * 1.25,
  day: `2020-01-${String((i % 28) + 1).padStart(2, '0')}`,
  tags: i % 5 === 0 ? { k: [i, null] } : null,
}))

/** Each type: its name, and SQL for the value of row `i`, which is extreme in the first rows. */
const EVERY_TYPE = {
  whole: [
    'integer',
    'CASE i WHEN 1 THEN 9223372036854775807 WHEN 2 THEN -9223372036854775808 ELSE i * i END',
  ],
  real: ['double', 'CASE i WHEN 1 THEN 1.7976931348623157e308 WHEN 2 THEN 5e-324 ELSE i / 7.0 END'],
  exact: ['decimal(20,3)', '(CASE i WHEN 1 THEN 99999999999999999.999 ELSE i * -1.005 END)'],
  wide: ['decimal(38,2)', '(CASE i WHEN 1 THEN -999999999999999999999999999999999999.99 ELSE i END)'],
  yes: ['boolean', 'i % 2 = 0'],
  word: ['string', `[${TEXTS.map(quoteLiteral).join(', ')}][1 + i % 10]`],
  day: ['date', "DATE '0001-01-01' + (i * 90000)::INTEGER"],
  clock: ['time', "TIME '00:00:00' + INTERVAL (i * 2161) SECOND"],
  local: ['timestamp', "TIMESTAMP '1582-10-04 23:59:59.999999' + INTERVAL (i * 20) YEAR"],
  moment: ['timestamptz', "TIMESTAMPTZ '1900-01-01 00:00:00+00' + INTERVAL (i * 100001) MINUTE"],
  code: ['uuid', "('00000000-0000-4000-8000-' || lpad(hex(i * 7919), 12, '0'))::UUID"],
  bytes: ['binary', 'unhex(md5(i::VARCHAR))'],
  tree: ['json', `'{"k": [' || i || ', null, "\\u00e9"]}'`],
} as const satisfies Record<string, readonly [ColumnType, string]>

const COLUMNS: Record<string, ColumnType> = Object.fromEntries(
  Object.entries(EVERY_TYPE).map(([name, [type]]) => [name, type]),
)

/** A file of our own, of 40 rows with each type; each eighth value is null. */
async function everyType(format: Format): Promise<Original> {
  const executor = await openTestExecutor()
  try {
    const values = Object.values(EVERY_TYPE).map(
      ([type, sql], at) => `CASE WHEN (i + ${at}) % 8 <> 0 THEN CAST(${sql} AS ${sqlType(type)}) END`,
    )
    const sql = `SELECT ${values.join(', ')} FROM range(1, 41) t(i)`
    const bytes = await bytesOf(executor, statement(sql, COLUMNS), format)
    return { bytes, declared: declared(COLUMNS) }
  } finally {
    await executor.close()
  }
}

/** Metadata as other programs write it, and what a reader that trusts it would stumble over. */
const METADATA = {
  pandas: '{"index_columns": [{"kind": "range", "start": 0, "stop": 1e99, "step": 0}], "columns": null}',
  'ARROW:schema': '/////w==',
  'org.apache.spark.sql.parquet.row.metadata': '{"type": "struct", "fields": [{"name": {}}]}',
  geo: '{"version": "1.1.0", "columns"',
  ' ': `\u0001'; DROP TABLE parts --`,
}

async function parquetFiles(bench: Bench): Promise<Original[]> {
  const metadata = Object.entries(METADATA).map(
    ([key, value]) => `${quoteLiteral(key)}: ${quoteLiteral(value)}`,
  )
  const files = ['snappy', 'zstd', 'gzip', 'uncompressed'].map(async (codec, index) => {
    const file = bench.path()
    const options = [
      'FORMAT parquet',
      `CODEC ${quoteLiteral(codec)}`,
      `PARQUET_VERSION ${index % 2 === 0 ? 'V1' : 'V2'}`,
      ...(index > 1 ? [`KV_METADATA {${metadata.join(', ')}}`] : []),
    ]
    await bench.query(
      `COPY (SELECT i, 'text ' || (i % 9) AS s, i * 1.5 AS x, i::DECIMAL(20,3) AS d, [i, NULL] AS l, {'a': i, 'b': md5(i::VARCHAR)} AS st,
        TIME '00:00:01' + INTERVAL (i) SECOND AS t, DATE '2020-01-01' + i::INTEGER AS day, (i * 7)::DECIMAL(38,2) AS wide, (i / 7)::DECIMAL(4,1) AS small,
        TIMESTAMPTZ '2020-01-01 00:00:00+00' + INTERVAL (i) SECOND AS tz, uuid() AS id, md5(i::VARCHAR)::BLOB AS bin, make_timestamp_ns(i * 1000) AS ns,
        TIMESTAMP '2020-01-01' + INTERVAL (i) SECOND AS ts, CASE WHEN i % 3 = 0 THEN i % 2 = 0 END AS b
        FROM range(300) t(i)) TO ${quoteLiteral(file)} (${options.join(', ')})`,
    )
    return { bytes: readFileSync(file) }
  })
  return Promise.all(files)
}

function arrowFiles(): Original[] {
  const table = tableFromArrays({
    id: ROWS.map(({ id }) => id),
    name: ROWS.map(({ name }) => name),
    big: BigInt64Array.from(ROWS.map(({ id }) => BigInt(id) ** 9n)),
  })
  const moments = () => BigInt64Array.from(ROWS, ({ id }) => BigInt(id) * 1_000_000n)
  const typed = new Table({
    time: makeVector(makeData({ type: new TimeMicrosecond(), data: moments() })),
    when: makeVector(makeData({ type: new TimestampMicrosecond('UTC'), data: moments() })),
    day: makeVector(makeData({ type: new DateDay(), data: Int32Array.from(ROWS, ({ id }) => id) })),
    price: makeVector(
      makeData({
        type: new Decimal(2, 10, 128),
        data: Uint32Array.from({ length: 4 * ROWS.length }, (_, at) => (at % 4 === 0 ? at : 0)),
      }),
    ),
  })
  const extended = new Map([
    ...Object.entries(METADATA),
    ['ARROW:extension:name', 'arrow.json'],
    ['ARROW:extension:metadata', '{"shape": [-1]}'],
  ])
  const fields = table.schema.fields.map(({ name, type }) => new Field(name, type, true, extended))
  const schema = new Schema(fields, extended)
  const described = new Table(
    schema,
    table.batches.map(({ data }) => new RecordBatch(schema, data)),
  )
  const fixtures = ['polars-lz4.arrow', 'polars-stream-zstd.arrow', 'pandas.feather', 'extensions.arrow']
  return [
    tableToIPC(table, 'stream'),
    tableToIPC(typed, 'stream'),
    tableToIPC(typed, 'file'),
    tableToIPC(described, 'stream'),
    ...fixtures.map((name) => readFileSync(new URL(`../fixtures/${name}`, import.meta.url))),
  ].map((bytes) => ({ bytes }))
}

function textFiles(mark: string): Buffer[] {
  const line = (values: unknown[]) =>
    values
      .map((value) => {
        if (value === null) return ''
        const text = String(value)
        return /["\n\t,]/.test(text) || text === '' ? `"${text.replaceAll('"', '""')}"` : text
      })
      .join(mark)
  const lines = [
    line(['id', 'name', 'price', 'day']),
    ...ROWS.map(({ id, name, price, day }) => line([id, name, price, day])),
  ]
  return [
    Buffer.from(`${lines.join('\n')}\n`),
    Buffer.from(`\ufeff${lines.join('\r\n')}`),
    Buffer.from('a\n1\n\n2\n'),
  ]
}

function jsonFiles(): Buffer[] {
  const columns = [
    { name: 'a', type: 'integer' },
    { name: 'b', type: 'string' },
  ]
  return [
    JSON.stringify({ rows: ROWS }),
    JSON.stringify(ROWS, null, 1),
    JSON.stringify({ columns, rows: ROWS.map(({ id, name }) => [id, name]) }),
  ].map((text) => Buffer.from(text))
}

async function workbook(): Promise<Uint8Array> {
  const book = new ExcelJS.Workbook()
  const sheet = book.addWorksheet('rows')
  sheet.addRow(['id', 'name', 'price', 'day', 'rich'])
  for (const { id, name, price, day } of ROWS)
    sheet.addRow([id, name, price, new Date(day), { richText: [{ text: 'x' }] }])
  return new Uint8Array(await book.xlsx.writeBuffer())
}

const INSERTS = ROWS.map(({ id, price }) => `INSERT INTO t VALUES (${id}, 'n${id}', ${price});`).join('')

/** Good files of a format, as several programs write them, with each type among them. */
export async function originals(format: Kind, bench: Bench): Promise<Original[]> {
  const plain = async (): Promise<Uint8Array[]> => {
    switch (format) {
      case 'csv':
        return textFiles(',')
      case 'tsv':
        return textFiles('\t')
      case 'json':
        return jsonFiles()
      case 'ndjson':
        return [Buffer.from(ROWS.map((row) => JSON.stringify(row)).join('\n'))]
      case 'xlsx':
        return [await workbook()]
      case 'xls':
        return [readFileSync(new URL('../fixtures/values.xls', import.meta.url)), sheet('xls'), sheet('xlml')]
      case 'xlsb':
        return [sheet('xlsb')]
      case 'json-stat':
        return [cube()]
      case 'ods':
        return ['libreoffice', 'pandas'].map((name) =>
          readFileSync(new URL(`../fixtures/${name}.ods`, import.meta.url)),
        )
      case 'html':
        return [readFileSync(new URL('../fixtures/pandas.html', import.meta.url))]
      case 'avro':
        return ['null', 'snappy'].map((codec) =>
          readFileSync(new URL(`../fixtures/values-${codec}.avro`, import.meta.url)),
        )
      case 'sav':
        return ['pspp.sav', 'pspp-plain.sav', 'pspp.zsav'].map((name) =>
          readFileSync(new URL(`../fixtures/${name}`, import.meta.url)),
        )
      case 'px':
        return [readFileSync(new URL('../fixtures/ine-27067.px', import.meta.url))]
      case 'sqlite':
        return [database(`CREATE TABLE t (id, name, price); ${INSERTS}`)]
      case 'duckdb':
        return [
          await duckDatabase(
            bench.path(),
            `CREATE TABLE t (id INTEGER, name TEXT, price DOUBLE); ${INSERTS}`,
          ),
        ]
      case 'zip':
        return [await zipOf({ 'a.csv': textFiles(',')[0]! }), await zipOf({ 'a.xlsx': await workbook() })]
      default:
        return []
    }
  }
  if (format === 'compressed')
    return [gzipSync, zstdCompressSync].map((pack) => ({ bytes: pack(textFiles(',')[0]!), gzip: true }))
  const written = FORMATS.find((one) => one === format)
  const own = written ? [await everyType(written)] : []
  if (format === 'parquet') return [...(await parquetFiles(bench)), ...own]
  if (format === 'arrow') return [...arrowFiles(), ...own]
  return [...(await plain()).map((bytes) => ({ bytes })), ...own]
}

import { readdirSync, readFileSync, rmSync } from 'node:fs'
import {
  DateDay,
  Decimal,
  makeData,
  makeVector,
  Table,
  TimeMicrosecond,
  TimestampMicrosecond,
  tableFromArrays,
  tableToIPC,
} from 'apache-arrow'
import ExcelJS from 'exceljs'
import { expect, test } from 'vitest'
import { EngineError } from '../../engine/errors.ts'
import type { UploadFormat } from '../../engine/ingest/index.ts'
import { ENGINE_STATUSES } from '../../server/http/statuses.ts'
import { useBench } from './support/helper.ts'
import { mutate, randomness } from './support/mutations.ts'

const bench = useBench()
/** Of each format. 2,000 make 12,000 files, and some minutes. */
const COUNT = Number(process.env['PARQUETRY_MUTATIONS'] ?? 60)
const SEED = Number(process.env['PARQUETRY_SEED'] ?? 1)

const TEXTS = ['plain', 'a,b', 'say "hi"', 'line\nbreak', 'é😀', '', '007', '1.50', '2020-02-29', 'true']
const ROWS = Array.from({ length: 40 }, (_, i) => ({
  id: i,
  name: TEXTS[i % 10]!,
  price: i % 7 === 0 ? null : i * 1.25,
  day: `2020-01-${String((i % 28) + 1).padStart(2, '0')}`,
  tags: i % 5 === 0 ? { k: [i, null] } : null,
}))

async function originals(format: UploadFormat): Promise<Uint8Array[]> {
  switch (format) {
    case 'csv':
    case 'tsv': {
      const mark = format === 'csv' ? ',' : '\t'
      const line = (values: unknown[]) =>
        values
          .map((value) =>
            value === null
              ? ''
              : /["\n\t,]/.test(String(value)) || value === ''
                ? `"${String(value).replaceAll('"', '""')}"`
                : value,
          )
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
    case 'json':
      return [
        Buffer.from(JSON.stringify({ rows: ROWS })),
        Buffer.from(JSON.stringify(ROWS, null, 1)),
        Buffer.from(
          JSON.stringify({
            columns: [
              { name: 'a', type: 'integer' },
              { name: 'b', type: 'string' },
            ],
            rows: ROWS.map(({ id, name }) => [id, name]),
          }),
        ),
      ]
    case 'ndjson':
      return [Buffer.from(ROWS.map((row) => JSON.stringify(row)).join('\n'))]
    case 'xlsx': {
      const book = new ExcelJS.Workbook()
      const sheet = book.addWorksheet('rows')
      sheet.addRow(['id', 'name', 'price', 'day', 'rich'])
      for (const { id, name, price, day } of ROWS)
        sheet.addRow([id, name, price, new Date(day), { richText: [{ text: 'x' }] }])
      return [new Uint8Array(await book.xlsx.writeBuffer())]
    }
    case 'arrow': {
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
      const fixtures = ['polars-lz4.arrow', 'polars-stream-zstd.arrow', 'pandas.feather', 'extensions.arrow']
      return [
        tableToIPC(table, 'stream'),
        tableToIPC(typed, 'stream'),
        tableToIPC(typed, 'file'),
        ...fixtures.map((name) => readFileSync(new URL(`./fixtures/${name}`, import.meta.url))),
      ]
    }
    case 'parquet':
      return Promise.all(
        ['snappy', 'zstd', 'gzip', 'uncompressed'].map(async (codec, index) => {
          const file = bench.path()
          const options = index % 2 === 0 ? "PARQUET_VERSION 'V1'" : "PARQUET_VERSION 'V2'"
          await bench.query(
            `COPY (SELECT i, 'text ' || (i % 9) AS s, i * 1.5 AS x, i::DECIMAL(20,3) AS d, [i, NULL] AS l, {'a': i, 'b': md5(i::VARCHAR)} AS st,
              TIME '00:00:01' + INTERVAL (i) SECOND AS t, DATE '2020-01-01' + i::INTEGER AS day, (i * 7)::DECIMAL(38,2) AS wide, (i / 7)::DECIMAL(4,1) AS small,
              TIMESTAMPTZ '2020-01-01 00:00:00+00' + INTERVAL (i) SECOND AS tz, uuid() AS id, md5(i::VARCHAR)::BLOB AS bin, make_timestamp_ns(i * 1000) AS ns,
              TIMESTAMP '2020-01-01' + INTERVAL (i) SECOND AS ts, CASE WHEN i % 3 = 0 THEN i % 2 = 0 END AS b
              FROM range(300) t(i)) TO '${file}' (FORMAT parquet, CODEC '${codec}', ${options})`,
          )
          return readFileSync(file)
        }),
      )
    default:
      return format satisfies never
  }
}

test.each<UploadFormat>(['csv', 'tsv', 'json', 'ndjson', 'xlsx', 'arrow', 'parquet'])(
  'damaged %s makes a part or a clear refusal, never anything else',
  async (format) => {
    const files = await originals(format)
    const seen = { taken: 0, refused: 0 }
    for (let run = 0; run < COUNT; run++) {
      const random = randomness(SEED * 1_000_003 + run)
      const bytes = run < files.length ? Buffer.from(files[run]!) : mutate(files[run % files.length]!, random)
      const file = bench.file(bytes)
      const started = performance.now()
      try {
        const { part } = await bench.ingest(format, file, { limits: { unpackedBytes: 50_000_000 } })
        await bench.ingestor.verify(part)
        rmSync(part)
        seen.taken++
      } catch (error) {
        const where = `seed ${SEED}, run ${run}`
        if (!(error instanceof EngineError)) throw new Error(`${where}: ${String(error)}`, { cause: error })
        expect(ENGINE_STATUSES[error.code], `${where}: ${error.message} ${String(error.cause)}`).toBeLessThan(
          500,
        )
        expect(run, `${where}: ${error.message}`).toBeGreaterThanOrEqual(files.length)
        expect(error.message).not.toMatch(/undefined|\[object|\/tmp|DuckDB|SELECT/)
        seen.refused++
      }
      expect(performance.now() - started, `seed ${SEED}, run ${run}`).toBeLessThan(20_000)
      rmSync(file)
    }
    expect(readdirSync(bench.folder).filter((name) => name.endsWith('.parquet'))).toEqual([])
    if (COUNT >= 1000) console.log(format, seen)
  },
  60_000 + COUNT * 100,
)

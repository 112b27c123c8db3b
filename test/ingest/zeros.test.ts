import { expect, test } from 'vitest'
import { column, useBench } from './support/helper.ts'

const bench = useBench()

/** Values of a column for which DuckDB writes a dictionary. Its first zero has another sign than most. */
const VALUES = ['-0.0', ...Array.from({ length: 1_000 }, (_, n) => ['0.0', '1.5', '-0.0', null][n % 4]!)]
const ROWS = VALUES.map((value, n) => [value, `name ${n % 3}`])
const COLUMNS = [column('x', 'double'), column('name', 'string')]
const CSV = `x,name\n${ROWS.map(([x, name]) => `${x ?? ''},${name}`).join('\n')}\n`

const encodings = (part: string) =>
  bench.query(`SELECT encodings FROM parquet_metadata('${part}') WHERE path_in_schema LIKE 'c%'`)

test('each zero of an upload keeps its sign', async () => {
  const lines = ROWS.map(([x, name]) => `{"x":${x},"name":"${name}"}\n`)
  const file = bench.path()
  const values = ROWS.map(([x, name]) => `(CAST(${x && `'${x}'`} AS DOUBLE), '${name}')`)
  await bench.query(
    `COPY (FROM (VALUES ${values.join()}) t(x, name)) TO '${file}' (FORMAT parquet, DICTIONARY_SIZE_LIMIT 0)`,
  )
  for (const upload of [
    await bench.read('csv', CSV),
    await bench.read('ndjson', lines.join('')),
    await bench.readFile('parquet', file),
  ]) {
    expect(upload.shape).toEqual(['x: double', 'name: string'])
    expect(upload.values).toEqual(ROWS)
  }
})

test('each zero keeps its sign where parts are merged, rewritten and cut', async () => {
  const [{ part }, { part: other }] = [
    await bench.read('csv', CSV),
    await bench.read('csv', 'x,name\n0.0,a\n1.5,b\n', { existing: COLUMNS }),
  ]
  const merged = bench.path('.parquet')
  await bench.rewrite([other, part], merged, COLUMNS)
  const rows = [['0.0', 'a'], ['1.5', 'b'], ...ROWS]
  expect(await bench.values(merged)).toEqual(rows)

  const rewritten = bench.path('.parquet')
  const wider = [...COLUMNS, column('more', 'integer')]
  await bench.rewrite([merged], rewritten, COLUMNS, wider)
  expect(await bench.values(rewritten)).toEqual(rows.map((row) => [...row, null]))

  const [first, second] = [bench.path('.parquet'), bench.path('.parquet')]
  const cuts = [
    { from: 0, to: 500, target: first },
    { from: 500, to: rows.length, target: second },
  ]
  await bench.ingestor.jobs.cut({ part: merged, cuts, columns: COLUMNS, rawBytes: 20_000 })
  expect([...(await bench.values(first)), ...(await bench.values(second))]).toEqual(rows)
})

test('only parts with a negative zero are written without dictionaries', async () => {
  const { part } = await bench.read('csv', CSV)
  const { part: positive } = await bench.read('csv', CSV.replaceAll('-0.0', '0.0'))
  expect((await encodings(part)).flat()).not.toContain('RLE_DICTIONARY')
  expect(await encodings(positive)).toEqual([['RLE_DICTIONARY'], ['RLE_DICTIONARY']])
})

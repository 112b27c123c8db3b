import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Table, tableFromIPC } from 'apache-arrow'
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import type { Batch } from '../../engine/duckdb/batch.ts'
import { openEncoder } from '../../engine/export/encode.ts'
import { Output } from '../../engine/export/formats/encoder.ts'
import { shapeOf } from '../../engine/export/formats/text/cells.ts'
import { openExecutor, rowValues } from '../../engine/export/index.ts'
import { quoteLiteral, type Statement, sqlType } from '../../engine/types/index.ts'
import { readByNodePackage } from './node-reader.ts'

const root = mkdtempSync(join(tmpdir(), 'parquetry-reader-'))
const native = await openExecutor({ tempDirectory: root, allowedDirectories: [] })
afterAll(async () => {
  await native.close()
  rmSync(root, { recursive: true })
})

/** The values of a result, as numbers and texts; read in one go, or while DuckDB produces them. */
async function valuesOf(statement: Statement, whole: boolean): Promise<unknown[][]> {
  if (whole) return (await native.rows(statement)).map((row) => [...row])
  const all: unknown[][] = []
  for await (const rows of native.values(statement)) for (const row of rows) all.push([...row])
  return all
}

async function arrowOf(batch: Batch, columns: Statement['columns']): Promise<Uint8Array> {
  const encoder = await openEncoder('arrow', columns, {})
  const out = new Output(1024)
  encoder.begin(out)
  encoder.batch(batch, 0, out)
  encoder.end(batch.rows, out)
  return out.written()
}

/** The values of a table of Arrow, in which decimals have all of their 128 bits. */
function valuesIn(table: Table): unknown[] {
  return table.schema.fields.map((_, column) => {
    const vector = table.getChildAt(column)!
    return Array.from({ length: table.numRows }, (_, row) => vector.get(row))
  })
}

// DuckDB holds texts of up to 12 bytes in its vectors. Those of 128 bytes and more are copied in another way.
const length = fc.oneof(
  fc.integer({ min: 0, max: 20 }),
  fc.constantFrom(4, 5, 8, 9, 12, 13, 127, 128, 129),
  fc.integer({ min: 0, max: 3_000 }),
)
const text = fc
  .tuple(length, fc.constantFrom('a', 'é', '€', '😀'))
  .map(([bytes, letter]) => letter.repeat(bytes))
const bytes = fc.oneof(fc.uint8Array({ maxLength: 40 }), fc.uint8Array({ minLength: 100, maxLength: 300 }))
const hex = (value: Uint8Array) => Buffer.from(value).toString('hex')
const decimalOf = (precision: number, scale: number) => {
  const most = 10n ** BigInt(precision) - 1n
  return fc.bigInt({ min: -most, max: most }).map((digits) => {
    const text = `${digits < 0n ? -digits : digits}`.padStart(scale + 1, '0')
    const point = text.length - scale
    return `${digits < 0n ? '-' : ''}${text.slice(0, point)}${scale > 0 ? `.${text.slice(point)}` : ''}`
  })
}
const day = fc.integer({ min: -700_000, max: 2_900_000 }).map((days) => `DATE '1970-01-01' + ${days}`)
const micros = fc.bigInt({ min: -(2n ** 53n), max: 2n ** 53n })

/** For each type, SQL expressions of its values. */
const TYPES = {
  boolean: fc.boolean().map(String),
  integer: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String),
  double: fc.double().map((value) => `'${value}'::DOUBLE`),
  'decimal(4,1)': decimalOf(4, 1),
  'decimal(9,0)': decimalOf(9, 0),
  'decimal(18,6)': decimalOf(18, 6),
  'decimal(38,10)': decimalOf(38, 10),
  string: text.map(quoteLiteral),
  binary: bytes.map((value) => `unhex('${hex(value)}')`),
  uuid: fc.uuid().map(quoteLiteral),
  date: day,
  time: fc.integer({ min: 0, max: 86_399 }).map((seconds) => `TIME '00:00:00' + to_seconds(${seconds})`),
  timestamp: micros.map((value) => `make_timestamp(${value})`),
  timestamptz: micros.map((value) => `to_timestamp(${value} / 1e6)`),
} as const

const values = fc.record(
  Object.fromEntries(
    Object.entries(TYPES).map(([type, value]) => [
      type,
      fc.array(fc.option(value), { minLength: 1, maxLength: 6 }),
    ]),
  ) as Record<keyof typeof TYPES, fc.Arbitrary<(string | null)[]>>,
)

test('vectors of each type, with nulls, in any order, are read as the Node package of DuckDB reads them', async () => {
  await fc.assert(
    fc.asyncProperty(
      values,
      fc.constantFrom(0, 1, 7, 64, 2_048, 2_049, 5_000),
      fc.constantFrom(
        '',
        'WHERE hash(i) % 3 = 0',
        'WHERE i % 700 = 5',
        'ORDER BY hash(i)',
        'ORDER BY i DESC LIMIT 99',
      ),
      fc.boolean(),
      async (given, rows, rest, whole) => {
        const types = Object.keys(given) as (keyof typeof TYPES)[]
        const columns = types.map((type, index) => ({ name: `c${index}`, type }))
        // Which of its values a row has differs from column to column.
        const cells = types.map((type, index) => {
          const some = given[type].map((sql) => `CAST(${sql ?? 'NULL'} AS ${sqlType(type)})`)
          return `[${some.join(', ')}][1 + (hash(i, ${index}) % ${some.length})::INTEGER] AS c${index}`
        })
        const statement: Statement = {
          sql: `SELECT ${cells.join(', ')} FROM range(${rows}) t(i) ${rest}`,
          parameters: [],
          columns,
        }
        const batch = await readByNodePackage(statement)
        const shape = shapeOf(columns.map(({ type }) => type))
        expect(await valuesOf(statement, whole)).toEqual(rowValues(batch, shape))
        const bytes = Buffer.concat(await Array.fromAsync(await native.bytes(statement, 'arrow')))
        expect(valuesIn(tableFromIPC(bytes))).toEqual(valuesIn(tableFromIPC(await arrowOf(batch, columns))))
      },
    ),
    { numRuns: 60 },
  )
})

test('a null between texts is empty, whatever its cell holds', async () => {
  const texts = [`'short'`, 'NULL', `repeat('long', 5)`, `''`, 'NULL', `repeat('longer', 40)`]
  const sql = `SELECT unnest([${texts.join(', ')}]) AS s FROM range(1000)`
  const statement: Statement = { sql, parameters: [], columns: [{ name: 's', type: 'string' }] }
  const expected = ['short', null, 'long'.repeat(5), '', null, 'longer'.repeat(40)]
  const found = await valuesOf(statement, true)
  expect(found).toEqual(Array.from({ length: 6_000 }, (_, row) => [expected[row % 6]]))
})

import { writeFileSync } from 'node:fs'
import { tableFromIPC } from 'apache-arrow'
import ExcelJS from 'exceljs'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type ColumnType,
  type Format,
  quoteLiteral,
  type Statement,
  sqlType,
} from '../../../engine/types/index.ts'
import { bytesOf, normalised, openTestExecutor, statement, type TestExecutor, textOf } from '../support.ts'

/**
 * Every type of DuckDB's. The largest TIMESTAMP_NS is finer than a microsecond, and the bounds of HUGEINT have 39 digits:
 * both are refused on purpose.
 */
const ALL_TYPES = 'SELECT * EXCLUDE (timestamp_ns) REPLACE (hugeint // 10 AS hugeint) FROM test_all_types()'

let executor: TestExecutor
beforeAll(async () => {
  executor = await openTestExecutor()
})
afterAll(() => executor.close())

/** Counts rows of the first that the second lacks, and the other way round. */
async function differences(a: string, b: string): Promise<number> {
  const sql = `SELECT (SELECT count(*) FROM (${a} EXCEPT ALL ${b})) + (SELECT count(*) FROM (${b} EXCEPT ALL ${a}))`
  const [[count] = []] = await executor.rows(statement(sql, { n: 'integer' }))
  return Number(count)
}

async function exported(query: Statement, format: Format): Promise<string> {
  const file = `${executor.directory}/exported.${format}`
  writeFileSync(file, await bytesOf(executor, query, format))
  return quoteLiteral(file)
}

describe('every type that DuckDB has', () => {
  let query: Statement
  let names: string[]
  beforeAll(async () => {
    const { sql, parameters, columns } = await normalised(executor, ALL_TYPES)
    query = { sql, parameters, columns }
    names = columns.map((column) => `"${column.name}"`)
  })
  const source = () => `SELECT * FROM (${query.sql}) AS t(${names.join(', ')})`

  it.each(['csv', 'tsv'] as const)('reads back from %s with DuckDB', async (format) => {
    const types = query.columns.map(({ name, type }) => {
      // DuckDB's reader knows base64 only as text.
      return `${quoteLiteral(name)}: ${quoteLiteral(type === 'binary' ? 'VARCHAR' : sqlType(type))}`
    })
    const values = query.columns.map(({ name, type }) =>
      type === 'binary' ? `from_base64("${name}")` : `"${name}"`,
    )
    const reader =
      `read_csv(${await exported(query, format)}, header = true, auto_detect = false, quote = '"', escape = '"', ` +
      `delim = ${format === 'csv' ? "','" : 'chr(9)'}, columns = {${types.join(', ')}}, allow_quoted_nulls = false)`
    expect(
      await differences(source(), `SELECT ${values.join(', ')} FROM ${reader.replace('chr(9)', "'\t'")}`),
    ).toBe(0)
  })

  it('reads back from parquet with DuckDB', async () => {
    const file = await exported(query, 'parquet')
    const values = query.columns.map(({ name, type }) =>
      type === 'json' ? `"${name}"::VARCHAR` : `"${name}"`,
    )
    expect(await differences(source(), `SELECT ${values.join(', ')} FROM read_parquet(${file})`)).toBe(0)
  })

  it('reads back from json with JSON.parse', async () => {
    const rows = JSON.parse(await textOf(executor, query, 'json')) as Record<string, unknown>[]
    const lines = (await textOf(executor, query, 'ndjson')).trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line))).toEqual(rows)
    const values = await executor.rows(query)
    expect(rows.length).toBe(values.length)
    for (const [index, row] of rows.entries()) {
      for (const [column, { name, type }] of query.columns.entries()) {
        const value = values[index]![column]
        const found = row[name]
        if (value === null) expect(found, name).toBeNull()
        else if (type === 'json') expect(found, name).toEqual(JSON.parse(String(value)))
        else if (type === 'binary')
          expect(Buffer.from(String(found), 'base64'), name).toEqual(Buffer.from(value as Uint8Array))
        else if (type.startsWith('decimal') || typeof value === 'bigint')
          expect(found, name).toBe(Number(value))
        else if (typeof value === 'number' && !Number.isFinite(value))
          expect(found, name).toMatch(/^-?INF$|^NaN$/)
        else expect(found, name).toBe(value)
      }
    }
  })

  it('reads back from arrow with apache-arrow', async () => {
    const table = tableFromIPC(await bytesOf(executor, query, 'arrow'))
    const values = await executor.rows(query)
    expect(table.schema.fields.map((field) => field.name)).toEqual(query.columns.map((column) => column.name))
    for (const [column, { name, type }] of query.columns.entries()) {
      if (!['string', 'json', 'uuid', 'integer', 'double', 'boolean'].includes(type)) continue
      const found = [...table.getChildAt(column)!].map((value) => {
        if (value instanceof Uint8Array) return Buffer.from(value).toString('hex')
        return typeof value === 'bigint' ? String(value) : value
      })
      const wanted = values.map((row) => {
        const value = row[column]
        if (type === 'uuid' && value !== null) return String(value).replaceAll('-', '')
        return type === 'integer' && value !== null ? String(value) : value
      })
      expect(found, name).toEqual(wanted)
    }
  })

  it('reads back from xlsx with exceljs', async () => {
    const workbook = new ExcelJS.Workbook()
    await workbook.xlsx.load((await bytesOf(executor, query, 'xlsx')) as unknown as ArrayBuffer)
    const sheet = workbook.worksheets[0]!
    const values = await executor.rows(query)
    for (const [index, row] of values.entries()) {
      for (const [column, { name, type }] of query.columns.entries()) {
        const found = sheet.getCell(index + 2, column + 1).value
        const value = row[column]
        if (value === null || value === '') expect(found, name).toBeNull()
        else if (type === 'binary')
          expect(Buffer.from(String(found), 'base64'), name).toEqual(Buffer.from(value as Uint8Array))
        else if (found instanceof Date) expectMoment(type, found, String(value))
        else if (typeof found === 'number') expect(found, name).toBe(Number(value))
        // Control characters are escaped; exceljs leaves the escapes of inline text as they are.
        else expect(unescaped(String(found)), name).toBe(String(value))
      }
    }
  })
})

function unescaped(text: string): string {
  return text.replace(/_x([0-9A-F]{4})_/g, (_, code) => String.fromCharCode(Number.parseInt(code, 16)))
}

function expectMoment(type: ColumnType, found: Date, value: string): void {
  // exceljs rounds to milliseconds, and counts times of day from the last day of 1899.
  const wanted =
    type === 'time'
      ? new Date(`1899-12-30T00:00:00Z`).getTime() + dayMillis(value)
      : Date.parse(value.endsWith('Z') || type === 'date' ? value : `${value}Z`)
  expect(Math.abs(found.getTime() - wanted), value).toBeLessThanOrEqual(1)
}

function dayMillis(time: string): number {
  const [hours, minutes, seconds] = time.split(':').map(Number)
  return ((hours! * 60 + minutes!) * 60 + seconds!) * 1000
}

describe('random tables', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 40 }),
    fc.string({
      unit: fc.constantFrom('"', ',', '\t', '\n', '\r', '\\', 'a', 'é', '😀', '\u0001', ' '),
      maxLength: 12,
    }),
    fc.constant('x'.repeat(300)),
  )
  const row = fc.record({
    n: fc.option(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })),
    d: fc.option(fc.double({ noNaN: true, noDefaultInfinity: true })),
    t: fc.option(text.filter((value) => !value.includes('\0'))),
    u: fc.option(text.filter((value) => !value.includes('\0'))),
  })
  const tables = fc.array(row, { maxLength: 30 })

  /** The rows as a statement whose values are parameters. */
  const asStatement = (
    rows: readonly { n: bigint | null; d: number | null; t: string | null; u: string | null }[],
  ) => {
    const parameters: string[] = []
    const cell = (value: unknown, type: string) => {
      if (value === null) return `NULL::${type}`
      parameters.push(Object.is(value, -0) ? '-0' : String(value))
      return `CAST($${parameters.length} AS ${type})`
    }
    const values = rows.map(
      ({ n, d, t, u }) =>
        `(${cell(n, 'BIGINT')}, ${cell(d, 'DOUBLE')}, ${cell(t, 'VARCHAR')}, ${cell(u, 'VARCHAR')})`,
    )
    const sql =
      rows.length > 0
        ? `SELECT * FROM (VALUES ${values.join(', ')})`
        : 'SELECT 0::BIGINT, 0::DOUBLE, $1, $1 WHERE false'
    return statement(
      sql,
      { n: 'integer', d: 'double', t: 'string', u: 'string' },
      rows.length > 0 ? parameters : [''],
    )
  }

  it('read back from json and csv', async () => {
    const own = await openTestExecutor()
    try {
      await fc.assert(
        fc.asyncProperty(tables, async (rows) => {
          const query = asStatement(rows)
          const parsed = JSON.parse(await textOf(own, query, 'json')) as Record<string, unknown>[]
          expect(parsed).toEqual(
            rows.map(({ n, d, t, u }) => ({
              n: n === null ? null : Number(n),
              d: d === 0 ? expect.anything() : d,
              t,
              u,
            })),
          )
          const fields = parseCsv(await textOf(own, query, 'csv'), ',')
          expect(fields.slice(1)).toEqual(
            rows.map(({ n, d, t, u }) => [
              n === null ? null : String(n),
              d === null ? null : Object.is(d, -0) ? '-0' : String(d),
              t,
              u,
            ]),
          )
          expect(parseCsv(await textOf(own, query, 'tsv'), '\t').slice(1)).toEqual(fields.slice(1))
        }),
        { numRuns: 60 },
      )
    } finally {
      await own.close()
    }
  })
})

/** RFC 4180 with null as the empty field that has no quotes. */
function parseCsv(csv: string, separator: string): (string | null)[][] {
  const rows: (string | null)[][] = []
  let row: (string | null)[] = []
  for (let at = 0; at < csv.length; ) {
    let field: string | null = null
    if (csv[at] === '"') {
      field = ''
      for (at++; ; at++) {
        if (csv[at] !== '"') field += csv[at]
        else if (csv[at + 1] === '"') field += csv[at++]
        else break
      }
      at++
    } else {
      const start = at
      while (csv[at] !== separator && csv[at] !== '\n') at++
      if (at > start) field = csv.slice(start, at)
    }
    row.push(field)
    if (csv[at++] !== '\n') continue
    rows.push(row)
    row = []
  }
  return rows
}

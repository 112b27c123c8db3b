import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { compileFilter, type SqlColumn } from '../../engine/filter/index.ts'

const ROWS = 200_000
const GROUP = 20_480
/** The groups that stay whole in the damaged file. */
const WHOLE = [0, 4, 9]

/** All rise with the row, so that each row group holds a range of its own. */
const columns: readonly SqlColumn[] = [
  { name: 'i', type: 'integer', sql: 'c0' },
  { name: 'd', type: 'double', sql: 'c1' },
  { name: 'p', type: 'decimal(12,2)', sql: 'c2' },
  { name: 's', type: 'string', sql: 'c3' },
  { name: 'day', type: 'date', sql: 'c4' },
  { name: 'local', type: 'timestamp', sql: 'c5' },
  { name: 'at', type: 'timestamptz', sql: 'c6' },
]

const folder = mkdtempSync(join(tmpdir(), 'parquetry-scan-'))
const file = join(folder, 'rising.parquet')
const damaged = join(folder, 'damaged.parquet')
let instance: DuckDBInstance
let connection: DuckDBConnection

beforeAll(async () => {
  instance = await DuckDBInstance.create(':memory:', { threads: '2' })
  connection = await instance.connect()
  await connection.run("SET TimeZone = 'UTC'")
  await connection.run(`COPY (
    SELECT n AS c0, n::DOUBLE AS c1, (n / 10)::DECIMAL(12,2) AS c2, 'k' || lpad(n::VARCHAR, 7, '0') AS c3,
      DATE '2000-01-01' + (n // 100)::INTEGER AS c4,
      TIMESTAMP '2000-01-01' + to_minutes(n) AS c5, TIMESTAMPTZ '2000-01-01 00:00:00+00' + to_minutes(n) AS c6
    FROM range(${ROWS}) t(n)
  ) TO '${file}' (FORMAT parquet, ROW_GROUP_SIZE ${GROUP})`)
  await damage()
})
afterAll(() => {
  connection.closeSync()
  instance.closeSync()
  rmSync(folder, { recursive: true })
})

/** Writes the file anew with rubbish in the place of the pages of most row groups; who reads one of those, fails. */
async function damage(): Promise<void> {
  const bytes = readFileSync(file)
  const chunks = await connection.runAndReadAll(
    `SELECT row_group_id, coalesce(dictionary_page_offset, data_page_offset), total_compressed_size
     FROM parquet_metadata('${file}')`,
  )
  for (const [group, offset, size] of chunks.getRows().map((row) => row.map(Number))) {
    if (!WHOLE.includes(group!)) bytes.fill(0xff, offset!, offset! + size!)
  }
  writeFileSync(damaged, bytes)
}

async function run(path: string, filter: string): Promise<number[]> {
  const { sql, parameters } = compileFilter(filter, columns, { now: () => new Date('2000-05-01T00:00:00Z') })
  const statement = await connection.prepare(`SELECT c0 FROM read_parquet('${path}') WHERE ${sql}`)
  parameters.forEach((text, index) => {
    statement.bindVarchar(index + 1, text)
  })
  return (await (await statement.run()).getRows()).map(([n]) => Number(n))
}

describe('row groups that can hold no match are not read', () => {
  test.each([
    ['i gt 199000'],
    ['i lt 100'],
    ['i eq 100000'],
    ['i ge 99999.5 and i le 100000.5'],
    ['i gt 199000.5 and i lt 1e30'],
    ['100100 le i and i lt 100200'],
    ['d gt 199000'],
    ['d le 100.5'],
    ['d eq 5'],
    ['p gt 19900.005'],
    ['p lt 10'],
    ["s eq 'k0100000'"],
    ["s gt 'k0199000'"],
    ["startswith(s, 'k01990')"],
    ["startswith(s, 'k01990') eq true"],
    ['day eq 2000-01-15'],
    ['day lt 2000-01-02T12:00:00Z'],
    ['local ge 2000-05-18T00:00:00'],
    ['local lt 2000-01-01T02:00:00Z'],
    ['at lt 2000-01-01T02:00:00Z'],
    ['at gt 2000-05-18'],
    ["at gt now() add duration'P17D'"],
    ["i gt 199000 and contains(s, 'k') and not (d lt 5)"],
    ['i gt 199000 and (s eq null or s ne null)'],
    ['date(at) eq 2000-01-05'],
    ['date(local) gt 2000-05-17'],
    ['i eq 5 or i eq 199990'],
    ['i in (5, 199990)'],
    ['i in (5, 6, 7, 8, 9, 10, 11, 12, 199990)'],
    ["s in ('k0000005', 'k0100000', 'k0199990')"],
    [`i in (${Array.from({ length: 500 }, (_, index) => 100_000 + index)})`],
    [`s in (${Array.from({ length: 500 }, (_, index) => `'k0${100_000 + index}'`)})`],
    ['(i gt 199000) eq true'],
    ['i ne null and i gt 199000'],
  ])('%s', async (filter) => {
    const rows = await run(damaged, filter)
    expect(rows.length).toBeGreaterThan(0)
    expect(rows).toEqual(await run(file, filter))
  })

  test('what could match in a damaged group fails on it', async () => {
    for (const filter of ['i gt 150000', "contains(s, '7')", 'd add 0 lt 5', 'not (i le 199000)']) {
      await expect(run(damaged, filter)).rejects.toThrow()
      await expect(run(file, filter)).resolves.not.toEqual([])
    }
  })
})

describe('rows come in their order, whatever the list and however many threads', () => {
  test.each([[4], [5], [60], [2_000]])('%s items', async (count) => {
    const wanted = Array.from({ length: count }, (_, index) => (index * 7_919) % ROWS).sort((a, b) => a - b)
    for (const filter of [
      `i in (${wanted})`,
      `s in (${wanted.map((n) => `'k${String(n).padStart(7, '0')}'`)})`,
      `tolower(s) in (${wanted.map((n) => `'k${String(n).padStart(7, '0')}'`)})`,
      `not (not (i in (${wanted})))`,
      wanted.map((n) => `i eq ${n}`).join(' or '),
    ]) {
      expect(await run(file, filter)).toEqual(wanted)
    }
  })
})

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { compileFilter, type SqlColumn } from '../../engine/filter/index.ts'

const GROUP = 2048

/** For each type: its name in SQL, two values as SQL and as literals of `$filter`. */
const TYPES = {
  integer: ['BIGINT', ['5', '6'], ['5', '6']],
  double: ['DOUBLE', ['5', '6'], ['5', '6']],
  'decimal(12,2)': ['DECIMAL(12,2)', ['5', '6'], ['5', '6']],
  'decimal(30,2)': ['DECIMAL(30,2)', ['5', '6'], ['5', '6']],
  string: ['VARCHAR', ["'5'", "'6'"], ["'5'", "'6'"]],
  boolean: ['BOOLEAN', ['true', 'false'], ['true', 'false']],
  date: ['DATE', ["'2024-01-05'", "'2024-01-06'"], ['2024-01-05', '2024-01-06']],
  time: ['TIME', ["'05:00'", "'06:00'"], ['05:00:00', '06:00:00']],
  timestamp: ['TIMESTAMP', ["'2024-01-05'", "'2024-01-06'"], ['2024-01-05T00:00:00', '2024-01-06T00:00:00']],
  timestamptz: [
    'TIMESTAMPTZ',
    ["'2024-01-05'", "'2024-01-06'"],
    ['2024-01-05T00:00:00Z', '2024-01-06T00:00:00Z'],
  ],
  uuid: [
    'UUID',
    ["'00000000-0000-0000-0000-000000000005'", "'00000000-0000-0000-0000-000000000006'"],
    ['00000000-0000-0000-0000-000000000005', '00000000-0000-0000-0000-000000000006'],
  ],
} as const satisfies Record<string, readonly [string, readonly [string, string], readonly [string, string]]>
type Type = keyof typeof TYPES

/** What row groups hold, `A` and `B` being the two values. */
const GROUPS = ['NULL', 'A', 'B', 'CASE WHEN n % 2 = 0 THEN A END', 'CASE WHEN n % 3 = 0 THEN A ELSE B END']

/** Conditions on `x`, about the same two values. */
const FILTERS = [
  'x ne A',
  'x ne A or x eq B',
  'x eq B or x ne A',
  'not (x eq A) or x eq B',
  'x ne A or x ne B',
  'x ne A or x in (A, B)',
  'not (x in (A, B)) or x eq A',
  'not (x ne A) or x eq B',
  'x ne A or x gt B',
  'x ne A or not (x lt B)',
  'y eq 1 and x ne A or y eq 1 and x eq B',
  'x ne case(true:A, y eq 1:x) or x eq B',
  'case(true:x) ne A or x eq B',
  'case(y eq 1:x ne A or x eq B, true:x ne B)',
  'x ne A or x eq null',
  'x in (A, null) or x ne B',
  '(x ne A) eq true or x eq B',
  '(x eq A) ne true or x eq B',
  'x eq A or x eq B',
]

const folder = mkdtempSync(join(tmpdir(), 'parquetry-groups-'))
let optimized: DuckDBConnection
let plain: DuckDBConnection

async function connect(disabled: string): Promise<DuckDBConnection> {
  const instance = await DuckDBInstance.create(':memory:', { threads: '1', disabled_optimizers: disabled })
  const connection = await instance.connect()
  await connection.run("SET TimeZone = 'UTC'")
  return connection
}

beforeAll(async () => {
  optimized = await connect('')
  plain = await connect('filter_pushdown,statistics_propagation,expression_rewriter')
})
afterAll(() => {
  optimized.closeSync()
  plain.closeSync()
  rmSync(folder, { recursive: true })
})

async function write(name: string, sql: string, options: string): Promise<string> {
  const path = join(folder, `${name}.parquet`)
  await plain.run(`COPY (${sql}) TO '${path}' (FORMAT parquet, ROW_GROUP_SIZE ${GROUP}${options})`)
  return path
}

async function count(
  connection: DuckDBConnection,
  from: string,
  filter: string,
  type: Type,
): Promise<number> {
  const columns: readonly SqlColumn[] = [
    { name: 'x', type, sql: 'c0' },
    { name: 'y', type: 'integer', sql: 'c1' },
  ]
  const { sql, parameters } = compileFilter(filter, columns)
  const statement = await connection.prepare(`SELECT count(*) FROM ${from} WHERE ${sql}`)
  parameters.forEach((text, index) => {
    statement.bindVarchar(index + 1, text)
  })
  return Number((await (await statement.run()).getRows())[0]![0])
}

describe.each([
  ['with Bloom filters', ''],
  ['without Bloom filters', ', DICTIONARY_SIZE_LIMIT 1'],
])('row groups that hold a match are read, %s', (which, options) => {
  test.each(Object.keys(TYPES) as Type[])('%s', async (type) => {
    const [name, values, literals] = TYPES[type]
    const groups = GROUPS.map((sql) =>
      sql.replace(/\b[AB]\b/g, (letter) => `CAST(${values[letter === 'A' ? 0 : 1]} AS ${name})`),
    )
    const rows = groups.map((sql, group) => `SELECT CAST(${sql} AS ${name}) c0, n % 2 c1, ${group} FROM n`)
    const numbers = `WITH n AS MATERIALIZED (SELECT CAST(n AS BIGINT) n FROM range(${GROUP}) t(n))`
    const all = await write(`${which} ${type}`, `${numbers} ${rows.join(' UNION ALL ')}`, options)
    const single = await Promise.all(
      rows.map((sql, group) => write(`${which} ${type} ${group}`, `${numbers} ${sql}`, options)),
    )
    for (const form of FILTERS) {
      const filter = form.replace(/\b[AB]\b/g, (letter) => literals[letter === 'A' ? 0 : 1])
      if (type === 'boolean' && /[gl]t/.test(form)) continue
      if (type === 'uuid' && /[gl]t/.test(form)) continue
      for (const path of [all, ...single]) {
        const from = `read_parquet('${path}')`
        const found = await count(optimized, from, filter, type)
        expect([path, filter, found]).toEqual([path, filter, await count(plain, from, filter, type)])
      }
    }
  })
})

test('a zero is found whichever sign it has, also where the operand is a column only to DuckDB', async () => {
  const values = `SELECT CASE WHEN n % 2 = 0 THEN -0e0 ELSE n % 7 + 1.5 END::DOUBLE c0, n c1 FROM range(1000) t(n)`
  const path = await write('zeros', values, '')
  for (const filter of [
    'x eq 0',
    'case(true:x) eq 0',
    "cast(x,'Edm.Double') eq 0",
    'x in (0, 77)',
    'x in (0)',
    'case(true:x) in (0)',
    'x eq 0 or x eq 77 or x eq 78 or x eq 79 or x eq 80',
    'x eq 5e0 sub 5e0 or x eq 77e0',
  ]) {
    expect([filter, await count(optimized, `read_parquet('${path}')`, filter, 'double')]).toEqual([
      filter,
      500,
    ])
  }
})

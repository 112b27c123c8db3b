import type { Database, Handle, SqlValue } from '../../catalog/database.ts'
import { invalidOption } from '../../errors.ts'

/** How many rows one statement inserts. */
const ROWS = 100
/**
 * Tables about processes that are running, what they count and what they remember, and about migrations, which the target
 * has by itself.
 */
const NOT_COPIED = [
  'migrations',
  'nodes',
  'jobs',
  'leases',
  'request_rates',
  'provider_answers',
  'idempotency_keys',
]

interface Table {
  readonly name: string
  readonly columns: readonly string[]
  readonly key: readonly string[]
  /** Whether it gives ids that must never be given again. */
  readonly hasIds: boolean
}

/** Where rows are read: a catalog that nobody writes to meanwhile, or a transaction that sees one moment. */
export type CopySource = Pick<Database, 'all' | 'get' | 'newestId'>

/**
 * Copies all rows of a catalog into another one that has the same tables, all or nothing.
 * @param sqlite the one of the two that is in SQLite; the tables are taken from its schema
 * @throws EngineError `invalid_option` if the target holds something already
 */
export async function copyCatalog(from: CopySource, to: Database, sqlite: Database): Promise<void> {
  const tables = await tablesOf(sqlite)
  await to.transaction(async (t) => {
    await t.lockName('migrations')
    await requireEmpty(t, tables)
    for (const table of tables) {
      await copyTable(from, t, table)
      if (table.hasIds) await setNewestId(to, t, table.name, await from.newestId(table.name))
    }
  })
}

/**
 * Refuses a catalog that holds anything.
 * @throws EngineError `invalid_option`
 */
export async function requireEmpty(target: Handle, tables: readonly { name: string }[]): Promise<void> {
  for (const { name } of tables) {
    if (!(await target.get(`SELECT 1 FROM ${name} LIMIT 1`))) continue
    throw invalidOption(
      'The target holds a catalog already. Name an empty database, or an empty data directory.',
    )
  }
}

async function copyTable(from: CopySource, t: Handle, { name, columns, key }: Table): Promise<void> {
  const order = key.join(', ')
  for (let last: SqlValue[] = []; ; ) {
    const after = last.length > 0 ? `WHERE (${order}) > (${key.map(() => '?').join(', ')})` : ''
    const rows = await from.all<Record<string, SqlValue>>(
      `SELECT ${columns.join(', ')} FROM ${name} ${after} ORDER BY ${order} LIMIT ${ROWS}`,
      ...last,
    )
    if (rows.length === 0) break
    last = key.map((column) => rows.at(-1)![column]!)
    const values = rows.flatMap((row) => columns.map((column) => row[column]!))
    const places = `(${columns.map(() => '?').join(', ')})`
    const all = rows.map(() => places).join(', ')
    await t.run(`INSERT INTO ${name} (${columns.join(', ')}) VALUES ${all}`, ...values)
    if (rows.length < ROWS) break
  }
  const count = `SELECT count(*) AS n FROM ${name}`
  const [wanted, found] = [await from.get<{ n: number }>(count), await t.get<{ n: number }>(count)]
  if (wanted!.n !== found!.n) throw new Error(`${name}: ${found!.n} of ${wanted!.n} rows were copied`)
}

async function setNewestId({ isShared }: Database, t: Handle, table: string, id: number): Promise<void> {
  if (id === 0) return
  if (isShared) {
    await t.get(`SELECT setval('${table}_id_seq', ?)`, id)
    return
  }
  await t.run('DELETE FROM sqlite_sequence WHERE name = ?', table)
  await t.run('INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)', table, id)
}

/**
 * The tables to be copied, with what they refer to before them, and those of their columns that are not calculated. The
 * steps that build them make a table after those that it refers to, because PostgreSQL demands it.
 */
export async function tablesOf(sqlite: Database): Promise<Table[]> {
  const found = await sqlite.all<{ name: string; sql: string }>(
    "SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY rowid",
  )
  const tables: Table[] = []
  for (const { name, sql } of found.filter((one) => !NOT_COPIED.includes(one.name))) {
    const all = await sqlite.all<{ name: string; pk: number; hidden: number }>(
      'SELECT name, pk, hidden FROM pragma_table_xinfo(?)',
      name,
    )
    tables.push({
      name,
      columns: all.filter(({ hidden }) => hidden === 0).map((column) => column.name),
      key: all.filter(({ pk }) => pk > 0).map((column) => column.name),
      hasIds: sql.includes('AUTOINCREMENT'),
    })
  }
  return tables
}

import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import type { ColumnType } from '../../types/index.ts'
import { chosenTable } from '../chosen-table.ts'
import type { ReadRequest } from '../request.ts'
import { type KnownColumns, layColumns } from '../targets.ts'
import { badCell, malformed, notUtf8 } from '../text/errors.ts'
import { type Rewritten, TypedRows } from '../text/rewritten.ts'
import { kindOf, TEXT_KIND } from '../text/text-kinds.ts'
import { doubleText } from '../text/value-text.ts'
import { writeRows } from '../text/write-rows.ts'

type Value = null | bigint | number | string | Uint8Array

/** A column of a table, and which kinds of values it holds. */
interface TableColumn {
  readonly name: string
  /** Its declared type, in capitals; anything may stand there. */
  readonly declared: string
  /** Whether some values are of this storage class (https://sqlite.org/datatype3.html, 2). */
  readonly integers: boolean
  readonly reals: boolean
  readonly texts: boolean
  readonly blobs: boolean
  /** Whether an integer is neither 0 nor 1. */
  readonly others: boolean
  /** Whether a text holds U+FFFD, as which invalid UTF-8 is read. */
  readonly replaced: boolean
}

/**
 * Rewrites a table of an SQLite database as csv. Types follow from the values; where a column has none, from its declared
 * type, and whole numbers 0 and 1 are booleans if that says so.
 * @param target where the csv is to be written
 * @throws EngineError `invalid_upload`, which lists the `tables` where there are several
 */
export async function toCsv(request: ReadRequest, target: string, known: KnownColumns): Promise<Rewritten> {
  // Nothing is locked or written, not even for a database whose log of changes is missing.
  const url = pathToFileURL(request.file)
  url.searchParams.set('immutable', '1')
  try {
    using database = new DatabaseSync(url, { readOnly: true })
    database.exec('PRAGMA trusted_schema = OFF')
    return await rewrite(database, request, target, known)
  } catch (error) {
    const { code, errcode = 0 } = error as { code?: string; errcode?: number }
    if (code !== 'ERR_SQLITE_ERROR' || !DAMAGED.includes(errcode & 0xff)) throw error
    throw malformed('The SQLite database is damaged, or cut off.')
  }
}

/** SQLITE_ERROR, for a schema that can't be understood; SQLITE_IOERR, SQLITE_CORRUPT, SQLITE_CANTOPEN, SQLITE_NOTADB. */
const DAMAGED = [1, 10, 11, 14, 26]

async function rewrite(database: DatabaseSync, request: ReadRequest, target: string, known: KnownColumns) {
  const tables = database
    .prepare(TABLES)
    .all()
    .map(({ name }) => String(name))
  const table = chosenTable(tables, request.options?.table, 'SQLite database')
  const { columns, count } = columnsOf(database, table)
  const types = columns.map(({ integers, reals, texts, blobs }): ColumnType | undefined =>
    blobs && !integers && !reals && !texts ? 'binary' : undefined,
  )
  const targets = layColumns(
    known,
    columns.map(({ name }) => name),
    types,
  )
  const rows = new TypedRows(targets, request.options)
  const statement = database.prepare(`SELECT * FROM ${quoted(table)}`)
  statement.setReadBigInts(true)
  statement.setReturnArrays(true)
  await writeRows(
    request,
    target,
    rows,
    statement.iterate() as Iterable<unknown> as Iterable<readonly Value[]>,
    (row) => {
      for (const [index, value] of row.entries()) writeValue(rows, value, columns[index]!, types[index])
      rows.endRow()
    },
    count,
  )
  const result = rows.result(target)
  const isKnown = new Set(known.columns.map(({ name }) => name))
  return {
    ...result,
    targets: result.targets.map((one) => {
      if (one.source === undefined || isKnown.has(one.name)) return one
      return { ...one, type: declaredType(columns[one.source]!) ?? one.type }
    }),
    tables,
    table,
  }
}

/** Those with rows of their own, in the order in which they were made. */
const TABLES =
  "SELECT s.name FROM sqlite_schema s JOIN pragma_table_list l ON l.name = s.name AND l.schema = 'main' " +
  "WHERE l.type = 'table' AND s.name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY s.rowid"

/** So many columns are looked at in one statement; a result may have 2,000. */
const COLUMNS_AT_ONCE = 250

/** The columns of a table, and how many rows it has. */
function columnsOf(database: DatabaseSync, table: string) {
  const all = database.prepare(`SELECT * FROM ${quoted(table)}`).columns()
  let count = 0
  const columns: TableColumn[] = []
  for (let from = 0; from < all.length; from += COLUMNS_AT_ONCE) {
    const some = all.slice(from, from + COLUMNS_AT_ONCE)
    const facts = some.flatMap(({ name }) => {
      const column = quoted(name)
      const is = (type: string) => `max(typeof(${column}) = '${type}')`
      const others = `max(typeof(${column}) = 'integer' AND ${column} NOT IN (0, 1))`
      const replaced = `max(typeof(${column}) = 'text' AND instr(${column}, char(65533)) > 0)`
      return [is('integer'), is('real'), is('text'), is('blob'), others, replaced]
    })
    const statement = database.prepare(`SELECT count(*), ${facts.join(', ')} FROM ${quoted(table)}`)
    statement.setReturnArrays(true)
    const [found = 0, ...held] = statement.get() as unknown as readonly number[]
    count = found
    columns.push(
      ...some.map(({ name, type }, index): TableColumn => {
        const [integers, reals, texts, blobs, others, replaced] = held
          .slice(6 * index, 6 * index + 6)
          .map((one) => one === 1) as [boolean, boolean, boolean, boolean, boolean, boolean]
        return { name, declared: (type ?? '').toUpperCase(), integers, reals, texts, blobs, others, replaced }
      }),
    )
  }
  return { columns, count }
}

/** The type that a column's declaration gives, where its values alone do not tell. */
function declaredType({
  declared,
  integers,
  reals,
  texts,
  blobs,
  others,
}: TableColumn): ColumnType | undefined {
  if (reals || texts || blobs) return undefined
  const isBoolean = /^BOOL/.test(declared)
  if (integers) return isBoolean && !others ? 'boolean' : undefined
  if (isBoolean) return 'boolean'
  // The rules for affinities (https://sqlite.org/datatype3.html, 3.1), and the names that other databases have for times.
  if (/INT/.test(declared)) return 'integer'
  if (/CHAR|CLOB|TEXT/.test(declared)) return 'string'
  if (/BLOB/.test(declared)) return 'binary'
  if (/REAL|FLOA|DOUB|NUMERIC|DECIMAL/.test(declared)) return 'double'
  if (/^(?:DATETIME|TIMESTAMP)/.test(declared)) return 'timestamp'
  return /^DATE/.test(declared) ? 'date' : undefined
}

function writeValue(rows: TypedRows, value: Value, column: TableColumn, type: ColumnType | undefined): void {
  if (value === null) rows.null()
  else if (typeof value === 'bigint') {
    const text = String(value)
    rows.value(text, kindOf(text), false)
  } else if (typeof value === 'number') {
    // A whole number, too: it was stored as one of those with fractions.
    rows.value(doubleText(value), Number.isFinite(value) ? TEXT_KIND.fraction : TEXT_KIND.special, false)
  } else if (typeof value === 'string') {
    if (value.includes('\ufffd') && !column.replaced) throw notUtf8(rows.rows + 1, column.name)
    rows.value(value, kindOf(value), true)
  } else {
    if (type !== 'binary') throw badCell(rows.rows + 1, column.name, 'the value is a blob, others are not.')
    rows.trusted(Buffer.from(value).toString('base64'), TEXT_KIND.text)
  }
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

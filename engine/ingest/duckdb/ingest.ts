import type { Duck } from '../../duckdb/duck.ts'
import { EngineError } from '../../errors.ts'
import { quoteIdentifier, quoteLiteral } from '../../types/index.ts'
import { TemporaryFile } from '../../util/whole-file.ts'
import { chosenTable } from '../chosen-table.ts'
import type { IngestResult, ReadRequest } from '../request.ts'
import type { KnownColumns } from '../targets.ts'
import { malformed } from '../text/errors.ts'

const NAME = 'upload'
/** Types that Parquet lacks, so that DuckDB would write something else. */
const LOSSY = /\b(?:U?HUGEINT|INTERVAL|TIME WITH TIME ZONE|BIT|BIGNUM|UNION|VARIANT|GEOMETRY)\b/

/** Types of which Parquet holds only some values: which these are, as SQL and in words, and how they are written. */
const PARTLY = [
  {
    type: /^U?HUGEINT$/,
    holds: (column: string) => `TRY_CAST(${column} AS DECIMAL(38,0)) IS NOT NULL`,
    what: 'an integer of more than 38 digits',
    written: (column: string) => `CAST(${column} AS DECIMAL(38,0)) AS ${column}`,
  },
  {
    type: /^INTERVAL$/,
    holds: (column: string) => `NOT regexp_matches(CAST(${column} AS VARCHAR), '-|\\.\\d{3}\\d*[1-9]')`,
    what: 'an interval that is negative or finer than a millisecond',
    written: (column: string) => column,
  },
] as const

/**
 * Reads a table of a DuckDB database by copying it to Parquet. Views are not run: only tables can be chosen.
 * @throws EngineError `invalid_upload`, which lists the `tables` where there are several
 */
export async function ingestDuckDb(
  duck: Duck,
  known: KnownColumns,
  request: ReadRequest,
): Promise<IngestResult> {
  await using copy = new TemporaryFile(duck.tempDirectory)
  const { tables, table } = await copyTable(duck, request, copy.path).catch((error: unknown) => {
    throw fileError(error)
  })
  const { ingestParquet } = await import('../parquet/ingest.ts')
  return { ...(await ingestParquet(duck, known, { ...request, file: copy.path })), tables, table }
}

async function copyTable(duck: Duck, request: ReadRequest, target: string) {
  await duck.run(`ATTACH ${quoteLiteral(request.file)} AS ${NAME} (TYPE duckdb, READ_ONLY)`, request)
  try {
    const found = await duck.run(
      `SELECT table_name FROM duckdb_tables() WHERE database_name = '${NAME}' AND schema_name = 'main' ORDER BY table_oid`,
      request,
    )
    const tables = found.map(([name]) => String(name))
    const table = chosenTable(tables, request.options?.table, 'DuckDB database')
    const from = `${NAME}.main.${quoteIdentifier(table)}`
    const described = await duck.run(`DESCRIBE ${from}`, request)
    const columns = described.map(([name, type]) => columnOf(String(name), String(type)))
    await refuseUnheld(duck, columns, from, request)
    const selected = columns.map(({ sql, partly }) => partly?.written(sql) ?? sql)
    await duck.run(
      `COPY (SELECT ${selected.join(', ')} FROM ${from}) TO ${quoteLiteral(target)} (FORMAT parquet)`,
      request,
    )
    return { tables, table }
  } finally {
    await duck.run(`DETACH DATABASE IF EXISTS ${NAME}`)
  }
}

interface TableColumn {
  readonly name: string
  readonly sql: string
  readonly partly: (typeof PARTLY)[number] | undefined
}

function columnOf(name: string, type: string): TableColumn {
  const partly = PARTLY.find((one) => one.type.test(type))
  const lost = partly ? undefined : LOSSY.exec(type.replace(/'[^']*'|"[^"]*"/g, ''))?.[0]
  if (lost === undefined) return { name, sql: quoteIdentifier(name), partly }
  throw malformed(
    `Column ${JSON.stringify(name)} has values of the type ${lost}, which Parquet does not have: write the table with them as text.`,
    { column: name },
  )
}

/** @throws EngineError `invalid_upload` that names the first column with a value that Parquet can't hold */
async function refuseUnheld(
  duck: Duck,
  columns: readonly TableColumn[],
  from: string,
  request: ReadRequest,
): Promise<void> {
  const checked = columns.flatMap(({ name, sql, partly }) => (partly ? [{ name, sql, partly }] : []))
  if (checked.length === 0) return
  const counts = checked.map(({ sql, partly }) => `count(${sql}) FILTER (NOT (${partly.holds(sql)}))`)
  const [found] = await duck.run(`SELECT ${counts.join(', ')} FROM ${from}`, request)
  const bad = checked.find((_, at) => Number(found![at]) > 0)
  if (!bad) return
  throw malformed(
    `Column ${JSON.stringify(bad.name)} has ${bad.partly.what}, which Parquet does not hold: write the table with it as text.`,
    { column: bad.name },
  )
}

/** What DuckDB says about files that it does not read, and what the user is told. */
const KNOWN_ERRORS: readonly (readonly [RegExp, string])[] = [
  [
    /version number/i,
    'The DuckDB database is of a version that can not be read here. Write its tables as Parquet: ' +
      "COPY name TO 'file.parquet'.",
  ],
  [/encrypt/i, "The DuckDB database is encrypted. Write its tables as Parquet: COPY name TO 'file.parquet'."],
]

/** Turns DuckDB's errors about the file into ones that blame the upload; our own faults stay as they are. */
function fileError(error: unknown): unknown {
  const { message } = error as Error
  const isAboutFile = !(error instanceof EngineError) && /^[A-Za-z -]+ Error: /i.test(message)
  if (!isAboutFile || /^(?:Parser|Binder) Error/.test(message)) return error
  const known = KNOWN_ERRORS.find(([pattern]) => pattern.test(message))
  return new EngineError(
    'invalid_upload',
    known?.[1] ?? 'The DuckDB database is damaged or cut off. Write it again.',
    { cause: error },
  )
}

import type { Duck } from '../../duckdb/duck.ts'
import { EngineError } from '../../errors.ts'
import { quoteIdentifier, quoteLiteral } from '../../types/index.ts'
import { TemporaryFile } from '../../util/whole-file.ts'
import type { IngestResult, ReadRequest } from '../request.ts'
import { chosenTable } from '../sqlite/to-csv.ts'
import type { KnownColumns } from '../targets.ts'
import { malformed } from '../text/errors.ts'

const NAME = 'upload'
/** Types that Parquet lacks, so that DuckDB would write something else. */
const LOSSY = /\b(?:U?HUGEINT|TIME WITH TIME ZONE|BIT|BIGNUM|UNION|VARIANT|GEOMETRY)\b/

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
    throw error instanceof EngineError && error.code !== 'internal' ? error : unreadable(error)
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
    const table = chosenTable(tables, request.options?.table, 'DuckDB')
    const from = `${NAME}.main.${quoteIdentifier(table)}`
    const columns = await duck.run(`DESCRIBE ${from}`, request)
    // Parquet has no integers of 128 bits: DuckDB would write these as doubles, which lose digits.
    const selected = columns.map(([name, type]) => {
      const column = quoteIdentifier(String(name))
      if (/^U?HUGEINT$/.test(String(type))) return `CAST(${column} AS DECIMAL(38,0)) AS ${column}`
      const lost = LOSSY.exec(String(type).replace(/'[^']*'|"[^"]*"/g, ''))?.[0]
      if (lost === undefined) return column
      throw malformed(
        `Column ${JSON.stringify(name)} has values of the type ${lost}, which Parquet does not have: write the table with them as text.`,
      )
    })
    await duck.run(
      `COPY (SELECT ${selected.join(', ')} FROM ${from}) TO ${quoteLiteral(target)} (FORMAT parquet)`,
      request,
    )
    return { tables, table }
  } finally {
    await duck.run(`DETACH DATABASE IF EXISTS ${NAME}`)
  }
}

function unreadable(cause: unknown): EngineError {
  return new EngineError(
    'invalid_upload',
    'The DuckDB database is damaged, encrypted, or of a version that cannot be read. ' +
      "Write its tables as Parquet: COPY name TO 'file.parquet'.",
    { cause },
  )
}

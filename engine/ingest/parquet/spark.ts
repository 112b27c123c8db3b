import type { Duck } from '../../duckdb/duck.ts'
import type { Pairs } from '../../parquet/footer.ts'
import { objectIn } from '../../types/file-metadata.ts'
import type { ReadRequest } from '../request.ts'
import { badCell } from '../text/errors.ts'
import { aliased, everyLeaf } from './bad-values.ts'

/** What Spark writes into a footer: its version, and that days or moments are in the calendar that it had before 3.0. */
const VERSION = 'org.apache.spark.version'
const LEGACY = ['org.apache.spark.legacyDateTime', 'org.apache.spark.legacyINT96']

/** Whether Spark wrote the file in the calendar of its time, Julian before 15 October 1582. */
export function isInLegacyCalendar(pairs: Pairs): boolean {
  return LEGACY.some((key) => pairs.has(key)) || Number.parseInt(pairs.get(VERSION) ?? '3', 10) < 3
}

/** Spark's own schema of the file, as JSON. */
const SCHEMA = 'org.apache.spark.sql.parquet.row.metadata'

/**
 * The columns whose values are moments in UTC for Spark. It writes them as INT96, which has no zone, unless
 * `spark.sql.parquet.outputTimestampType` says otherwise; times without a zone it never writes so.
 */
export function sparkInstants(pairs: Pairs): Set<string> {
  const { fields } = objectIn(pairs.get(SCHEMA))
  const moments = Array.isArray(fields) ? fields.filter((field) => field?.type === 'timestamp') : []
  return new Set(moments.map(({ name }) => String(name)))
}

/**
 * Refuses days before 15 October 1582 in files of Spark's former calendar: by their numbers, they would be days of the
 * Gregorian calendar, up to ten days apart from those that were written.
 * @param columns with their types as `DESCRIBE` prints them
 * @throws EngineError `invalid_upload`
 */
export async function refuseJulianDays(
  duck: Duck,
  columns: readonly { readonly name: string; readonly duckType: string }[],
  request: ReadRequest,
): Promise<void> {
  const checks = columns.flatMap(({ name, duckType }, index) => {
    const good = everyLeaf(duckType, `p${index}`, (type, sql) =>
      type.kind === 'scalar' && /^(DATE|TIMESTAMP.*)$/.test(type.name)
        ? `CAST(${sql} AS DATE) >= DATE '1582-10-15'`
        : undefined,
    )
    return good === undefined ? [] : [{ name, sql: `min(file_row_number) FILTER (NOT (${good}))` }]
  })
  if (checks.length === 0) return
  const [firsts = []] = await duck.run(
    `SELECT ${checks.map(({ sql }) => sql).join(', ')} FROM ${aliased(request.file, columns.length)}`,
    request,
  )
  const at = firsts.findIndex((first) => first !== null)
  if (at < 0) return
  throw badCell(
    Number(firsts[at]) + 1,
    checks[at]!.name,
    "the day is before 15 October 1582 and in Spark's former calendar (org.apache.spark.legacyDateTime), in which its number " +
      'stands for another day. Write the file with spark.sql.parquet.datetimeRebaseModeInWrite=CORRECTED and ' +
      'spark.sql.parquet.int96RebaseModeInWrite=CORRECTED.',
  )
}

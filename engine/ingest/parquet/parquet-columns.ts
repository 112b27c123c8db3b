import type { Duck } from '../../duckdb/duck.ts'
import { normaliseColumn } from '../../duckdb/normalise.ts'
import { topLevel } from '../../duckdb/schema-tree.ts'
import { type ColumnType, quoteLiteral } from '../../types/index.ts'
import type { ReadRequest } from '../request.ts'
import { FINEST, malformed } from '../text/value-errors.ts'
import { refuseFinerMoments, type ZonedColumn } from './finer-moments.ts'

/** A column of the upload, and how it is read. */
export interface ParquetColumn {
  readonly name: string
  readonly type: ColumnType
  /** The value as SQL, over `p0`, `p1`, … */
  readonly sql: string
  /** Its values are text that the file's schema declares to be JSON. */
  readonly saysJson: boolean
  /** An SQL condition that is true for values that are no finer than a microsecond. */
  readonly whole?: string | undefined
}

const MOST_DIGITS = 38

/**
 * The columns of a file. Their names come from the file's own schema, because DuckDB renames those that differ only by
 * case.
 * @throws EngineError `invalid_upload` for types whose values DuckDB would change silently
 */
export async function parquetColumns(duck: Duck, request: ReadRequest): Promise<ParquetColumn[]> {
  const file = quoteLiteral(request.file)
  const schema = await duck.run(
    `SELECT name, num_children, logical_type, "precision" FROM parquet_schema(${file})`,
    request,
  )
  // Elements are identified by their positions, since several of them may have the same name.
  const top = topLevel(schema.map(([, children], index) => ({ name: index, children }))).names
  const described = await duck.run(
    `DESCRIBE SELECT * FROM read_parquet(${file}, hive_partitioning = false)`,
    request,
  )
  if (described.length !== top.length) throw malformed('The schema of the Parquet file contradicts itself.')
  const zoned: ZonedColumn[] = []
  const columns = top.map((position, index): ParquetColumn => {
    const [element, , logical, precision] = schema[Number(position)]!
    const name = String(element)
    const said = String(logical ?? '')
    if (Number(precision ?? 0) > MOST_DIGITS) {
      throw malformed(
        `Column ${JSON.stringify(name)} holds decimals of ${precision} digits; the most are ${MOST_DIGITS}.`,
        { column: name },
      )
    }
    // DuckDB silently cuts off the nanoseconds of a time. Those of moments are checked value by value (`whole`,
    // `refuseFinerMoments`).
    if (/^TimeType.*NANOS=Nano/.test(said) && request.options?.nanoseconds !== 'truncate') {
      throw malformed(`Column ${JSON.stringify(name)} holds times in nanoseconds. ${FINEST}`, {
        column: name,
      })
    }
    if (/^TimestampType\(isAdjustedToUTC=1.*NANOS=Nano/.test(said)) {
      zoned.push({ name, index, element: Number(position) })
    }
    const duckType = String(described[index]![1])
    const saysJson = said.startsWith('JsonType')
    // A column without any values becomes text, as in every other format.
    if (said.startsWith('NullType'))
      return { name, type: 'string', sql: `CAST(p${index} AS VARCHAR)`, saysJson }
    if (duckType === 'TIMESTAMP_NS') {
      const truncate = request.options?.nanoseconds === 'truncate'
      const whole = truncate ? undefined : `(NOT isfinite(p${index}) OR epoch_ns(p${index}) % 1000 = 0)`
      return { name, type: 'timestamp', sql: `CAST(p${index} AS TIMESTAMP)`, saysJson, whole }
    }
    return { name, ...normaliseColumn(duckType, `p${index}`), saysJson }
  })
  if (zoned.length > 0 && request.options?.nanoseconds !== 'truncate') {
    await refuseFinerMoments(duck, zoned, top.length, request)
  }
  return columns
}

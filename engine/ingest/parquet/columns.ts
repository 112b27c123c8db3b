import type { Duck } from '../../duckdb/duck.ts'
import { normaliseColumn } from '../../duckdb/normalise.ts'
import { topLevel } from '../../duckdb/schema-tree.ts'
import { type ColumnType, quoteLiteral } from '../../types/index.ts'
import type { ReadRequest } from '../request.ts'
import { FINEST, malformed } from '../text/accepts.ts'

/** A column of the upload, and how it is read. */
export interface ParquetColumn {
  readonly name: string
  readonly type: ColumnType
  /** Over `p0`, `p1`, … */
  readonly sql: string
  /** Its values are text that says of itself that it is JSON. */
  readonly saysJson: boolean
  /** A condition for values that a microsecond is fine enough for. */
  readonly whole?: string | undefined
}

const MOST_DIGITS = 38

/**
 * The columns of a file. Names come from its own schema: DuckDB renames those that differ only by case.
 * @throws EngineError `invalid_upload` for types whose values DuckDB would change in silence
 */
export async function parquetColumns(duck: Duck, request: ReadRequest): Promise<ParquetColumn[]> {
  const file = quoteLiteral(request.file)
  const schema = await duck.run(
    `SELECT name, num_children, logical_type, "precision" FROM parquet_schema(${file})`,
    request,
  )
  // By their positions: names may stand for several elements.
  const top = topLevel(schema.map(([, children], index) => ({ name: index, children }))).names
  const described = await duck.run(
    `DESCRIBE SELECT * FROM read_parquet(${file}, hive_partitioning = false)`,
    request,
  )
  if (described.length !== top.length) throw malformed('The schema of the Parquet file contradicts itself.')
  return top.map((position, index) => {
    const [element, , logical, precision] = schema[Number(position)]!
    const name = String(element)
    const said = String(logical ?? '')
    if (Number(precision ?? 0) > MOST_DIGITS) {
      throw malformed(
        `Column ${JSON.stringify(name)} holds decimals of ${precision} digits; the most are ${MOST_DIGITS}.`,
        { column: name },
      )
    }
    // DuckDB cuts them off without a word; those of timestamps are looked at one by one.
    if (/^TimeType.*NANOS=Nano/.test(said) && request.options?.nanoseconds !== 'truncate') {
      throw malformed(`Column ${JSON.stringify(name)} holds times in nanoseconds. ${FINEST}`, {
        column: name,
      })
    }
    const duckType = String(described[index]![1])
    const saysJson = said.startsWith('JsonType')
    // A column without values has the type that it has in every other format.
    if (said.startsWith('NullType'))
      return { name, type: 'string', sql: `CAST(p${index} AS VARCHAR)`, saysJson }
    if (duckType === 'TIMESTAMP_NS') {
      const truncate = request.options?.nanoseconds === 'truncate'
      const whole = truncate ? undefined : `(NOT isfinite(p${index}) OR epoch_ns(p${index}) % 1000 = 0)`
      return { name, type: 'timestamp', sql: `CAST(p${index} AS TIMESTAMP)`, saysJson, whole }
    }
    return { name, ...normaliseColumn(duckType, `p${index}`), saysJson }
  })
}

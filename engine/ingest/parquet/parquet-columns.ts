import type { Duck } from '../../duckdb/duck.ts'
import { normaliseParquetColumn } from '../../duckdb/normalise.ts'
import type { ColumnType } from '../../types/index.ts'
import { readParts } from '../parts/part.ts'
import type { ReadRequest } from '../request.ts'
import { malformed } from '../text/errors.ts'
import { leafInRange, refuseFinerMoments } from './bad-values.ts'
import { everyLeaf } from './leaves.ts'
import { readSchema, type SchemaElement } from './schema.ts'

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
  /** An SQL condition that is true for nested values in which all values are within the ranges of their types. */
  readonly inside?: string | undefined
}

const MOST_DIGITS = 38

/**
 * The columns of a file. Their names come from the file's own schema, because DuckDB renames those that differ only by
 * case.
 * @throws EngineError `invalid_upload` for types whose values DuckDB would change silently
 */
export async function parquetColumns(duck: Duck, request: ReadRequest): Promise<ParquetColumn[]> {
  const elements = await readSchema(duck, request)
  const top = [...elements.values()].filter(({ isColumn }) => isColumn)
  refuseUnreadable(top, elements)
  const described = await duck.run(`DESCRIBE SELECT * FROM ${readParts([request.file])}`, request)
  if (described.length !== top.length) throw malformed('The schema of the Parquet file contradicts itself.')
  const columns = top.map(({ name, logical }, index): ParquetColumn => {
    const duckType = String(described[index]![1])
    const saysJson = logical.startsWith('JsonType')
    // A column without any values becomes text, as in every other format.
    if (logical.startsWith('NullType'))
      return { name, type: 'string', sql: `CAST(p${index} AS VARCHAR)`, saysJson }
    if (duckType === 'TIMESTAMP_NS') {
      const truncate = request.options?.nanoseconds === 'truncate'
      const whole = truncate ? undefined : `(NOT isfinite(p${index}) OR epoch_ns(p${index}) % 1000 = 0)`
      return { name, type: 'timestamp', sql: `CAST(p${index} AS TIMESTAMP)`, saysJson, whole }
    }
    const column = normaliseParquetColumn(duckType, `p${index}`)
    const inside = column.type === 'json' ? everyLeaf(duckType, `p${index}`, leafInRange) : undefined
    return { name, ...column, saysJson, inside }
  })
  await refuseFinerMoments(duck, elements, request)
  return columns
}

/** Refuses what DuckDB would read as something else: decimals of more digits than it has, and fields that it renames. */
function refuseUnreadable(
  columns: readonly SchemaElement[],
  elements: ReadonlyMap<number, SchemaElement>,
): void {
  const fields = new Map<string, string>()
  for (const { name, column, isColumn, parent, precision } of elements.values()) {
    const outer = columns[column]!.name
    if (precision > MOST_DIGITS) {
      throw malformed(
        `Column ${JSON.stringify(outer)} holds decimals of ${precision} digits; the most are ${MOST_DIGITS}.`,
        { column: outer },
      )
    }
    if (isColumn) continue
    // DuckDB ignores the case of these letters only: it tells É and é apart.
    const key = `${parent} ${name.replace(/[A-Z]/g, (letter) => letter.toLowerCase())}`
    const other = fields.get(key)
    if (other !== undefined) {
      throw malformed(
        `Column ${JSON.stringify(outer)} has the fields ${JSON.stringify(other)} and ${JSON.stringify(name)} within it, ` +
          'which differ at most by case. Fields in Parquet need other names; Arrow and JSON may have such fields.',
        { column: outer },
      )
    }
    fields.set(key, name)
  }
}

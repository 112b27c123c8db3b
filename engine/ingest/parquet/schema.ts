import type { Duck } from '../../duckdb/duck.ts'
import { topLevel } from '../../duckdb/normalise.ts'
import { quoteLiteral } from '../../types/index.ts'
import type { ReadRequest } from '../request.ts'

/** An element of a file's schema, as DuckDB lists it: a column, or what is nested in one. */
export interface SchemaElement {
  readonly name: string
  /** The column that it belongs to: its position among the columns. */
  readonly column: number
  /** Whether it is the column itself. */
  readonly isColumn: boolean
  /** The position of the element that it is nested in; 0 for columns. */
  readonly parent: number
  /** `INT64`, `INT96` …; empty where it has elements below it. */
  readonly physical: string
  /** `UTF8`, `INTERVAL` … */
  readonly converted: string
  /** `StringType()`, `TimestampType(…)` … */
  readonly logical: string
  /** Of decimals; 0 for other types. */
  readonly precision: number
}

/**
 * The elements of a file's schema by their positions. Elements are identified by these, since several of them may have
 * the same name.
 */
export async function readSchema(duck: Duck, request: ReadRequest): Promise<Map<number, SchemaElement>> {
  const rows = await duck.run(
    // As bytes, since the driver drops a byte order mark at the beginning of a text.
    'SELECT encode(name), num_children, type, converted_type, logical_type, "precision" ' +
      `FROM parquet_schema(${quoteLiteral(request.file)})`,
    request,
  )
  const { columns, end } = topLevel(rows.map(([, children]) => children))
  const elements = new Map<number, SchemaElement>()
  /** The elements around the present one, each with the number of its children that are still to come. */
  const around = [{ position: 0, left: columns.length }]
  for (let position = 1, column = -1; position < end; position++) {
    const isColumn = position === columns[column + 1]
    if (isColumn) column++
    while (around.at(-1)!.left === 0) around.pop()
    const parent = around.at(-1)!
    parent.left--
    const [name, children, physical, converted, logical, precision] = rows[position]!
    around.push({ position, left: Number(children ?? 0) })
    elements.set(position, {
      name: Buffer.from(name as Uint8Array).toString(),
      column,
      isColumn,
      parent: parent.position,
      physical: String(physical ?? ''),
      converted: String(converted ?? ''),
      logical: String(logical ?? ''),
      precision: Number(precision ?? 0),
    })
  }
  return elements
}

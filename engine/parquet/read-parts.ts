import { type Column, quoteIdentifier, quoteLiteral, sqlType } from '../types/index.ts'

/**
 * SQL that reads the rows of parts in order, with their columns as c0, c1, …
 * @param attached the columns, where others wrote the files, so that they have their own names there
 */
export function readParts(
  files: readonly string[],
  attached?: readonly Pick<Column, 'name' | 'type'>[],
): string {
  const list = files.map(quoteLiteral).join(', ')
  if (!attached) return `read_parquet([${list}], hive_partitioning = false)`
  const columns = attached.map(
    ({ name, type }, index) => `CAST(${quoteIdentifier(name)} AS ${sqlType(type)}) AS c${index}`,
  )
  // A file's bounds leave out NaN, as the format has it, and DuckDB would take them for the bounds of all values.
  return (
    `(SELECT ${[...columns, 'file_index', 'file_row_number'].join(', ')} ` +
    `FROM read_parquet([${list}], hive_partitioning = false, can_have_nan = true))`
  )
}

import type { StartOptions } from '../../../duckdb/runner.ts'
import type { Statement } from '../../../types/index.ts'
import type { QueryExecutor } from '../../index.ts'
import type { EncodeOptions } from '../encoder.ts'
import { textTooLong, tooManyColumns, XLSX_COLUMNS, xlsxCheck } from './limits.ts'

/** A sentence about why a sheet can't hold a result, found before the first byte is sent; undefined if it can. */
export async function xlsxProblem(
  executor: Pick<QueryExecutor, 'rows' | 'values'>,
  statement: Statement,
  options: Pick<StartOptions, 'signal'> & Pick<EncodeOptions, 'overlong'> = {},
): Promise<string | undefined> {
  const { columns } = statement
  if (columns.length > XLSX_COLUMNS) return tooManyColumns(columns.length)
  if (options.overlong === 'cut') return undefined
  const check = xlsxCheck(statement)
  if (!check) return undefined
  const suspects = await executor.rows(check.some, options)
  if (suspects.length === 0) return undefined
  const [found] = await executor.rows(check.first, options)
  if (!found) return undefined
  const [row, column, length] = found.map(Number)
  return textTooLong(columns[column!]!.name, length!, row)
}

import type { Duck } from '../../duckdb/duck.ts'
import { quoteLiteral } from '../../types/index.ts'
import type { ReadRequest } from '../request.ts'
import { everyLeaf, type LeafCondition, type LeafType } from './leaves.ts'
import { type Mark, markedCopy } from './marked-copy.ts'

/**
 * Looks at columns of a file under the types that `marks` gives to elements of its schema (see `markedCopy`).
 * @param columns the positions of the columns
 * @returns for each column, and each condition in it, the number of the first row that does not meet it; or undefined
 */
export async function firstRowsAgainst(
  duck: Duck,
  marks: ReadonlyMap<number, Mark>,
  columns: readonly number[],
  conditions: readonly LeafCondition[],
  request: Pick<ReadRequest, 'file' | 'tempDirectory' | 'signal'>,
): Promise<(number | undefined)[][]> {
  await using copy = await markedCopy(request, marks)
  const source = `read_parquet(${quoteLiteral(copy.path)}, hive_partitioning = false, file_row_number = true)`
  const described = await duck.run(`DESCRIBE SELECT * FROM ${source}`, request)
  const aliases = [...described.slice(0, -1).map((_, index) => `p${index}`), 'file_row']
  const firsts = columns.flatMap((index) =>
    conditions.map((condition) => {
      const met = everyLeaf(String(described[index]![1]), `p${index}`, condition)
      return met === undefined ? 'NULL' : `min(file_row) FILTER (NOT (${met}))`
    }),
  )
  const [rows] = await duck.run(
    `SELECT ${firsts.join(', ')} FROM ${source} AS t(${aliases.join(', ')})`,
    request,
  )
  return columns.map((_, at) =>
    conditions.map((__, nth) => {
      const first = rows![at * conditions.length + nth]
      return first === null ? undefined : Number(first) + 1
    }),
  )
}

export function isScalar(type: LeafType, name: string): boolean {
  return type.kind === 'scalar' && type.name === name
}

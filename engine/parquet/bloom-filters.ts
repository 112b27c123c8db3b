import { FIELD, groupsOf, metasOf, numberOf, set } from './footer.ts'
import type { ParquetFile } from './parquet-file.ts'
import { type Struct, TYPE } from './thrift.ts'

/**
 * Gives columns of a file the Bloom filters that columns of another file have. A filter says which values a row group
 * doesn't have, whatever their encoding is.
 * @param from a file with the same rows. If they are in other row groups, its filters are of no use, and `to` stays as
 * it is.
 * @param columns the positions in `to` of the columns of `from`
 */
export async function copyBloomFilters(
  from: ParquetFile,
  to: ParquetFile,
  columns: readonly number[],
): Promise<void> {
  const [groups, sourceGroups] = [groupsOf(to.footer), groupsOf(from.footer)]
  if (!sameRows(groups, sourceGroups)) return
  // The filters of a column lie behind each other, because a question asks for those of one column.
  for (const [index, column] of columns.entries()) {
    for (const [number, group] of sourceGroups.entries()) {
      const found = metasOf(group)[index]!
      // A row group of nothing but nulls has no filter.
      if (!found.has(FIELD.meta.bloomLength)) continue
      const length = numberOf(found, FIELD.meta.bloomLength)
      const filter = await from.read(numberOf(found, FIELD.meta.bloomOffset), length)
      const meta = metasOf(groups[number]!)[column]!
      set(meta, FIELD.meta.bloomOffset, TYPE.i64, to.append(filter))
      set(meta, FIELD.meta.bloomLength, TYPE.i32, length)
    }
  }
}

function sameRows(groups: readonly Struct[], others: readonly Struct[]): boolean {
  const rows = (group: Struct) => numberOf(group, FIELD.group.rows)
  return (
    groups.length === others.length && groups.every((group, index) => rows(group) === rows(others[index]!))
  )
}

import { open } from 'node:fs/promises'
import { fileEnd, readFooter } from './file-footer.ts'
import { FIELD, listOf, numberOf, set, structOf } from './footer.ts'
import { readStruct, type Struct, TYPE, writeStruct } from './thrift.ts'

/**
 * Gives columns of a file the Bloom filters that columns of another file have. A filter says which values a row group
 * doesn't have, whatever their encoding is. The filters and a new footer take the place of the old footer.
 * @param from a file with the same rows. If they are in other row groups, its filters are of no use, and `to` stays as
 * it is.
 * @param columns the positions in `to` of the columns of `from`
 */
export async function copyBloomFilters(from: string, to: string, columns: readonly number[]): Promise<void> {
  await using source = await open(from)
  await using target = await open(to, 'r+')
  const { footer, start } = await readFooter(target)
  const file = readStruct(footer)
  const groups = groupsOf(file)
  const sourceGroups = groupsOf(readStruct((await readFooter(source)).footer))
  if (!sameRows(groups, sourceGroups)) return
  const filters: Buffer[] = []
  let at = start
  // The filters of a column lie behind each other, because a question asks for those of one column.
  for (const [index, column] of columns.entries()) {
    for (const [number, group] of sourceGroups.entries()) {
      const found = metaOf(group, index)
      // A row group of nothing but nulls has no filter.
      if (!found.has(FIELD.meta.bloomLength)) continue
      const length = numberOf(found, FIELD.meta.bloomLength)
      const filter = Buffer.alloc(length)
      await source.read(filter, 0, length, numberOf(found, FIELD.meta.bloomOffset))
      addFilter(metaOf(groups[number]!, column), at, length)
      filters.push(filter)
      at += length
    }
  }
  const end = Buffer.concat([...filters, fileEnd(writeStruct(file))])
  await target.write(end, 0, end.length, start)
  await target.truncate(start + end.length)
}

function groupsOf(file: Struct): Struct[] {
  return listOf(file, FIELD.file.rowGroups).values as Struct[]
}

function metaOf(group: Struct, column: number): Struct {
  return structOf(listOf(group, FIELD.group.columns).values[column] as Struct, FIELD.chunk.metadata)
}

function sameRows(groups: readonly Struct[], others: readonly Struct[]): boolean {
  const rows = (group: Struct) => numberOf(group, FIELD.group.rows)
  return (
    groups.length === others.length && groups.every((group, index) => rows(group) === rows(others[index]!))
  )
}

/** Fields are written in the order of their ids, in which the struct must have them. */
function addFilter(meta: Struct, at: number, length: number): void {
  set(meta, FIELD.meta.bloomOffset, TYPE.i64, at)
  set(meta, FIELD.meta.bloomLength, TYPE.i32, length)
  const fields = [...meta].sort(([a], [b]) => a - b)
  meta.clear()
  for (const [id, field] of fields) meta.set(id, field)
}

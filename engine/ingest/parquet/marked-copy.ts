import { constants } from 'node:fs'
import { copyFile } from 'node:fs/promises'
import type { Duck } from '../../duckdb/duck.ts'
import { storageError } from '../../errors.ts'
import { elementsOf, FIELD, groupsOf, metasOf, set } from '../../parquet/footer.ts'
import { ParquetFile } from '../../parquet/parquet-file.ts'
import { type Struct, TYPE, type Value } from '../../parquet/thrift.ts'
import { TemporaryFile } from '../../util/whole-file.ts'
import { readParts } from '../parts/part.ts'
import type { ReadRequest } from '../request.ts'
import { everyLeaf, type LeafCondition, type LeafType } from './leaves.ts'

/**
 * As what an element's values are to be read: moments in nanoseconds without a zone, the twelve bytes of an interval,
 * text, or values without a meaning (whole numbers, bytes).
 */
export type Mark = 'moment' | 'interval' | 'text' | 'plain'

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
  request: ReadRequest,
): Promise<(number | undefined)[][]> {
  await using copy = await markedCopy(duck, request.file, marks)
  const described = await duck.run(`DESCRIBE SELECT * FROM ${readParts([copy.path])}`, request)
  const firsts = columns.flatMap((index) =>
    conditions.map((condition) => {
      const met = everyLeaf(String(described[index]![1]), `p${index}`, condition)
      return met === undefined ? 'NULL' : `min(file_row_number) FILTER (NOT (${met}))`
    }),
  )
  const source = aliased(copy.path, described.length)
  const [rows] = await duck.run(`SELECT ${firsts.join(', ')} FROM ${source}`, request)
  return columns.map((_, at) =>
    conditions.map((__, nth) => {
      const first = rows![at * conditions.length + nth]
      return first === null ? undefined : Number(first) + 1
    }),
  )
}

/** SQL that reads a file with its columns as p0, p1, …: their own names may differ only by case. */
export function aliased(file: string, columns: number): string {
  const names = Array.from({ length: columns }, (_, index) => `p${index}`)
  return `${readParts([file])} AS t(${names.join(', ')})`
}

export function isScalar(type: LeafType, name: string): boolean {
  return type.kind === 'scalar' && type.name === name
}

/**
 * A copy of a Parquet file whose footer says other types of some elements of the schema, identified by their positions.
 * DuckDB silently changes values of some types and fails on values of others, so these are looked at as other types.
 */
async function markedCopy(
  duck: Duck,
  file: string,
  marks: ReadonlyMap<number, Mark>,
): Promise<TemporaryFile> {
  const copy = new TemporaryFile(duck.tempDirectory)
  try {
    await copyFile(file, copy.path, constants.COPYFILE_FICLONE)
    await markElements(copy.path, marks)
    return copy
  } catch (error) {
    await copy[Symbol.asyncDispose]()
    throw storageError(error)
  }
}

/** Values of parquet.thrift: the physical type of fixed length, converted types, members of LogicalType and TimeUnit. */
const FIXED_LENGTH = 7
const CONVERTED = { text: 0, interval: 21 } as const
const LOGICAL_TIMESTAMP = 8
const NANOSECONDS = 3
const INTERVAL_BYTES = 12

async function markElements(path: string, marks: ReadonlyMap<number, Mark>): Promise<void> {
  await using file = await ParquetFile.open(path)
  const leaves: number[] = []
  for (const [position, element] of elementsOf(file.footer).entries()) {
    if (element.has(FIELD.element.type)) leaves.push(position)
    const mark = marks.get(position)
    if (mark) markElement(element, mark)
  }
  for (const group of groupsOf(file.footer)) {
    for (const [index, meta] of metasOf(group).entries()) {
      const mark = marks.get(leaves[index]!)
      if (!mark) continue
      meta.delete(FIELD.meta.statistics)
      if (mark === 'interval') set(meta, FIELD.meta.type, TYPE.i32, FIXED_LENGTH)
    }
  }
  await file.save()
}

function markElement(element: Struct, mark: Mark): void {
  element.delete(FIELD.element.convertedType)
  element.delete(FIELD.element.logicalType)
  if (mark === 'moment') {
    const unit = structValue([NANOSECONDS, structValue()])
    const moment = structValue([1, { type: TYPE.false, value: false }], [2, unit])
    set(element, FIELD.element.logicalType, TYPE.struct, structValue([LOGICAL_TIMESTAMP, moment]).value)
  } else if (mark === 'text') {
    set(element, FIELD.element.convertedType, TYPE.i32, CONVERTED.text)
  } else if (mark === 'interval') {
    set(element, FIELD.element.type, TYPE.i32, FIXED_LENGTH)
    set(element, FIELD.element.typeLength, TYPE.i32, INTERVAL_BYTES)
    set(element, FIELD.element.convertedType, TYPE.i32, CONVERTED.interval)
  }
}

function structValue(...fields: [number, { type: number; value: Value }][]): { type: number; value: Struct } {
  return { type: TYPE.struct, value: new Map(fields) }
}

import { constants } from 'node:fs'
import { copyFile, open } from 'node:fs/promises'
import type { Duck } from '../../duckdb/duck.ts'
import { fileEnd, readFooter } from '../../parquet/file-footer.ts'
import { FIELD, listOf, set, structOf } from '../../parquet/footer.ts'
import { readStruct, type Struct, TYPE, writeStruct } from '../../parquet/thrift.ts'
import { quoteLiteral } from '../../types/index.ts'
import { TemporaryFile } from '../../util/temporary.ts'
import type { ReadRequest } from '../request.ts'
import { tooFine } from '../text/value-errors.ts'

/** A column of moments in nanoseconds that are in UTC by the file's schema. */
export interface ZonedColumn {
  readonly name: string
  /** Its position among the columns. */
  readonly index: number
  /** The position of its element in the schema. */
  readonly element: number
}

/**
 * Refuses moments in UTC that are finer than a microsecond. DuckDB silently cuts off their nanoseconds, but only those of
 * columns in UTC. So these columns are checked in a copy of the file whose footer says that they are not in UTC.
 * @param count the number of columns in the file
 * @throws EngineError `invalid_upload`
 */
export async function refuseFinerMoments(
  duck: Duck,
  zoned: readonly ZonedColumn[],
  count: number,
  request: Pick<ReadRequest, 'file' | 'tempDirectory' | 'signal'>,
): Promise<void> {
  await using copy = new TemporaryFile(request.tempDirectory)
  await copyFile(request.file, copy.path, constants.COPYFILE_FICLONE)
  await setUtc(
    copy.path,
    zoned.map(({ element }) => element),
    false,
  )
  const aliases = [...Array.from({ length: count }, (_, index) => `p${index}`), 'file_row']
  const finer = zoned.map(({ index }) => `min(file_row) FILTER (epoch_ns(p${index}) % 1000 <> 0)`)
  const [rows] = await duck.run(
    `SELECT ${finer.join(', ')} FROM read_parquet(${quoteLiteral(copy.path)}, hive_partitioning = false, ` +
      `file_row_number = true) AS t(${aliases.join(', ')})`,
    request,
  )
  for (const [at, { name }] of zoned.entries()) {
    if (rows![at] !== null) throw tooFine(Number(rows![at]) + 1, name)
  }
}

/** The member of the union LogicalType that stands for moments, and its field that says whether they are in UTC. */
const LOGICAL_TIMESTAMP = 8
const IS_UTC = 1

/** Changes in a file's footer whether columns of moments are in UTC. */
export async function setUtc(file: string, elements: readonly number[], isUtc: boolean): Promise<void> {
  await using handle = await open(file, 'r+')
  const { footer, start } = await readFooter(handle)
  const meta = readStruct(footer)
  const schema = listOf(meta, FIELD.file.schema).values as Struct[]
  for (const element of elements) {
    const type = structOf(structOf(schema[element]!, FIELD.element.logicalType), LOGICAL_TIMESTAMP)
    set(type, IS_UTC, TYPE.true, isUtc)
  }
  const end = fileEnd(writeStruct(meta))
  await handle.write(end, 0, end.length, start)
  await handle.truncate(start + end.length)
}

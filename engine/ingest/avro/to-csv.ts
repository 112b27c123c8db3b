import { type FileHandle, open } from 'node:fs/promises'
import type { Type } from 'avsc'
import { EngineError } from '../../errors.ts'
import { decimalParts } from '../../types/index.ts'
import type { ReadRequest } from '../request.ts'
import { fieldsOf, isTextual, type KnownColumns, layColumns } from '../targets.ts'
import { BadValue } from '../text/bounds.ts'
import { badRow, outOfRange, outOfRangeInside } from '../text/errors.ts'
import { type Rewritten, TypedRows } from '../text/rewritten.ts'
import { TEXT_KIND } from '../text/text-kinds.ts'
import { writeRows } from '../text/write-rows.ts'
import { type AvroHeader, damaged, readBlocks, readHeader } from './container.ts'
import { columnsOf, typeOfSchema } from './read-text.ts'

/** Rows that any file may have, however small it is: records of nulls take no bytes. */
const MOST_ROWS = 1_000_000

/**
 * Rewrites an Avro object container file as csv, one block at a time.
 * @param target where the csv is to be written
 * @throws EngineError `invalid_upload`, `column_conflict`, `storage_full`
 */
export async function toCsv(request: ReadRequest, target: string, known: KnownColumns): Promise<Rewritten> {
  await using handle = await open(request.file)
  try {
    return await rewrite(request, target, known, handle)
  } catch (error) {
    // The library throws errors of many kinds on damaged bytes. Those of the file system can be told by their codes.
    const { code } = error as { code?: string }
    if (error instanceof EngineError || request.signal?.aborted || (code && /^E[A-Z]+$/.test(code)))
      throw error
    throw damaged()
  }
}

async function rewrite(request: ReadRequest, target: string, known: KnownColumns, handle: FileHandle) {
  const header = await readHeader(handle)
  const type = typeOfSchema(header.schema)
  const columns = columnsOf(type, request.options?.nanoseconds === 'truncate')
  const targets = layColumns(
    known,
    columns.map(({ name }) => name),
    columns.map(({ type }) => type),
  )
  const rows = new TypedRows(targets, request.options)
  const cells = fieldsOf(targets).map((field, index) => {
    const { name, type, text } = columns[index]!
    const isChecked = isTextual(type, field.type!) || type === 'uuid'
    const kind = kindOfAll(type)
    return (value: unknown) => {
      try {
        const written = text(value)
        if (written === null) rows.null()
        else if (isChecked) rows.value(written, written === '' ? TEXT_KIND.empty : TEXT_KIND.text, true)
        else rows.trusted(written, kind)
      } catch (error) {
        if (!(error instanceof BadValue)) throw error
        throw (error.why ?? (type === 'json' ? outOfRangeInside : outOfRange))(rows.rows + 1, name, type)
      }
    }
  })
  await writeRows(request, target, rows, recordsOf(handle, header, type, request), (record) => {
    for (const [index, write] of cells.entries()) write(record[columns[index]!.name])
    rows.endRow()
  })
  return rows.result(target)
}

async function* recordsOf(
  handle: FileHandle,
  header: AvroHeader,
  type: Type,
  { limits }: ReadRequest,
): AsyncGenerator<Readonly<Record<string, unknown>>> {
  const most = Math.min(limits.unpackedBytes, 2 ** 31 - 1)
  const { size } = await handle.stat()
  let left = MOST_ROWS + 8 * size
  let rows = 0
  for await (const { count, data } of readBlocks(handle, header, most)) {
    left -= count
    if (left < 0) throw damaged()
    let at = 0
    for (let row = 0; row < count; row++) {
      const { value, offset } = decoded(type, data, at, ++rows)
      if (offset < 0) throw damaged()
      at = offset
      yield value
    }
    if (at !== data.length) throw damaged()
  }
}

function decoded(type: Type, data: Buffer, at: number, row: number) {
  try {
    return type.decode(data, at) as { value: Record<string, unknown>; offset: number }
  } catch (error) {
    throw error instanceof BadValue ? badRow(row, ': a text in it is not valid UTF-8.') : error
  }
}

/** The kind of a type's values, where DuckDB reads them otherwise than any texts of the type. */
function kindOfAll(type: string): number {
  if (type === 'timestamptz' || type === 'timestamp' || type === 'date') return TEXT_KIND[type]
  return decimalParts(type as never)?.scale === 0 ? TEXT_KIND.bigInteger : TEXT_KIND.text
}

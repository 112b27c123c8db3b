import { rm } from 'node:fs/promises'
import type { Duck } from '../../duckdb/duck.ts'
import { NOT_MICROSECONDS, normaliseColumn } from '../../duckdb/normalise.ts'
import { topLevel } from '../../duckdb/schema-tree.ts'
import { EngineError } from '../../errors.ts'
import { type Column, type ColumnType, quoteLiteral, sqlType } from '../../types/index.ts'
import { unpacksTooLarge } from '../gunzip.ts'
import { writePart } from '../part.ts'
import { measure, readParts, widened } from '../parts.ts'
import type { IngestResult, ReadRequest } from '../request.ts'
import { isTextual, type KnownColumns, layColumns, settledColumns, takes } from '../targets.ts'
import { malformed, missingValue } from '../text/accepts.ts'

/** A column of the upload, and how it is read. */
interface ParquetColumn {
  readonly name: string
  readonly type: ColumnType
  /** Over `p0`, `p1`, … */
  readonly sql: string
}

/** Parquet is read by DuckDB; what it holds beyond our types becomes the nearest one without loss. */
export async function ingestParquet(
  duck: Duck,
  known: KnownColumns,
  request: ReadRequest,
): Promise<IngestResult> {
  try {
    return await ingest(duck, known, request)
  } catch (error) {
    await rm(request.target, { force: true })
    throw parquetError(error, request)
  }
}

async function ingest(duck: Duck, known: KnownColumns, request: ReadRequest): Promise<IngestResult> {
  const { file, target, limits } = request
  const size = await unpackedSize(duck, request)
  if (size.rawBytes > limits.unpackedBytes) throw unpacksTooLarge(limits.unpackedBytes)
  const given = await describe(duck, request)
  const names = given.map(({ name }) => name)
  const types = given.map(({ name, type }) => takes(known, name, type) ?? type)
  const targets = layColumns(names, known, types)
  const columns = settledColumns(
    targets,
    targets.map(({ type }) => type!),
  )
  const aliases = given.map((_, index) => `p${index}`)
  const source = `read_parquet(${quoteLiteral(file)}, hive_partitioning = false) AS t(${aliases.join(', ')})`
  const selected = targets.map((column, index) => {
    if (column.source === undefined) return `CAST(NULL AS ${sqlType(column.type!)}) AS c${index}`
    return `${converted(given[column.source]!, column.type!)} AS c${index}`
  })
  const { rows, bytes, nulls } = await writePart(
    duck,
    `SELECT ${selected.join(', ')} FROM ${source}`,
    target,
    { ...size, columns: columns.length },
    request,
  )
  await refuseNulls(duck, columns, nulls, request)
  const { rawBytes } = await measure(duck, readParts([target]), columns, request)
  request.onProgress?.({ bytes: size.bytes, rows })
  return { columns, rows, bytes, rawBytes }
}

function converted(given: ParquetColumn, type: ColumnType): string {
  if (!isTextual(given.type, type)) return widened(given, type, given.sql)
  const message = quoteLiteral(`${NOT_OF_TYPE} in column ${JSON.stringify(given.name)} is not a ${type}`)
  const valid = type === 'json' ? `json_valid(${given.sql})` : `TRY_CAST(${given.sql} AS UUID) IS NOT NULL`
  const checked = `CASE WHEN ${given.sql} IS NULL OR ${valid} THEN ${given.sql} ELSE error(${message}) END`
  return `CAST(${checked} AS ${sqlType(type)})`
}

/** Begins the message of an error that we raise in SQL; DuckDB puts its own words before it. */
const NOT_OF_TYPE = 'A text'

/** What the file comes to unpacked, by its own account. */
async function unpackedSize(
  duck: Duck,
  request: ReadRequest,
): Promise<{ rows: number; rawBytes: number; bytes: number }> {
  const file = quoteLiteral(request.file)
  const [groups] = await duck.run(
    `SELECT CAST(coalesce(sum(total_uncompressed_size), 0) AS DOUBLE), CAST(coalesce(sum(total_compressed_size), 0) AS DOUBLE) FROM parquet_metadata(${file})`,
    request,
  )
  const [meta] = await duck.run(
    `SELECT CAST(num_rows AS DOUBLE) FROM parquet_file_metadata(${file})`,
    request,
  )
  return { rows: Number(meta![0]), rawBytes: Number(groups![0]), bytes: Number(groups![1]) }
}

/** Names come from the file's schema: DuckDB renames those that differ only by case. */
async function describe(duck: Duck, request: ReadRequest): Promise<ParquetColumn[]> {
  const file = quoteLiteral(request.file)
  const schema = await duck.run(`SELECT name, num_children FROM parquet_schema(${file})`, request)
  const { names } = topLevel(schema.map(([name, children]) => ({ name, children })))
  const described = await duck.run(
    `DESCRIBE SELECT * FROM read_parquet(${file}, hive_partitioning = false)`,
    request,
  )
  if (described.length !== names.length) throw malformed('The schema of the Parquet file contradicts itself.')
  return names.map((name, index) => ({ name, ...normaliseColumn(String(described[index]![1]), `p${index}`) }))
}

async function refuseNulls(
  duck: Duck,
  columns: readonly Column[],
  nulls: readonly number[],
  request: ReadRequest,
): Promise<void> {
  const index = columns.findIndex(({ nullable }, at) => !nullable && nulls[at]! > 0)
  if (index < 0) return
  const part = `read_parquet(${quoteLiteral(request.target)}, hive_partitioning = false, file_row_number = true)`
  const [row] = await duck.run(`SELECT min(file_row_number) FROM ${part} WHERE c${index} IS NULL`, request)
  throw missingValue(Number(row![0]) + 1, columns[index]!.name)
}

/** DuckDB's complaints about the file as 400; those about the part that is written stay what they are. */
function parquetError(error: unknown, { target }: ReadRequest): unknown {
  if (error instanceof EngineError) {
    return error.code === 'overloaded'
      ? new EngineError(
          'upload_too_large',
          'The Parquet file needs more memory to read than there is: its row groups are too large.',
          { cause: error },
        )
      : error
  }
  const { message } = error as Error
  if (message.includes(target)) return error
  const fine = message.indexOf(NOT_MICROSECONDS)
  if (fine >= 0) return malformed(`${message.slice(fine).split('\n', 1)[0]}.`)
  const text = message.indexOf(NOT_OF_TYPE)
  if (text >= 0) return malformed(`${message.slice(text).split('\n', 1)[0]}.`)
  if (/encrypt/i.test(message)) return malformed('The Parquet file is encrypted.')
  return new EngineError(
    'invalid_upload',
    'The Parquet file is damaged, or uses an encoding or a compression that is not known here.',
    { cause: error },
  )
}

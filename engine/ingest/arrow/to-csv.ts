import { type FileHandle, open } from 'node:fs/promises'
import { zstdDecompressSync } from 'node:zlib'
import {
  CompressionType,
  compressionRegistry,
  type Data,
  DataType,
  type Field,
  type RecordBatch,
  RecordBatchReader,
} from 'apache-arrow'
import { EngineError } from '../../errors.ts'
import { filledColumns, readMetadata } from '../../types/file-metadata.ts'
import { type ColumnType, decimalParts } from '../../types/index.ts'
import { FileSink, unpacksTooLarge } from '../file.ts'
import type { ReadRequest } from '../request.ts'
import { fieldsOf, isTextual, type KnownColumns, layColumns } from '../targets.ts'
import { BadValue } from '../text/bounds.ts'
import { malformed, outOfRange, outOfRangeInside } from '../text/errors.ts'
import { periodReason } from '../text/periods.ts'
import { type Rewritten, TypedRows } from '../text/rewritten.ts'
import { TEXT_KIND } from '../text/text-kinds.ts'
import { arrowMessages, assertValid, verifyFile } from './arrow-messages.ts'
import { unpackLz4 } from './lz4.ts'
import { isText, textReader, typeOfArrow } from './read-text.ts'

/** The number of rows that are rewritten at once, and of bytes that are gathered before they are written to the sink. */
const ROWS_AT_ONCE = 4096
const BYTES_AT_ONCE = 64 * 1024
/** Rows that any file may have in a batch, however small it is. */
const MOST_ROWS = 1_000_000

/**
 * Rewrites an Arrow stream (or file) as csv, one record batch at a time.
 * @param target where the csv is to be written
 * @throws EngineError `invalid_upload`, `column_conflict`, `storage_full`
 */
export async function toCsv(request: ReadRequest, target: string, known: KnownColumns): Promise<Rewritten> {
  const most = Math.min(request.limits.unpackedBytes, 2 ** 31 - 1)
  compressionRegistry.set(CompressionType.ZSTD, {
    decode: (bytes) => zstdDecompressSync(bytes, { maxOutputLength: most }),
  })
  compressionRegistry.set(CompressionType.LZ4_FRAME, { decode: (bytes) => unpackLz4(bytes, most) })
  await using sink = await FileSink.create(target)
  await using handle = await open(request.file)
  try {
    const { rows, metadata, reasons } = await rewrite(request, known, handle, sink)
    const { targets, source } = rows.result(target)
    return {
      targets,
      metadata,
      source: { ...source, reasons: source.reasons.map((one, at) => one ?? reasons[at]) },
    }
  } catch (error) {
    // The library throws errors of many kinds on damaged bytes. Those of the file system can be told by their codes.
    const { code } = error as { code?: string }
    if (error instanceof EngineError || request.signal?.aborted || (code && /^E[A-Z]+$/.test(code)))
      throw error
    throw new EngineError(
      'invalid_upload',
      'The Arrow stream is damaged, or compressed with something other than lz4 or zstd.',
      { cause: error },
    )
  }
}

async function rewrite(request: ReadRequest, known: KnownColumns, handle: FileHandle, sink: FileSink) {
  const { signal, onProgress } = request
  const { unpackedBytes } = request.limits
  const { size } = await handle.stat()
  let bytes = 0
  let exactNames = await verifyFile(handle)
  const stream = () =>
    arrowMessages(
      handle,
      (names) => (exactNames = names),
      (done) => (bytes = done),
    )
  const reader = await (exactNames ? RecordBatchReader.from(handle) : RecordBatchReader.from(stream()))
  await reader.open({ autoDestroy: false })
  const { fields } = reader.schema
  rename(fields, exactNames ?? [])
  if (fields.length === 0) throw malformed('The Arrow stream has no columns.')
  const names = fields.map(({ name }) => name)
  const types = fields.map(typeOfArrow)
  const truncate = request.options?.nanoseconds === 'truncate'
  const words = new Map(fields.map(({ name, metadata }) => [name, metadata]))
  const metadata = readMetadata(reader.schema.metadata, words)
  const targets = filledColumns(layColumns(known, names, types), metadata)
  const wanted = fieldsOf(targets)
  const rows = new TypedRows(targets, request.options)
  const columns = names.map((name, index): ArrowColumn => {
    const given = types[index]!
    const type = wanted[index]!.type!
    const isChecked = isTextual(given, type) || (isText(fields[index]!.type) && type === 'json')
    return { name, field: fields[index]!, given, isChecked, kind: kindOfAll(given) }
  })
  for await (const batch of reader) {
    // Where a stream has no batch, the library gives one without rows, in which lists have no items.
    if (batch.numRows === 0) continue
    // Compression and the type null can make many rows of few bytes, but not without end.
    if (batch.numRows > MOST_ROWS + 8 * size) {
      throw malformed(
        `A batch has ${batch.numRows} rows; a file of ${size} bytes may have ${MOST_ROWS + 8 * size}.`,
      )
    }
    checkBatch(batch)
    const writeRow = rowWriter(rows, batch, columns, truncate)
    for (let row = 0; row < batch.numRows; ) {
      signal?.throwIfAborted()
      for (const to = Math.min(row + ROWS_AT_ONCE, batch.numRows); row < to; row++) writeRow(row)
      if (rows.out.length >= BYTES_AT_ONCE) await sink.write(rows.out.take())
      if (sink.written > unpackedBytes) throw unpacksTooLarge(unpackedBytes)
      onProgress?.({ bytes, rows: rows.rows })
    }
  }
  await sink.write(rows.out.take())
  return { rows, metadata: metadata.dataset, reasons: fields.map(({ metadata }) => periodReason(metadata)) }
}

/** Gives fields, and those nested in them, their exact names: the library drops byte order marks. */
function rename(fields: readonly Field[], names: readonly string[]): void {
  const left = names.values()
  const visit = (field: Field) => {
    Object.assign(field, { name: left.next().value ?? field.name })
    for (const child of field.type.children ?? []) visit(child)
  }
  fields.forEach(visit)
}

/** @throws RangeError if the batch has less data than its lengths say */
function checkBatch(batch: RecordBatch): void {
  for (const column of batch.data.children) {
    if (column.length !== batch.numRows) throw new RangeError('Columns of different lengths.')
    checkData(column)
  }
}

/**
 * Checks that the buffers of a column are long enough for its length, so that no value is read beyond their ends. The
 * library trusts the lengths that the message states.
 * @throws RangeError
 */
function checkData(data: Data): void {
  const { type, length, offset, children } = data
  assertValid(Number.isSafeInteger(length) && length >= 0 && offset >= 0)
  const { nullBitmap } = data
  if (nullBitmap && nullBitmap.length > 0) assertValid(nullBitmap.length * 8 >= offset + length)
  if (DataType.isDictionary(type)) {
    assertValid(data.values.length >= length && data.dictionary !== undefined)
    for (const chunk of data.dictionary!.data) checkData(chunk)
  } else if (DataType.isStruct(type)) {
    for (const child of children) assertValid(child.length >= length)
  } else if (DataType.isFixedSizeList(type)) {
    assertValid(children[0]!.length >= length * type.listSize)
  } else if (data.valueOffsets !== undefined && !DataType.isUnion(type)) {
    checkOffsets(data, children[0]?.length ?? data.values.length)
  } else if (DataType.isBool(type)) {
    assertValid(data.values.length * 8 >= offset + length)
  } else if (!DataType.isNull(type) && !DataType.isUnion(type)) {
    assertValid(data.values.length >= length * data.stride)
  }
  for (const child of children) checkData(child)
}

function checkOffsets(data: Data, end: number): void {
  const { length } = data
  if (length === 0) return
  const offsets = data.valueOffsets as ArrayLike<number | bigint>
  assertValid(offsets.length > length)
  let before = 0
  for (let index = 0; index <= length; index++) {
    const offset = Number(offsets[index])
    assertValid(offset >= before)
    before = offset
  }
  assertValid(before <= end)
}

/** A function that writes a row of a batch. */
function rowWriter(
  rows: TypedRows,
  batch: RecordBatch,
  columns: readonly ArrowColumn[],
  truncate: boolean,
): (row: number) => void {
  const readers = batch.data.children.map((data, index) => textReader(columns[index]!.field, data, truncate))
  return (row) => {
    for (let index = 0; index < readers.length; index++) {
      const { name, given, isChecked, kind } = columns[index]!
      try {
        const text = readers[index]!(row)
        if (text === null) rows.null()
        else if (isChecked) rows.value(text, text === '' ? TEXT_KIND.empty : TEXT_KIND.text, true)
        else rows.trusted(text, kind)
      } catch (error) {
        if (!(error instanceof BadValue)) throw error
        throw (error.why ?? (given === 'json' ? outOfRangeInside : outOfRange))(rows.rows + 1, name, given)
      }
    }
    rows.endRow()
  }
}

/** The kind of a type's values, where DuckDB reads them otherwise than any texts of the type. */
function kindOfAll(type: ColumnType): number {
  if (type === 'timestamptz' || type === 'timestamp' || type === 'date') return TEXT_KIND[type]
  return decimalParts(type)?.scale === 0 ? TEXT_KIND.bigInteger : TEXT_KIND.text
}

interface ArrowColumn {
  readonly name: string
  readonly field: Field
  /** Its type by the stream's schema. */
  readonly given: ColumnType
  /** Text that is wanted as another type is checked value by value; all other values are what their type says. */
  readonly isChecked: boolean
  /** The kind of its values, unless they are checked. */
  readonly kind: number
}

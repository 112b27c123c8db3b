import { type FileHandle, open } from 'node:fs/promises'
import { zstdDecompressSync } from 'node:zlib'
import {
  CompressionType,
  compressionRegistry,
  type Field,
  type RecordBatch,
  RecordBatchReader,
} from 'apache-arrow'
import { EngineError } from '../../errors.ts'
import type { Column, ColumnType } from '../../types/index.ts'
import { FileSink } from '../file.ts'
import { unpacksTooLarge } from '../gunzip.ts'
import type { DeclaredColumn, UploadOptions } from '../request.ts'
import { isTextual, knownColumns, layColumns, wantedTypes } from '../targets.ts'
import { KIND } from '../text/text-kinds.ts'
import { type Rewritten, TypedRows } from '../text/typed-rows.ts'
import {
  dayWithTime,
  malformed,
  notUtf8,
  outOfRange,
  outOfRangeInside,
  tooFine,
} from '../text/value-errors.ts'
import type { Hooks } from '../threads/hooks.ts'
import { arrowMessages, verifyFile } from './arrow-messages.ts'
import { checkData } from './check-data.ts'
import { unpackLz4 } from './lz4.ts'
import {
  DayWithTime,
  isText,
  NoSuchValue,
  NotText,
  type ReadingOptions,
  textReader,
  typeOfArrow,
  uuidReader,
} from './read-text.ts'

export interface ArrowTask {
  readonly file: string
  readonly existing?: readonly Column[]
  readonly declared?: readonly DeclaredColumn[]
  readonly unpackedBytes: number
  readonly options?: UploadOptions
  /** Where the csv is to be written. */
  readonly target: string
}

/** The number of rows that are gathered before they are written to the sink. */
const ROWS_AT_ONCE = 4096

/**
 * Rewrites an Arrow stream (or file) as csv, one record batch at a time.
 * @throws EngineError `invalid_upload`, `column_conflict`, `storage_full`
 */
export async function arrowToCsv(task: ArrowTask, hooks: Hooks): Promise<Rewritten> {
  const most = Math.min(task.unpackedBytes, 2 ** 31 - 1)
  compressionRegistry.set(CompressionType.ZSTD, {
    decode: (bytes) => zstdDecompressSync(bytes, { maxOutputLength: most }),
  })
  compressionRegistry.set(CompressionType.LZ4_FRAME, { decode: (bytes) => unpackLz4(bytes, most) })
  const sink = await FileSink.create(task.target)
  const handle = await open(task.file, 'r')
  try {
    return await rewrite(task, handle, sink, hooks)
  } catch (error) {
    // The library throws errors of many kinds on damaged bytes. Those of the file system can be told by their codes.
    const { code } = error as { code?: string }
    if (error instanceof EngineError || hooks.signal?.aborted || (code && /^E[A-Z]+$/.test(code))) throw error
    const unknown = /^Unrecognized type: "(\w+)"/.exec((error as Error).message)
    if (unknown) throw malformed(`The Arrow type ${unknown[1]} is not supported.`)
    throw new EngineError(
      'invalid_upload',
      'The Arrow stream is damaged, or compressed with something other than lz4 or zstd.',
      {
        cause: error,
      },
    )
  } finally {
    await handle.close()
    await sink.close()
  }
}

async function rewrite(
  task: ArrowTask,
  handle: FileHandle,
  sink: FileSink,
  { signal, onProgress }: Hooks,
): Promise<Rewritten> {
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
  const given = fields.map(typeOfArrow)
  const options = { truncate: task.options?.nanoseconds === 'truncate' }
  const known = knownColumns(task.existing, task.declared)
  const names = fields.map(({ name }) => name)
  const types = wantedTypes(
    known,
    given.map((type, index) => ({ name: names[index]!, type })),
  )
  const rows = new TypedRows(layColumns(names, known, types))
  const columns = names.map((name, index) => ({
    name,
    given: given[index]!,
    wanted: types[index]!,
    isText: isText(fields[index]!.type),
  }))
  for await (const batch of reader) {
    // Every column, except one of the type null, has at least one bit for each row.
    if (batch.numRows > 8 * size) throw new RangeError('A batch has more rows than the file has bits.')
    checkBatch(batch)
    for (const piece of pieces(batch)) {
      signal?.throwIfAborted()
      writeRows(rows, batch, piece, columns, options)
      await sink.write(rows.out.take())
      if (sink.written > task.unpackedBytes) throw unpacksTooLarge(task.unpackedBytes)
      onProgress?.({ bytes, rows: rows.rows })
    }
  }
  return rows.result(task.target)
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
    // Where a stream has no batch, the library gives one without rows, in which lists have no items.
    if (batch.numRows > 0) checkData(column)
  }
}

function pieces(batch: RecordBatch): { from: number; to: number }[] {
  return Array.from({ length: Math.ceil(batch.numRows / ROWS_AT_ONCE) }, (_, index) => ({
    from: index * ROWS_AT_ONCE,
    to: Math.min((index + 1) * ROWS_AT_ONCE, batch.numRows),
  }))
}

function writeRows(
  rows: TypedRows,
  batch: RecordBatch,
  { from, to }: { from: number; to: number },
  columns: readonly ArrowColumn[],
  options: ReadingOptions,
): void {
  const readers = batch.data.children.map((data, index) => {
    return columns[index]!.given === 'uuid' ? uuidReader(data) : textReader(data, options)
  })
  // Text that is wanted as another type is checked value by value; all other values are what their type says.
  const checked = columns.map(
    ({ given, wanted, isText }) => isTextual(given, wanted) || (isText && wanted === 'json'),
  )
  for (let row = from; row < to; row++) {
    for (let index = 0; index < readers.length; index++) {
      const { name, given } = columns[index]!
      try {
        const text = readers[index]!(row)
        if (text === null) rows.null()
        else if (checked[index]) rows.value(text, KIND.text, true)
        else rows.trusted(text, given === 'timestamptz' ? KIND.timestamptz : KIND.text)
      } catch (error) {
        const at = rows.rows + 1
        if (error instanceof NotText) throw notUtf8(at, name)
        if (error instanceof DayWithTime) throw dayWithTime(at, name)
        if (!(error instanceof NoSuchValue)) throw error
        if (error.text === undefined) throw tooFine(at, name)
        throw given === 'json' ? outOfRangeInside(at, name) : outOfRange(at, name, given)
      }
    }
    rows.endRow()
  }
}

/** A column of the stream: its type by the stream's schema (`given`), and the one that it is to have (`wanted`). */
interface ArrowColumn {
  readonly name: string
  readonly given: ColumnType
  readonly wanted: ColumnType
  /** Whether the stream stores it as text, which may be declared to be JSON. */
  readonly isText: boolean
}

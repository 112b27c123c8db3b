import { open, rm } from 'node:fs/promises'
import { EngineError } from '../../errors.ts'
import type { FileRange } from '../file.ts'
import type { ReadRequest } from '../request.ts'
import { checkNames } from '../targets.ts'
import { tooSparse } from '../text/blanks.ts'
import { UNIT_SEPARATOR } from '../text/cell-writer.ts'
import type { Rewritten } from '../text/typed-rows.ts'
import { malformed } from '../text/value-errors.ts'
import type { Hooks } from '../threads/hooks.ts'
import type { Workers } from '../threads/workers.ts'
import { columnsOf, type JsonField } from './fields.ts'
import { type JsonCsv, type JsonTask, probeJson } from './task.ts'

/** A piece of a file has at least so many bytes, so that starting a worker for it pays. */
const PIECE_BYTES = 8 << 20
/** More workers would take memory that DuckDB needs. */
const MOST_PIECES = 4
/** How much of a file is read to learn which columns its rows have. */
const PROBED_BYTES = 1 << 20
/** How far a line end is looked for from where a piece would best end. */
const LONGEST_LOOK = 1 << 20
const LF = 0x0a

/**
 * Rewrites JSON as csv. A large ndjson file is rewritten in pieces by several workers at once. If one of them finds an
 * error, or other columns than the others, the file is read again by a single worker that sees all rows in their order:
 * so only one place decides about columns and names the row of an error.
 * @param newFile gives a path for a csv file
 * @throws EngineError as `jsonToCsv` does
 */
export async function rewriteJson(
  workers: Workers,
  request: ReadRequest,
  newFile: () => string,
): Promise<Rewritten> {
  const { file, existing, declared, signal, onProgress } = request
  const task = { file, existing, declared, form: request.format === 'ndjson' ? 'ndjson' : 'json' } as const
  const hooks = { signal, onProgress }
  const pieces = task.form === 'ndjson' ? await inPieces(workers, task, hooks, newFile) : undefined
  return joined(pieces ?? [await workers.run({ kind: 'json-to-csv', ...task, target: newFile() }, hooks)])
}

/** Rewrites a file in pieces; undefined if it is too small, or has to be read by a single worker. */
async function inPieces(
  workers: Workers,
  task: Omit<JsonTask, 'target'>,
  { signal, onProgress }: Hooks,
  newFile: () => string,
): Promise<readonly JsonCsv[] | undefined> {
  const ranges = await rangesOf(task.file, Math.min(MOST_PIECES, workers.atOnce))
  if (ranges.length < 2) return undefined
  const targets = ranges.map(newFile)
  const giveUp = new AbortController()
  const hooks = { signal: signal ? AbortSignal.any([signal, giveUp.signal]) : giveUp.signal }
  const told = progressOfAll(ranges, onProgress)
  const running: Promise<JsonCsv>[] = []
  try {
    const layout = await probeJson(task, PROBED_BYTES)
    for (const [index, range] of ranges.entries()) {
      const piece = { ...task, range, layout, target: targets[index]! }
      running.push(workers.run({ kind: 'json-to-csv', ...piece }, { ...hooks, onProgress: told(index) }))
    }
    const csvs = await Promise.all(running)
    if (fitTogether(csvs)) return csvs
  } catch (error) {
    giveUp.abort()
    // The files may be removed only when nothing writes to them any more.
    await Promise.allSettled(running)
    if (signal?.aborted || !blamesUpload(error)) throw error
  }
  for (const target of targets) await rm(target, { force: true })
  return undefined
}

/** Cuts a file into ranges of about the same size, at most `most`, which begin and end where lines end. */
async function rangesOf(file: string, most: number): Promise<FileRange[]> {
  await using handle = await open(file)
  const { size } = await handle.stat()
  const count = Math.min(most, Math.floor(size / PIECE_BYTES))
  const ranges: FileRange[] = []
  const buffer = Buffer.allocUnsafe(LONGEST_LOOK)
  let from = 0
  for (let piece = 1; piece < count; piece++) {
    const at = Math.max(from, Math.floor((size * piece) / count))
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, at)
    const end = buffer.subarray(0, bytesRead).indexOf(LF)
    if (end < 0) continue
    ranges.push({ from, to: at + end + 1 })
    from = at + end + 1
  }
  return [...ranges, { from, to: size }]
}

/** Gives a callback for the progress of each range; together they tell the progress of the file. */
function progressOfAll(ranges: readonly FileRange[], tell: Hooks['onProgress']) {
  const done = ranges.map(() => ({ bytes: 0, rows: 0 }))
  const sum = (key: 'bytes' | 'rows') => done.reduce((total, piece) => total + piece[key], 0)
  return (index: number): Hooks['onProgress'] =>
    ({ bytes, rows = 0 }) => {
      done[index] = { bytes: bytes - ranges[index]!.from, rows }
      tell?.({ bytes: sum('bytes'), rows: sum('rows') })
    }
}

function blamesUpload(error: unknown): boolean {
  const codes = ['invalid_upload', 'column_conflict', 'upload_too_large']
  return error instanceof EngineError && codes.includes(error.code)
}

/** Whether pieces have the same columns, written in the same way, and are not too sparse as a whole. */
function fitTogether(csvs: readonly JsonCsv[]): boolean {
  const [first] = csvs
  const same = csvs.every(
    ({ fields }) =>
      fields.length === first!.fields.length &&
      fields.every(({ name, nested }, index) => {
        const field = first!.fields[index]!
        return field.name === name && field.nested === nested
      }),
  )
  const cells = (key: 'blank' | 'held') => csvs.reduce((sum, csv) => sum + csv.cells[key], 0)
  return same && !tooSparse(cells('blank'), cells('held'))
}

/** Puts the rows of csv files with the same columns one behind the other, and settles the columns. */
function joined(csvs: readonly JsonCsv[]): Rewritten {
  const rows = csvs.reduce((sum, csv) => sum + csv.rows, 0)
  const fields = csvs[0]!.fields.map((_, index) => csvs.map((csv) => csv.fields[index]!).reduce(added))
  if (fields.length === 0) {
    throw malformed('The upload has no columns: send rows with at least one key, or declare columns.')
  }
  checkNames(fields.map(({ name }) => name))
  return {
    targets: columnsOf(fields).map((column, source) => ({ ...column, source })),
    source: {
      files: csvs.map(({ file }) => file),
      delimiter: String.fromCharCode(UNIT_SEPARATOR),
      newline: 'lf',
      header: false,
      fields: fields.length,
      rows,
      kinds: fields.map(({ scalars, texts }) => scalars | texts),
      nulls: fields.map(({ values }) => rows - values),
      widths: fields.map(({ width }) => width),
      longest: Math.max(...csvs.map(({ longest }) => longest)),
      quotes: csvs.some(({ quotes }) => quotes),
      quotedNewlines: csvs.some(({ quotedNewlines }) => quotedNewlines),
    },
  }
}

function added(one: JsonField, other: JsonField): JsonField {
  return {
    ...one,
    scalars: one.scalars | other.scalars,
    texts: one.texts | other.texts,
    values: one.values + other.values,
    width: one.width + other.width,
  }
}

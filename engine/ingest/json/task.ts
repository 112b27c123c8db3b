import { rm } from 'node:fs/promises'
import { checkColumns } from '../../types/columns.ts'
import type { Column } from '../../types/index.ts'
import { type FileRange, FileSink, feedFile, readStart } from '../file.ts'
import type { DeclaredColumn } from '../request.ts'
import { knownColumns } from '../targets.ts'
import type { CountedCells } from '../text/blanks.ts'
import { malformed } from '../text/value-errors.ts'
import type { Hooks } from '../threads/hooks.ts'
import { JsonDocument } from './document.ts'
import type { JsonField, JsonLayout } from './fields.ts'
import { JsonRows } from './rows.ts'

export interface JsonTask {
  readonly file: string
  readonly form: 'json' | 'ndjson'
  readonly existing?: readonly Column[]
  readonly declared?: readonly DeclaredColumn[]
  /** Where the csv is to be written. */
  readonly target: string
  /** The part of an ndjson file to be read, which begins and ends where lines end. Without it the whole file is read. */
  readonly range?: FileRange
  /** The columns as the beginning of the file has shown them. */
  readonly layout?: JsonLayout
}

/** The csv that JSON rows were rewritten as, and what was learned of the columns. */
export interface JsonCsv {
  readonly file: string
  readonly fields: readonly JsonField[]
  readonly rows: number
  readonly cells: CountedCells
  /** Bytes of the longest record. */
  readonly longest: number
  readonly quotes: boolean
  readonly quotedNewlines: boolean
}

/**
 * Rewrites a JSON upload as csv that DuckDB reads. This usually takes one pass. If a column first turns up in a later
 * row, or the columns are declared behind the rows, the file is read again.
 * @throws EngineError `invalid_upload`, `column_conflict`, `invalid_columns_manifest`, `storage_full`
 */
export async function jsonToCsv(task: JsonTask, hooks: Hooks): Promise<JsonCsv> {
  let declaredBehind: unknown
  let learned = task.layout
  for (;;) {
    let declaredBefore: unknown
    const document = new JsonDocument({
      form: task.form,
      from: task.range?.from,
      rows: (columns) => {
        declaredBefore = columns
        return new JsonRows(learned ?? layoutOf(task, columns ?? declaredBehind))
      },
    })
    await pass(task, document, hooks)
    const rows = document.rows!
    if (document.columns !== undefined && declaredBefore === undefined && declaredBehind === undefined) {
      declaredBehind = document.columns
    } else if (rows.waiting > 0) {
      throw malformed(
        `Row ${rows.waiting} is an array, but nothing says which columns its values belong to: declare "columns", or send objects.`,
        { row: rows.waiting },
      )
    } else if (rows.stale) {
      learned = { ...rows.layout, fields: rows.fields }
    } else {
      return csvOf(rows, task.target)
    }
    await rm(task.target)
  }
}

async function pass(task: JsonTask, document: JsonDocument, { signal, onProgress }: Hooks): Promise<void> {
  const sink = await FileSink.create(task.target)
  try {
    await feedFile(
      task.file,
      task.range ?? { from: 0 },
      async (buffer, end, final) => {
        const used = document.feed(buffer, end, final)
        const written = document.rows?.out.take()
        if (written && !document.rows!.stale) await sink.write(written)
        return used
      },
      signal,
      (bytes) => onProgress?.({ bytes, rows: document.rows?.rows ?? 0 }),
    )
  } finally {
    await sink.close()
  }
}

/**
 * Reads the beginning of a file, which may still arrive, and gives the columns that its rows have; undefined if there
 * are no rows yet.
 * @throws EngineError if the beginning is already wrong
 */
export async function probeJson(
  task: Omit<JsonTask, 'target'>,
  bytes: number,
): Promise<JsonLayout | undefined> {
  const start = await readStart(task.file, bytes)
  const document = new JsonDocument({
    form: task.form,
    rows: (columns) => new JsonRows(layoutOf(task, columns)),
  })
  const buffer = Buffer.concat([start, Buffer.alloc(1)])
  for (let at = 0, used = -1; at < start.length && used !== 0; at += used) {
    used = document.feed(buffer.subarray(at), start.length - at, false)
    document.rows?.out.take()
  }
  const { rows } = document
  return rows && { ...rows.layout, fields: rows.fields }
}

function layoutOf(task: Pick<JsonTask, 'existing' | 'declared'>, columns: unknown): JsonLayout {
  const inDocument = Array.isArray(columns) && columns.length === 0 ? undefined : columns
  if (inDocument !== undefined && task.declared)
    knownColumns(checkColumns(task.declared), checkColumns(inDocument))
  const declared = inDocument === undefined ? task.declared : checkColumns(inDocument)
  const known = knownColumns(task.existing, declared)
  const settled = known.existing ?? known.declared
  if (!settled) return { fields: [], open: true, positions: undefined, owner: 'upload' }
  const fields = settled.map((column) => ({ ...column, nested: column.type === 'json' }))
  const position = new Map(settled.map(({ name }, index) => [name, index]))
  return {
    fields,
    open: false,
    positions: (known.declared ?? settled).map(({ name }) => position.get(name)!),
    owner: known.existing ? 'dataset' : 'upload',
  }
}

function csvOf({ out, fields, rows, cells }: JsonRows, file: string): JsonCsv {
  const { longest, quotes, quotedNewlines } = out
  return { file, fields, rows, cells, longest, quotes, quotedNewlines }
}

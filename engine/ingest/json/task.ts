import { rm } from 'node:fs/promises'
import { checkColumns } from '../../types/columns.ts'
import type { Column } from '../../types/index.ts'
import { FileSink, feedFile, readStart } from '../file.ts'
import type { DeclaredColumn } from '../request.ts'
import { checkNames, knownColumns } from '../targets.ts'
import { UNIT_SEPARATOR } from '../text/cell-writer.ts'
import type { Rewritten } from '../text/typed-rows.ts'
import { malformed } from '../text/value-errors.ts'
import type { Hooks } from '../threads/hooks.ts'
import { JsonDocument } from './document.ts'
import { columnsOf, type JsonLayout } from './fields.ts'
import { JsonRows } from './rows.ts'

export interface JsonTask {
  readonly file: string
  readonly form: 'json' | 'ndjson'
  readonly existing?: readonly Column[]
  readonly declared?: readonly DeclaredColumn[]
  /** Where the csv is to be written. */
  readonly target: string
}

/**
 * Rewrites a JSON upload as csv that DuckDB reads, and settles its columns. This usually takes one pass. If a column
 * first turns up in a later row, or the columns are declared behind the rows, the file is read again.
 * @throws EngineError `invalid_upload`, `column_conflict`, `invalid_columns_manifest`, `storage_full`
 */
export async function jsonToCsv(task: JsonTask, hooks: Hooks): Promise<Rewritten> {
  let declaredBehind: unknown
  let learned: JsonLayout | undefined
  for (;;) {
    let declaredBefore: unknown
    const document = new JsonDocument({
      form: task.form,
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
      return found(rows, task)
    }
    await rm(task.target)
  }
}

async function pass(task: JsonTask, document: JsonDocument, { signal, onProgress }: Hooks): Promise<void> {
  const sink = await FileSink.create(task.target)
  try {
    await feedFile(
      task.file,
      0,
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
 * Checks the beginning of a file that still arrives.
 * @throws EngineError if the beginning is already wrong
 */
export async function probeJson(task: Omit<JsonTask, 'target'>, bytes: number): Promise<void> {
  const start = await readStart(task.file, bytes)
  const document = new JsonDocument({
    form: task.form,
    rows: (columns) => new JsonRows(layoutOf(task, columns)),
  })
  const buffer = Buffer.concat([start, Buffer.alloc(1)])
  for (let at = 0; at < start.length; ) {
    const used = document.feed(buffer.subarray(at), start.length - at, false)
    document.rows?.out.take()
    if (used === 0) return
    at += used
  }
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

function found({ out, fields, rows }: JsonRows, task: JsonTask): Rewritten {
  if (fields.length === 0) {
    throw malformed('The upload has no columns: send rows with at least one key, or declare columns.')
  }
  checkNames(fields.map(({ name }) => name))
  return {
    targets: columnsOf(fields).map((column, source) => ({ ...column, source })),
    source: {
      file: task.target,
      delimiter: String.fromCharCode(UNIT_SEPARATOR),
      header: false,
      fields: fields.length,
      rows,
      kinds: fields.map(({ scalars, texts }) => scalars | texts),
      nulls: fields.map(({ values }) => rows - values),
      widths: fields.map(({ width }) => width),
      longest: out.longest,
      quotes: out.quotes,
      quotedNewlines: out.quotedNewlines,
    },
  }
}

import { rm } from 'node:fs/promises'
import { checkColumns } from '../../types/columns.ts'
import { FileSink, feedFile } from '../file.ts'
import type { ReadRequest } from '../request.ts'
import { checkNames, knownColumns } from '../targets.ts'
import { inferTyped } from '../text/cell-writer.ts'
import type { Rewritten } from '../text/typed-rows.ts'
import { badRow, malformed } from '../text/value-errors.ts'
import { JsonDocument } from './document.ts'
import { type JsonLayout, JsonRows } from './rows.ts'

/**
 * Rewrites a JSON upload as csv that DuckDB reads. This usually takes one pass. If a column first turns up in a later
 * row, or the columns are declared behind the rows, the file is read again.
 * @param target where the csv is to be written
 * @throws EngineError `invalid_upload`, `column_conflict`, `invalid_columns_manifest`, `storage_full`
 */
export async function jsonToCsv(request: ReadRequest, target: string): Promise<Rewritten> {
  let declaredBehind: unknown
  let learned: JsonLayout | undefined
  for (;;) {
    let declaredBefore: unknown
    const document = new JsonDocument({
      form: request.format === 'json' ? 'json' : 'ndjson',
      rows: (columns) => {
        declaredBefore = columns
        return new JsonRows(learned ?? layoutOf(request, columns ?? declaredBehind))
      },
    })
    await pass(request, document, target)
    const rows = document.rows!
    if (document.columns !== undefined && declaredBefore === undefined && declaredBehind === undefined) {
      declaredBehind = document.columns
    } else if (rows.waiting > 0) {
      throw badRow(
        rows.waiting,
        ' is an array, but nothing says which columns its values belong to: declare "columns", or send objects.',
      )
    } else if (rows.stale) {
      learned = { ...rows.layout, fields: rows.fields }
    } else {
      rows.faults.check()
      return rewritten(rows, target)
    }
    await rm(target)
  }
}

async function pass(
  { file, signal, onProgress }: ReadRequest,
  document: JsonDocument,
  target: string,
): Promise<void> {
  const sink = await FileSink.create(target)
  try {
    await feedFile(
      file,
      0,
      async (buffer, end, final) => {
        const used = fed(document, buffer, end, final)
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

function fed(document: JsonDocument, buffer: Buffer, end: number, final: boolean): number {
  try {
    const used = document.feed(buffer, end, final)
    document.rows?.faults.read(used)
    return used
  } catch (error) {
    throw document.rows?.faults.before(error) ?? error
  }
}

function layoutOf({ existing, declared: requested }: ReadRequest, columns: unknown): JsonLayout {
  const inDocument = Array.isArray(columns) && columns.length === 0 ? undefined : columns
  if (inDocument !== undefined && requested) knownColumns(checkColumns(requested), checkColumns(inDocument))
  const declared = inDocument === undefined ? requested : checkColumns(inDocument)
  const known = knownColumns(existing, declared)
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

function rewritten({ out, fields, rows }: JsonRows, file: string): Rewritten {
  if (fields.length === 0) {
    throw malformed('The upload has no columns: send rows with at least one key, or declare columns.')
  }
  checkNames(fields.map(({ name }) => name))
  return {
    targets: fields.map(({ name, type, nullable, description, ...found }, source) => ({
      name,
      type: type ?? inferTyped(found.scalars, found.texts, found.nested),
      nullable,
      description,
      source,
    })),
    source: out.csv(file, {
      rows,
      kinds: fields.map(({ scalars, texts }) => scalars | texts),
      nulls: fields.map(({ values }) => rows - values),
      widths: fields.map(({ width }) => width),
      // JSON says itself what is text.
      reasons: [],
    }),
  }
}

import { type KnownColumns, layColumns, type Target } from './columns.ts'
import { readHeader } from './csv-header.ts'
import { loadCsv } from './csv-load.ts'
import type { FieldPlan } from './csv-scan.ts'
import type { Duck } from './duck.ts'
import type { IngestRequest, IngestResult } from './request.ts'
import { runTask } from './task.ts'
import { TemporaryFile } from './temporary.ts'
import { malformed, quoteValue } from './values.ts'

/**
 * csv and tsv. One pass of ours settles shape and types of the whole file, one of DuckDB's reads typed columns and
 * writes the part.
 */
export async function ingestCsv(
  duck: Duck,
  known: KnownColumns,
  request: IngestRequest,
): Promise<IngestResult> {
  const { file, tempDirectory, signal, onProgress } = request
  const delimiter = request.format === 'tsv' ? '\t' : ','
  const header = await readHeader(file, delimiter.charCodeAt(0))
  if (request.format === 'csv') refuseOtherDelimiters(header.names, known)
  const targets = layColumns(header.names, known)
  const scan = {
    file,
    from: header.end,
    delimiter: delimiter.charCodeAt(0),
    newline: header.newline,
    fields: fieldPlans(header.names, targets),
  }
  const findings = await runTask({ kind: 'scan-csv', ...scan }, { signal, onProgress })
  const source = { ...findings, delimiter, fields: header.names.length }
  if (!findings.mixedNewlines && !header.awkward) {
    return loadCsv(duck, { ...source, file, header: true }, targets, request)
  }
  await using clean = new TemporaryFile(tempDirectory)
  await runTask({ kind: 'clean-csv', ...scan, target: clean.path }, { signal })
  return await loadCsv(duck, { ...source, file: clean.path, header: false }, targets, request)
}

/** What each field of a record has to be, in the order of the header. */
export function fieldPlans(names: readonly string[], targets: readonly Target[]): FieldPlan[] {
  const targetOf = new Map(targets.map((target) => [target.source, target]))
  return names.map((name, index) => {
    const target = targetOf.get(index)!
    return { name, type: target.type, nullable: target.nullable }
  })
}

/** A file with one column whose name holds semicolons was meant to have more, unless somebody knows that column. */
function refuseOtherDelimiters(names: readonly string[], known: KnownColumns): void {
  const [name] = names
  if (names.length !== 1 || !/[;\t|]/.test(name!)) return
  if ([...(known.existing ?? []), ...(known.declared ?? [])].some((column) => column.name === name)) return
  const found = /[;\t|]/.exec(name!)![0]
  throw malformed(
    `The header ${quoteValue(name!)} has no comma but ${quoteValue(found)}: fields of csv are separated by commas` +
      (found === '\t' ? '; upload tabs as tab-separated values.' : '.'),
  )
}

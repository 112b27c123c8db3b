import type { Duck } from '../../duckdb/duck.ts'
import { TemporaryFile } from '../../util/whole-file.ts'
import { loadCsv } from '../csv/ingest.ts'
import type { IngestResult, ReadRequest } from '../request.ts'
import type { Rewritten } from './typed-rows.ts'

/**
 * Reads JSON, ndjson, Arrow and xlsx. It rewrites them as csv, which keeps every digit and takes hardly any memory, and
 * then has DuckDB read that. The rewriting also settles the columns and their types.
 */
export async function ingestRewritten(duck: Duck, request: ReadRequest): Promise<IngestResult> {
  await using csv = new TemporaryFile(request.tempDirectory)
  const { targets, source, sheets, metadata } = await rewrite(request, csv.path)
  return { ...(await loadCsv(duck, source, targets, request)), sheets, metadata }
}

/** The code of a format is loaded when it is first needed: ndjson does not need the Arrow library. */
async function rewrite(request: ReadRequest, target: string): Promise<Rewritten> {
  switch (request.format) {
    case 'xlsx':
      return (await import('../xlsx/to-csv.ts')).xlsxToCsv(request, target)
    case 'arrow':
      return (await import('../arrow/to-csv.ts')).arrowToCsv(request, target)
    default:
      return (await import('../json/to-csv.ts')).jsonToCsv(request, target)
  }
}

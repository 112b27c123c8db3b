import { loadCsv } from './csv-load.ts'
import type { Duck } from './duck.ts'
import type { IngestRequest, IngestResult } from './request.ts'
import { runTask } from './task.ts'
import { TemporaryFile } from './temporary.ts'

/** JSON documents and ndjson: rewritten as csv, which keeps every digit, then read as that. */
export async function ingestJson(duck: Duck, request: IngestRequest): Promise<IngestResult> {
  const { file, format, existing, declared, signal, onProgress, tempDirectory } = request
  await using csv = new TemporaryFile(tempDirectory)
  const form = format === 'ndjson' ? 'ndjson' : 'json'
  const { targets, source } = await runTask(
    { kind: 'json-to-csv', file, form, existing, declared, target: csv.path },
    { signal, onProgress },
  )
  return await loadCsv(duck, source, targets, request)
}

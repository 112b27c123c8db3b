import { TemporaryFiles } from '../../util/temporary.ts'
import { loadCsv } from '../csv/load.ts'
import { rewriteJson } from '../json/pieces.ts'
import type { IngestResult, ReadRequest } from '../request.ts'
import type { Tools } from '../tools.ts'

/**
 * Reads JSON, ndjson, Arrow and xlsx. It rewrites them as csv, which keeps every digit and takes hardly any memory, and
 * then has DuckDB read that. The rewriting also settles the columns and their types.
 */
export async function ingestRewritten({ duck, workers }: Tools, request: ReadRequest): Promise<IngestResult> {
  const { options, file, existing, declared, signal, onProgress, tempDirectory, limits } = request
  await using csv = new TemporaryFiles(tempDirectory)
  const task = { file, existing, declared, options, unpackedBytes: limits.unpackedBytes }
  const hooks = { signal, onProgress }
  const rewrite = () => {
    switch (request.format) {
      case 'xlsx':
        return workers.run({ kind: 'xlsx-to-csv', ...task, target: csv.next() }, hooks)
      case 'arrow':
        return workers.run({ kind: 'arrow-to-csv', ...task, target: csv.next() }, hooks)
      default:
        return rewriteJson(workers, request, () => csv.next())
    }
  }
  const { targets, source } = await rewrite()
  return await loadCsv(duck, source, targets, request)
}

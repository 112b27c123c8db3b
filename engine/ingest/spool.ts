import { open, rm } from 'node:fs/promises'
import { EngineError } from '../errors.ts'
import { cancelled } from '../run/errors.ts'
import { storageFull, writeAll } from './file.ts'
import type { UploadFormat } from './request.ts'

/**
 * Streams an upload's body to a file that does not exist yet; it is removed again if that fails.
 * @throws EngineError `upload_too_large`, `storage_full`, `cancelled`
 */
export async function spool(
  body: AsyncIterable<Uint8Array>,
  file: string,
  limits: { readonly bytes: number },
  signal?: AbortSignal,
): Promise<{ bytes: number }> {
  const handle = await open(file, 'wx', 0o600).catch((error: unknown) => {
    throw storageFull(error)
  })
  let bytes = 0
  try {
    for await (const chunk of body) {
      if (signal?.aborted) throw cancelled(signal)
      bytes += chunk.length
      if (bytes > limits.bytes) throw tooLarge(limits.bytes)
      await writeAll(handle, chunk)
    }
    if (signal?.aborted) throw cancelled(signal)
    await handle.close()
    return { bytes }
  } catch (error) {
    await handle.close().catch(() => {})
    await rm(file, { force: true })
    throw signal?.aborted && !(error instanceof EngineError) ? cancelled(signal) : error
  }
}

function tooLarge(limit: number): EngineError {
  return new EngineError('upload_too_large', `The upload is larger than ${limit} bytes.`, {
    details: { limit },
  })
}

const FORMAT_OF_ENDING: Readonly<Record<string, UploadFormat>> = {
  csv: 'csv',
  tsv: 'tsv',
  tab: 'tsv',
  json: 'json',
  ndjson: 'ndjson',
  jsonl: 'ndjson',
  parquet: 'parquet',
  arrow: 'arrow',
  arrows: 'arrow',
  xlsx: 'xlsx',
}
const TEXT_FORMS: ReadonlySet<UploadFormat> = new Set(['csv', 'tsv', 'json', 'ndjson'])

/** The format that a file's name promises; gzip around the text forms alone. */
export function uploadFormatOf(fileName: string): { format: UploadFormat; gzip: boolean } | undefined {
  const match = /\.([^./\\]+?)(\.gz)?$/i.exec(fileName)
  const format = match && FORMAT_OF_ENDING[match[1]!.toLowerCase()]
  const gzip = match?.[2] !== undefined
  return format && (!gzip || TEXT_FORMS.has(format)) ? { format, gzip } : undefined
}

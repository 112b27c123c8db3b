import { createReadStream } from 'node:fs'
import { createGunzip } from 'node:zlib'
import { cancelled } from '../duckdb/errors.ts'
import { EngineError } from '../errors.ts'
import { FileSink } from './file.ts'
import type { ReadRequest } from './request.ts'
import { malformed } from './text/value-errors.ts'

/**
 * Unpacks a gzip file into the new file `target`, and stops where it unpacks to more than the limit.
 * @throws EngineError `upload_too_large`, `invalid_upload`, `storage_full`, `cancelled`
 */
export async function gunzip(
  file: string,
  target: string,
  {
    limits,
    signal,
    onProgress,
    onWritten,
  }: Pick<ReadRequest, 'limits' | 'signal' | 'onProgress'> & { onWritten?: (bytes: number) => void },
): Promise<void> {
  const sink = await FileSink.create(target)
  const packed = createReadStream(file)
  const unpacked = createGunzip({ chunkSize: 256 * 1024 })
  packed.on('error', (error) => unpacked.destroy(error))
  let bytes = 0
  try {
    for await (const chunk of packed.pipe(unpacked) as AsyncIterable<Buffer>) {
      if (signal?.aborted) throw cancelled(signal)
      bytes += chunk.length
      if (bytes > limits.unpackedBytes) throw unpacksTooLarge(limits.unpackedBytes)
      await sink.write(chunk)
      onWritten?.(bytes)
      onProgress?.({ bytes: packed.bytesRead })
    }
  } catch (error) {
    const { code } = error as { code?: string }
    if (code?.startsWith('Z_') || code === 'ERR_STREAM_PREMATURE_CLOSE') {
      throw malformed('The gzip data are damaged or cut off.')
    }
    throw error
  } finally {
    packed.destroy()
    await sink.close()
  }
}

export function unpacksTooLarge(limit: number): EngineError {
  return new EngineError('upload_too_large', `The upload unpacks to more than ${limit} bytes.`, {
    details: { limit },
  })
}

import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { createGunzip } from 'node:zlib'
import { cancelled } from '../duckdb/errors.ts'
import { EngineError } from '../errors.ts'
import { TemporaryFile } from '../util/temporary.ts'
import { FileSink } from './file.ts'
import type { IngestResult, ReadRequest } from './request.ts'
import { malformed } from './text/value-errors.ts'

/** Unpacks a gzip file and reads it. */
export async function readPacked(
  request: ReadRequest,
  read: (request: ReadRequest) => Promise<IngestResult>,
): Promise<IngestResult> {
  await using unpacked = new TemporaryFile(request.tempDirectory)
  await gunzip(request.file, unpacked.path, request)
  // From here on the unpacked file is read, whose bytes are not those of the upload: report all of the upload as read.
  const { size } = await stat(request.file)
  const onProgress = ({ rows }: { rows?: number }) => request.onProgress?.({ bytes: size, rows })
  return await read({ ...request, file: unpacked.path, onProgress })
}

/**
 * Unpacks a gzip file into the new file `target`, and stops where it unpacks to more than the limit.
 * @throws EngineError `upload_too_large`, `invalid_upload`, `storage_full`, `cancelled`
 */
async function gunzip(
  file: string,
  target: string,
  { limits, signal, onProgress }: Pick<ReadRequest, 'limits' | 'signal' | 'onProgress'>,
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

import { open, rm } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { isUint8Array } from 'node:util/types'
import { cancelled } from '../duckdb/errors.ts'
import { EngineError, invalidOption, storageError } from '../errors.ts'
import { orAborted } from '../util/in-flight.ts'

/** The options of `spool`. */
export interface SpoolOptions {
  /** The most bytes that the body may have. */
  readonly bytes: number
  /** The error for one that has more. */
  readonly tooLarge?: (limit: number) => EngineError
  readonly signal?: AbortSignal | undefined
}

/**
 * Streams an upload's body to a file that does not exist yet. The file is removed again if this fails.
 * @throws EngineError `upload_too_large`, `storage_full`, `cancelled`; `invalid_option` if the body gives no bytes
 */
export async function spool(
  body: AsyncIterable<Uint8Array>,
  file: string,
  { bytes: most, tooLarge = isTooLarge, signal }: SpoolOptions,
): Promise<{ bytes: number }> {
  const handle = await open(file, 'wx', 0o600).catch((error: unknown) => {
    throw storageError(error)
  })
  let bytes = 0
  async function* counted() {
    for await (const chunk of body) {
      if (!isUint8Array(chunk)) throw notBytes(chunk)
      bytes += chunk.length
      if (bytes > most) throw tooLarge(most)
      yield chunk
    }
  }
  try {
    // While one write is under way, the small chunks that sockets give are gathered for the next one.
    const written = pipeline(counted, handle.createWriteStream({ highWaterMark: GATHERED }), { signal })
    await orAborted(written, signal, () => cancelled(signal))
    return { bytes }
  } catch (error) {
    await rm(file, { force: true })
    throw signal?.aborted && !(error instanceof EngineError) ? cancelled(signal) : storageError(error)
  }
}

const GATHERED = 1 << 20

function notBytes(chunk: unknown): EngineError {
  return invalidOption(
    `body must give bytes (Uint8Array), but gives a ${typeof chunk}. A stream that has an encoding gives text: leave it out.`,
  )
}

function isTooLarge(limit: number): EngineError {
  return new EngineError('upload_too_large', `The upload is larger than ${limit} bytes.`, {
    details: { limit },
  })
}

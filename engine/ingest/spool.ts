import { addAbortListener } from 'node:events'
import { type FileHandle, open, rm } from 'node:fs/promises'
import { isUint8Array } from 'node:util/types'
import { cancelled } from '../duckdb/errors.ts'
import { EngineError } from '../errors.ts'
import { storageError } from '../util/storage-errors.ts'
import { writeAll } from './file.ts'
import type { UploadFormat } from './request.ts'

/** The options of `spool`. */
export interface SpoolOptions {
  /** The most bytes that the body may have. */
  readonly bytes: number
  readonly signal?: AbortSignal
  /** Is called with the number of bytes of the file that can be read by now. */
  readonly onWritten?: (bytes: number) => void
}

/**
 * Streams an upload's body to a file that does not exist yet. The file is removed again if this fails.
 * @throws EngineError `upload_too_large`, `storage_full`, `cancelled`; `invalid_option` if the body gives no bytes
 */
export async function spool(
  body: AsyncIterable<Uint8Array>,
  file: string,
  { bytes: most, signal, onWritten }: SpoolOptions,
): Promise<{ bytes: number }> {
  const handle = await open(file, 'wx', 0o600).catch((error: unknown) => {
    throw storageError(error)
  })
  let bytes = 0
  const sink = new GatheringSink(handle, onWritten)
  const gather = async () => {
    for await (const chunk of body) {
      if (signal?.aborted) throw cancelled(signal)
      if (!isUint8Array(chunk)) throw notBytes(chunk)
      bytes += chunk.length
      if (bytes > most) throw tooLarge(most)
      await sink.write(chunk)
    }
    if (signal?.aborted) throw cancelled(signal)
    await sink.end()
  }
  try {
    await (signal ? orAborted(gather(), signal) : gather())
    await handle.close()
    return { bytes }
  } catch (error) {
    await sink.settled()
    await handle.close().catch(() => {})
    await rm(file, { force: true })
    throw signal?.aborted && !(error instanceof EngineError) ? cancelled(signal) : error
  }
}

/** Settles with the work, but rejects at once when the signal aborts, even if the client sends nothing for a while. */
async function orAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  const aborted = Promise.withResolvers<never>()
  using _ = addAbortListener(signal, () => aborted.reject(cancelled(signal)))
  await Promise.race([work, aborted.promise])
}

const GATHERED = 1 << 20

/** Gathers the small chunks that sockets give into large ones. A large one is written while the next is gathered. */
class GatheringSink {
  readonly #handle: FileHandle
  #gathering: Buffer = Buffer.allocUnsafe(GATHERED)
  #written: Buffer | undefined
  #length = 0
  #writing = Promise.resolve()
  #done = 0
  readonly #onWritten: ((bytes: number) => void) | undefined

  constructor(handle: FileHandle, onWritten: ((bytes: number) => void) | undefined) {
    this.#handle = handle
    this.#onWritten = onWritten
  }

  /** @throws EngineError `storage_full`, perhaps because an earlier write failed */
  async write(chunk: Uint8Array): Promise<void> {
    for (let at = 0; at < chunk.length; ) {
      const part = chunk.subarray(at, at + GATHERED - this.#length)
      this.#gathering.set(part, this.#length)
      this.#length += part.length
      at += part.length
      if (this.#length === GATHERED) await this.#turn()
    }
  }

  async end(): Promise<void> {
    await this.#turn()
    await this.#writing
  }

  /** Resolves when nothing is being written any more, also if the last write failed. */
  settled(): Promise<void> {
    return this.#writing.catch(() => {})
  }

  async #turn(): Promise<void> {
    await this.#writing
    const full = this.#gathering
    const bytes = full.subarray(0, this.#length)
    this.#writing = writeAll(this.#handle, bytes).then(() => {
      this.#done += bytes.length
      this.#onWritten?.(this.#done)
    })
    // The next call of `write` or `end` awaits `#writing` and throws its error. Until then, this empty handler keeps
    // Node from ending the process because of an unhandled rejection.
    this.#writing.catch(() => {})
    this.#gathering = this.#written ?? Buffer.allocUnsafe(GATHERED)
    this.#written = full
    this.#length = 0
  }
}

function notBytes(chunk: unknown): EngineError {
  return new EngineError(
    'invalid_option',
    `body must give bytes (Uint8Array), but gives a ${typeof chunk}. A stream that has an encoding gives text: leave it out.`,
  )
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
  feather: 'arrow',
  ipc: 'arrow',
  xlsx: 'xlsx',
}
const TEXT_FORMS: ReadonlySet<UploadFormat> = new Set(['csv', 'tsv', 'json', 'ndjson'])

/** The format that a file's name stands for. The ending `.gz` is known only behind those of the text formats. */
export function uploadFormatOf(fileName: string): { format: UploadFormat; gzip: boolean } | undefined {
  const match = /\.([^./\\]+?)(\.gz)?$/i.exec(fileName)
  if (!match) return undefined
  const ending = match[1]!.toLowerCase()
  const format = Object.hasOwn(FORMAT_OF_ENDING, ending) ? FORMAT_OF_ENDING[ending] : undefined
  const gzip = match[2] !== undefined
  return format && (!gzip || TEXT_FORMS.has(format)) ? { format, gzip } : undefined
}

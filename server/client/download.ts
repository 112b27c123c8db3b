import { ParquetryError } from './errors.ts'

/**
 * The body of a download. Iterate over its chunks once, or take it whole; leaving the loop ends the request. If the
 * connection breaks, reading throws `interrupted`, so that an incomplete file is never taken for a complete one.
 */
export class Download implements AsyncIterable<Uint8Array> {
  /** How many rows match the filter, before `top` and `last`. Known only if one of them was given. */
  readonly rowCount: number | undefined
  /** Pass it as `ifNoneMatch` to download only if something has changed. */
  readonly etag: string | undefined
  readonly contentType: string
  /** False if nothing has changed since `ifNoneMatch`; then the body is empty. */
  readonly modified: boolean
  readonly #response: Response
  readonly #signal: AbortSignal | undefined

  constructor(response: Response, signal: AbortSignal | undefined) {
    const { headers } = response
    const rowCount = headers.get('row-count')
    this.rowCount = rowCount === null ? undefined : Number(rowCount)
    this.etag = headers.get('etag') ?? undefined
    this.contentType = headers.get('content-type') ?? ''
    this.modified = response.status !== 304
    this.#response = response
    this.#signal = signal
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    // Not every browser can iterate over a stream itself.
    const reader = this.#response.body?.getReader()
    if (!reader) return
    try {
      for (;;) {
        const { done, value } = await reader.read().catch((error) => this.#broken(error))
        if (done) return
        yield value
      }
    } finally {
      await reader.cancel().catch(() => {})
    }
  }

  /** The whole body as text. */
  async text(): Promise<string> {
    return await this.#response.text().catch((error) => this.#broken(error))
  }

  /** The whole body. */
  async arrayBuffer(): Promise<ArrayBuffer> {
    return await this.#response.arrayBuffer().catch((error) => this.#broken(error))
  }

  /** Ends the request without reading the rest. */
  async cancel(): Promise<void> {
    await this.#response.body?.cancel()
  }

  #broken(cause: unknown): never {
    this.#signal?.throwIfAborted()
    throw new ParquetryError('The download ended in the middle.', { status: 0, code: 'interrupted', cause })
  }
}

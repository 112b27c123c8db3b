import { ParquetryError } from './errors.ts'

/**
 * Rows in a format, as they come. Iterate the bytes once, or take them whole; leaving the loop ends the request. A
 * download that ends before its time throws `interrupted`: half a file never passes for a whole one.
 */
export class Download implements AsyncIterable<Uint8Array> {
  /** How many rows match the filter, before `top` and `last`. Said only where one of those was asked for. */
  readonly rowCount: number | undefined
  /** For `ifNoneMatch` the next time. */
  readonly etag: string | undefined
  readonly contentType: string
  /** False when nothing has changed since `ifNoneMatch`; then there are no bytes. */
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
    // By its reader: not every browser's streams can be iterated.
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

  /** All of it as text. */
  async text(): Promise<string> {
    return await this.#response.text().catch((error) => this.#broken(error))
  }

  /** All of it. */
  async arrayBuffer(): Promise<ArrayBuffer> {
    return await this.#response.arrayBuffer().catch((error) => this.#broken(error))
  }

  /** Ends the request without reading what is left of it. */
  async cancel(): Promise<void> {
    await this.#response.body?.cancel()
  }

  #broken(cause: unknown): never {
    this.#signal?.throwIfAborted()
    throw new ParquetryError('The download ended in the middle.', { status: 0, code: 'interrupted', cause })
  }
}

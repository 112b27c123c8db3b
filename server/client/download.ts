import { ParquetryError } from './errors.ts'

/** A URL that downloads one export without an API key. */
export interface Link {
  readonly id: number
  readonly url: URL
  /** ISO 8601. */
  readonly expiresAt: string
}

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

/** Yields the values of a stream of JSON lines while it arrives. */
export async function* jsonLines<Value>(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<Value, void, undefined> {
  for await (const line of linesOf(chunks)) yield parse(line) as Value
}

/** Yields the lines of a text while it arrives. */
async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop()!
    yield* lines
  }
  rest += decoder.decode()
  if (rest !== '') yield rest
}

/** Yields the rows of server-sent events up to each id, while they arrive. Ends with the event `end`. */
export async function* eventsOf<Row>(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<{ readonly next: number; readonly rows: Row[] }, void, undefined> {
  let next: number | undefined
  let rows: Row[] = []
  for await (const line of linesOf(chunks)) {
    if (line.startsWith('data: ')) rows.push(parse(line.slice(6)) as Row)
    else if (line.startsWith('id: ')) next = Number(line.slice(4))
    else if (line === 'event: end') return
    else if (line === '' && next !== undefined) {
      yield { next, rows }
      next = undefined
      rows = []
    }
  }
}

/** A number that a double can't hold exactly has at least sixteen digits. */
const LONG_NUMBER = /\d[\d.]{15}/

function parse(line: string): unknown {
  return LONG_NUMBER.test(line) ? JSON.parse(line, exactNumber) : JSON.parse(line)
}

/**
 * Revives numbers that a double can't hold exactly: integers as bigint, others as text. `context.source` exists in
 * engines since 2023 (ES2026).
 */
function exactNumber(_key: string, value: unknown, context?: { source?: string }): unknown {
  const source = context?.source
  if (typeof value !== 'number' || source === undefined) return value
  if (/^-?\d+$/.test(source)) return Number.isSafeInteger(value) ? value : BigInt(source)
  return significant(source) === significant(String(value)) ? value : source
}

/** The digits of a number from the first to the last that is not 0. */
function significant(number: string): string {
  return number.replace(/[eE].*|\D/g, '').replace(/^0+|0+$/g, '')
}

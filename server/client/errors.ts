/**
 * What went wrong with a request. `message` is the server's sentence. An aborted signal is not one of these: as with
 * `fetch`, the call rejects with the signal's reason.
 */
export class ParquetryError extends Error {
  override readonly name = 'ParquetryError'
  /** The HTTP status; 0 when there was no whole answer. */
  readonly status: number
  /**
   * The server's stable code, as `name_taken`. Of our own making are `unreachable` (no answer), `interrupted` (the
   * answer ended in the middle), `not_understood` (the answer is not what this server sends) and `http_502` and the
   * like (an answer of something between us and the server, which has no code).
   */
  readonly code: string
  /** Seconds after which a new attempt makes sense, where the server said so. */
  readonly retryAfter: number | undefined

  constructor(
    message: string,
    fields: { status: number; code: string; retryAfter?: number | undefined; cause?: unknown },
  ) {
    super(message, fields.cause === undefined ? undefined : { cause: fields.cause })
    this.status = fields.status
    this.code = fields.code
    this.retryAfter = fields.retryAfter
  }
}

/** The error that an answer outside 200-299 stands for. Reads its body. */
export async function errorOf(response: Response): Promise<ParquetryError> {
  const text = await response.text().catch(() => '')
  const { error, code } = parsed(text)
  const { status } = response
  // 401 and 500 may come with plain text or nothing (platform-api.md, Errors).
  const plain = /^text\/plain\b/i.test(response.headers.get('content-type') ?? '') ? text.trim() : ''
  // Browsers don't say where a redirect leads. None is followed: it would make a GET of a POST.
  const said = status === 0 ? 'with a redirect' : `${status} ${response.statusText}`.trim()
  return new ParquetryError(error ?? (plain || `The server answered ${said}.`), {
    status,
    code: code ?? `http_${status}`,
    retryAfter: retryAfter(response.headers.get('retry-after')),
  })
}

function parsed(text: string): { error?: string; code?: string } {
  try {
    const body: unknown = JSON.parse(text)
    if (typeof body !== 'object' || body === null) return {}
    const { error, code } = body as Record<string, unknown>
    return {
      ...(typeof error === 'string' && { error }),
      ...(typeof code === 'string' && { code }),
    }
  } catch {
    return {}
  }
}

/** Seconds of a `Retry-After`, which is a number of them or a date (RFC 9110, 10.2.3). */
export function retryAfter(header: string | null, now = Date.now()): number | undefined {
  if (header === null) return undefined
  if (/^\s*\d+\s*$/.test(header)) return Number(header)
  const date = Date.parse(header)
  return Number.isNaN(date) ? undefined : Math.max(0, Math.ceil((date - now) / 1000))
}

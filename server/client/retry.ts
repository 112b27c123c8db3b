import type { ParquetryError } from './errors.ts'

export interface RetryOptions {
  /** How often a request is sent at most, the first time included. 1 turns retries off. Default 4. */
  readonly attempts?: number
  /**
   * The longest pause between two attempts, in seconds. Where the server asks for a longer one the error is thrown at
   * once, with `retryAfter`. Default 60.
   */
  readonly longestPause?: number
}

/** A request, as far as it says whether it may be sent again. */
interface Sent {
  readonly method?: string
  readonly body?: unknown
}

const FIRST_PAUSE = 0.25

/** Refused at the door: the server says that it did not begin with the request. */
const REFUSED = new Set(['busy', 'overloaded', 'shutting_down'])

/**
 * How many seconds to wait before the next attempt; undefined when there must be none.
 *
 * Requests that may be repeated (RFC 9110, 9.2.2) are sent again after 503, 429 and when no answer came. A POST is sent
 * again only when the server has said that it did not begin with it: a row must not be appended twice. A stream can't
 * be read again.
 */
export function retryDelay(
  error: ParquetryError,
  attempt: number,
  request: Sent,
  { attempts = 4, longestPause = 60 }: RetryOptions,
): number | undefined {
  if (attempt >= attempts || !repeatable(error, request)) return undefined
  if (error.retryAfter !== undefined && error.retryAfter > longestPause) return undefined
  const backoff = Math.min(FIRST_PAUSE * 2 ** (attempt - 1), longestPause)
  // Jitter, so that those who were turned away together don't come back together.
  return (error.retryAfter ?? backoff / 2) + (Math.random() * backoff) / 2
}

function repeatable(error: ParquetryError, { method, body }: Sent): boolean {
  if (body instanceof ReadableStream) return false
  if (method === 'POST') return error.status === 429 || (error.status === 503 && REFUSED.has(error.code))
  return error.status === 503 || error.status === 429 || error.code === 'unreachable'
}

/** Waits. @throws the signal's reason when it is aborted */
export function pause(seconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted()
    const abort = () => {
      clearTimeout(timer)
      reject(signal!.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort)
      resolve()
    }, seconds * 1000)
    signal?.addEventListener('abort', abort, { once: true })
  })
}

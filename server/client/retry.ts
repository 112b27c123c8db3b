import type { ParquetryError } from './errors.ts'

export interface RetryOptions {
  /** The maximum number of attempts, including the first. 1 turns retries off. Default 4. */
  readonly attempts?: number
  /**
   * The longest pause between two attempts, in seconds. If the server asks for a longer one, the error is thrown at
   * once, with `retryAfter`. Default 60.
   */
  readonly longestPause?: number
}

/** The parts of a request that decide whether it may be sent again. */
interface Sent {
  readonly method?: string
  readonly body?: unknown
}

const FIRST_PAUSE = 0.25

/** Error codes with which the server says that it did not begin with the request. */
const REFUSED = new Set(['busy', 'overloaded', 'shutting_down'])

/**
 * How many seconds to wait before the next attempt; undefined if there must be none.
 *
 * Idempotent requests (RFC 9110, 9.2.2) are sent again after 429, after 503 and when there was no answer. A POST or
 * PATCH is sent again only if the server has said that it did not begin with it, because a repeated append would
 * duplicate rows.
 * Streams can't be read a second time, so they are never sent again.
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
  // Jitter, so that clients that were refused at the same time don't all return at the same time.
  return (error.retryAfter ?? backoff / 2) + (Math.random() * backoff) / 2
}

function repeatable(error: ParquetryError, { method, body }: Sent): boolean {
  if (body instanceof ReadableStream) return false
  if (method === 'POST' || method === 'PATCH')
    return error.status === 429 || (error.status === 503 && REFUSED.has(error.code))
  return error.status === 503 || error.status === 429 || error.code === 'unreachable'
}

/** Waits. Rejects with the signal's reason if it is aborted. */
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

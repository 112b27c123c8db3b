import { setTimeout as wait } from 'node:timers/promises'
import type { S3ClientConfig } from '@aws-sdk/client-s3'

/** How often work is tried in all. */
const ATTEMPTS = 6
/** The pause before the second attempt; each later pause is twice as long. */
const FIRST_PAUSE_MS = 100

/**
 * Tries work again, after growing pauses, when it fails in a way that may pass. The length of each pause is partly
 * random, so that callers that failed together do not all try again at the same moment.
 */
export async function persistently<T>(
  work: () => Promise<T>,
  mayPass: (error: unknown) => boolean,
  signal?: AbortSignal,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (attempt === ATTEMPTS || signal?.aborted || !mayPass(error)) throw error
    }
    await wait(pauseAfter(attempt), undefined, { signal })
  }
}

function pauseAfter(attempt: number): number {
  return FIRST_PAUSE_MS * 2 ** (attempt - 1) * (0.5 + Math.random())
}

type RetryStrategy = Exclude<
  Extract<S3ClientConfig['retryStrategy'], { recordSuccess(token: never): void }>,
  undefined
>
type RetryToken = Awaited<ReturnType<RetryStrategy['acquireInitialRetryToken']>>

/**
 * Lets the SDK try again in the same way. Its own strategies have a budget of retries, which a store uses up that answers
 * three requests in ten with 500 or 503: then a third of the small appends failed. Its adaptive one also slows down to a
 * request every two seconds.
 */
export const RETRIES: RetryStrategy = {
  acquireInitialRetryToken: async () => token(0, 0),
  refreshRetryTokenForRetry: async (before, { errorType }) => {
    const retries = before.getRetryCount() + 1
    // The SDK then throws the error of the request.
    if (errorType === 'CLIENT_ERROR' || retries === ATTEMPTS) throw new Error('no more attempts')
    return token(retries, pauseAfter(retries))
  },
  recordSuccess() {},
}

function token(retries: number, pause: number): RetryToken {
  return { getRetryCount: () => retries, getRetryDelay: () => pause }
}

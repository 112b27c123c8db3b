import { setTimeout as wait } from 'node:timers/promises'

/** How often work is tried in all. */
const ATTEMPTS = 4
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
    await wait(FIRST_PAUSE_MS * 2 ** (attempt - 1) * (0.5 + Math.random()), undefined, { signal })
  }
}

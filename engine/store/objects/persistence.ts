import { setTimeout as wait } from 'node:timers/promises'

/** How often something is tried in all. */
const ATTEMPTS = 4
/** Before the second attempt; twice as long before each later one. */
const FIRST_PAUSE_MS = 100

/**
 * Tries again, after pauses that grow, what fails in a way that may pass. Each pause is longer or shorter by chance, so
 * that those whom one failure has hit do not all come back in the same moment.
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

import { setTimeout as wait } from 'node:timers/promises'
import type { CheckOptions } from '../../engine-options.ts'
import { EngineError } from '../../errors.ts'
import type { WorkContext } from '../commits.ts'

export const CHECKS: CheckOptions = { bytesPerSecond: 8 * 2 ** 20, everyDays: 7 }

/** How long to wait after all due parts were checked, before looking for due parts again. */
const PAUSE_MS = 30_000
const DAY_MS = 86_400_000

/**
 * Checks parts in the background, one after the other, and begins with those that were never checked. Gives what ends it,
 * which resolves when nothing is read any more.
 */
export function startChecks(context: WorkContext, options: CheckOptions): () => Promise<void> {
  const stop = new AbortController()
  const running = run(context, options, stop.signal)
  return () => {
    stop.abort()
    return running
  }
}

async function run(context: WorkContext, options: CheckOptions, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      await checkDue(context, options, signal)
    } catch (cause) {
      if (signal.aborted) return
      context.events.tell('check_failed', 'Stored rows could not be checked; tried again later.', { cause })
    }
    await wait(PAUSE_MS, undefined, { signal, ref: false }).catch(() => {})
  }
}

/** Checks the parts that are due. */
async function checkDue(
  { parts, integrity }: WorkContext,
  { bytesPerSecond, everyDays }: CheckOptions,
  signal: AbortSignal,
): Promise<void> {
  const before = new Date(Date.now() - everyDays * DAY_MS).toISOString()
  let last: number | undefined
  for (;;) {
    const part = await parts.toCheck(before)
    // The same part again means that its check could not be recorded, for example on a full disk. Try again later.
    if (!part || part.id === last) return
    last = part.id
    try {
      await integrity.check(part, { signal, bytesPerSecond })
    } catch (error) {
      // The part was removed meanwhile, because no version needs it any more.
      if ((error as NodeJS.ErrnoException).code === 'ENOENT' && !(await parts.find(part.id))) continue
      if (error instanceof EngineError) throw error
      throw new Error(`part ${part.id} could not be read`, { cause: error })
    }
  }
}

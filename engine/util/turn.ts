import { setImmediate } from 'node:timers/promises'

/** If others take longer than this in one turn of the event loop, they are likely to have more to do. */
const BUSY_MS = 0.1
const MOST_TURNS = 20

/** Lets others go on that have something to do in this thread. Long work calls it every millisecond or so. */
export async function turn(): Promise<void> {
  for (let turns = 0; turns < MOST_TURNS; turns++) {
    const before = performance.now()
    await setImmediate()
    if (performance.now() - before < BUSY_MS) return
  }
}

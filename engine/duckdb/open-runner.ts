import { join } from 'node:path'
import { Lazy } from '../util/lazy.ts'
import { cancelled } from './errors.ts'
import { openNativeRunner } from './native/native-cursor.ts'
import type { DuckRunner, Runner, RunnerOptions } from './runner.ts'
import { SequenceCursor } from './runner.ts'

/**
 * A DuckDB for all statements that no delegate answers, and behind it a second one with a single thread for light ones
 * whose rows are wanted at once; it is opened with the first of them. DuckDB has one number of threads for all
 * statements, and if it divides little work among threads, it needs more time for them than it saves.
 */
export async function openRunner(options: RunnerOptions): Promise<DuckRunner> {
  const main = await openNativeRunner(options)
  const hasLight = options.threads !== 1
  const light = new Lazy(() => openNativeRunner(lightOptions(options)))
  let opened: DuckRunner | undefined
  let closed = false
  const start: Runner['start'] = async (statement, startOptions) => {
    const { delegate, whole, signal } = startOptions
    const answered = await delegate?.(statement.columns, signal)
    if (answered) return answered
    if (!hasLight || !statement.light || !whole) return main.start(statement, startOptions)
    if (closed) throw cancelled(undefined)
    opened = await light.get()
    return opened.start(statement, startOptions)
  }
  return {
    readsHttp: main.readsHttp,
    get open() {
      return main.open + (opened?.open ?? 0)
    },
    get started() {
      return main.started + (opened?.started ?? 0)
    },
    async start(statement, startOptions) {
      const cursor = await start(statement, startOptions)
      const { following = [] } = startOptions
      return following.length === 0
        ? cursor
        : new SequenceCursor(cursor, following, (next) => start(next, startOptions))
    },
    async close() {
      closed = true
      const others = light.present()
      await Promise.all([main.close(), others.then((runner) => runner?.close())])
    },
  }
}

/**
 * Light statements read files only. The system has the content of these in memory, and so has the other DuckDB, so a
 * third copy would only take room.
 */
function lightOptions(options: RunnerOptions): RunnerOptions {
  const tempDirectory = join(options.tempDirectory, 'light')
  return { ...options, threads: 1, tempDirectory, http: undefined, footersOnly: true }
}

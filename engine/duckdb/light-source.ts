import { join } from 'node:path'
import { Opened } from '../util/opened.ts'
import { cancelled } from './errors.ts'
import { type OpenSourceOptions, openSource } from './open-source.ts'
import type { Source } from './source.ts'

/**
 * A DuckDB for all statements, and behind it a second one with a single thread for light ones whose rows are wanted at
 * once; it is opened with the first of them. DuckDB has one number of threads for all statements, and if it divides
 * little work among threads, it needs more time for them than it saves.
 */
export async function openLightSource(options: OpenSourceOptions): Promise<Source> {
  const main = await openSource(options)
  if (options.threads === 1) return main
  const light = new Opened(() => openSource(lightOptions(options)))
  let opened: Source | undefined
  let closed = false
  return {
    kind: main.kind,
    cuts: main.cuts,
    readsHttp: main.readsHttp,
    get open() {
      return main.open + (opened?.open ?? 0)
    },
    async start(statement, startOptions) {
      if (!statement.light || !startOptions.whole) return main.start(statement, startOptions)
      if (closed) throw cancelled(undefined)
      opened = await light.get()
      return opened.start(statement, startOptions)
    },
    async close() {
      closed = true
      const others = light.present()
      await Promise.all([main.close(), others.then((source) => source?.close())])
    },
  }
}

/**
 * Light statements read files only. The system has the content of these in memory, and so has the other DuckDB, so a
 * third copy would only take room.
 */
function lightOptions(options: OpenSourceOptions): OpenSourceOptions {
  const tempDirectory = join(options.tempDirectory, 'light')
  return { ...options, threads: 1, tempDirectory, http: undefined, footersOnly: true }
}

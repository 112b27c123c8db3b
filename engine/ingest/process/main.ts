import { Reader } from '../reader.ts'
import { type Arrival, arrived, arrivedWhole, newArrival } from '../threads/arrival.ts'
import { throttled } from '../threads/throttled.ts'
import { JOBS } from './job-runs.ts'
import type { JobId, JobName } from './jobs.ts'
import type { FromReader, ToReader, Usage } from './messages.ts'
import { plainError } from './plain-error.ts'
import { readerOptions, WHOLE } from './start.ts'

// When our parent is gone, nobody needs our work any more, so this process ends. It kills itself because an orderly end
// would have to wait for DuckDB's threads. This comes first because the parent may be killed while we start. If the
// parent was gone even before, there is no `disconnect` event, so `connected` is checked as well.
const end = () => process.kill(process.pid, 'SIGKILL')
process.on('disconnect', end)
if (!process.connected) end()

/** The reader of this process, which does jobs until the process that started this one kills it or ends itself. */
const reader = await Reader.open(readerOptions())

/** A job that is under way. An early scan counts as under way until it is aborted. */
interface Running {
  readonly abort: AbortController
  readonly arrival: Arrival
}
const running = new Map<JobId, Running>()

// Terminals and service managers send these signals to all processes of a group. We ignore them, because our parent
// ends us when its uploads are done.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})

process.on('message', (message: ToReader) => {
  const place = running.get(message.job)
  switch (message.kind) {
    case 'run':
      run(message.job, message.name, message.input)
      break
    case 'abort':
      place?.abort.abort()
      running.delete(message.job)
      break
    case 'arrived':
      if (place && message.bytes === WHOLE) arrivedWhole(place.arrival)
      else if (place) arrived(place.arrival, message.bytes)
      break
    default:
      message satisfies never
  }
})

async function run(job: JobId, name: JobName, input: unknown): Promise<void> {
  const place: Running = { abort: new AbortController(), arrival: newArrival() }
  running.set(job, place)
  const hooks = {
    signal: place.abort.signal,
    onProgress: throttled((done: { bytes: number; rows?: number }) => tell({ kind: 'progress', job, done })),
  }
  try {
    const work = JOBS[name] as (...args: unknown[]) => Promise<unknown>
    const result = await work(reader, input, hooks, { job, arrival: place.arrival })
    // The result of `scanEarly` only says that the scan has begun. The scan itself goes on until it is aborted.
    if (name !== 'scanEarly') running.delete(job)
    tell({ kind: 'done', job, result, usage: usage() })
  } catch (error) {
    running.delete(job)
    tell({ kind: 'failed', job, error: plainError(error), usage: usage() })
  }
}

const REPORT_MS = 200
setInterval(() => {
  if (running.size > 0) tell({ kind: 'usage', usage: usage() })
}, REPORT_MS)

function usage(): Usage {
  const { user, system } = process.cpuUsage()
  return { memory: process.memoryUsage.rss(), cpu: (user + system) / 1e6 }
}

function tell(message: FromReader): void {
  // Sending fails if the parent is gone. Without a callback, that would raise an `error` event that nothing handles.
  process.send!(message, undefined, undefined, () => {})
}

tell({ kind: 'ready' })

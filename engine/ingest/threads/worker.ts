import { parentPort } from 'node:worker_threads'
import { EngineError } from '../../errors.ts'
import { type Hooks, runHere, type Task, type TaskName } from './task.ts'
import type { Message } from './workers.ts'

/** The thread of one task after the other: it reports progress, then the result or what went wrong. */
parentPort!.on('message', async (task: Task<TaskName>) => {
  try {
    const result = await runHere(task, { onProgress: throttled((done) => send({ kind: 'progress', done })) })
    send({ kind: 'done', result })
  } catch (error) {
    const ours =
      error instanceof EngineError
        ? { code: error.code, message: error.message, details: error.details }
        : undefined
    send({ kind: 'failed', error, ours })
  }
})

function send(message: Message): void {
  parentPort!.postMessage(message)
}

const PROGRESS_MS = 200

/** No more reports than people can follow, so that messages don't cost more than work. */
function throttled(report: NonNullable<Hooks['onProgress']>): NonNullable<Hooks['onProgress']> {
  let next = 0
  return (done) => {
    const now = performance.now()
    if (now < next) return
    next = now + PROGRESS_MS
    report(done)
  }
}

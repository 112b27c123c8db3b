import { parentPort } from 'node:worker_threads'
import { plainError } from '../process/plain-error.ts'
import { runHere, type Task, type TaskName } from './task.ts'
import { throttled } from './throttled.ts'
import type { Message } from './workers.ts'

/** Runs one task after another in this thread. Reports the progress of each, and then its result or its error. */
parentPort!.on('message', async (task: Task<TaskName>) => {
  try {
    const result = await runHere(task, { onProgress: throttled((done) => send({ kind: 'progress', done })) })
    send({ kind: 'done', result })
  } catch (error) {
    send({ kind: 'failed', error: plainError(error) })
  }
})

function send(message: Message): void {
  parentPort!.postMessage(message)
}

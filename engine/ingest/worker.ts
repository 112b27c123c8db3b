import { parentPort, workerData } from 'node:worker_threads'
import { EngineError } from '../errors.ts'
import { type Message, runHere, throttled } from './task.ts'

/** The thread of one task: it reports progress, then the result or what went wrong. */
const send = (message: Message) => parentPort!.postMessage(message)

try {
  const result = await runHere(workerData, {
    onProgress: throttled((done) => send({ kind: 'progress', done })),
  })
  send({ kind: 'done', result })
} catch (error) {
  const ours =
    error instanceof EngineError
      ? { code: error.code, message: error.message, details: error.details }
      : undefined
  send({ kind: 'failed', error, ours })
}

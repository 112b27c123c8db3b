import { extname } from 'node:path'
import { Worker, type WorkerOptions } from 'node:worker_threads'

/** Starts the `worker` that lies beside a module, among sources as among what they were built to. */
export function startWorkerBeside(module: string, options?: WorkerOptions): Worker {
  const flags = process.execArgv.filter(
    (flag, index, all) => !flag.startsWith('--input-type') && all[index - 1] !== '--input-type',
  )
  // A worker has the flags of its process unless it is given some, and it refuses to be given those of V8, as
  // --max-old-space-size. So they are given only where that of --eval must go (ERR_INPUT_TYPE_NOT_ALLOWED).
  const given = flags.length < process.execArgv.length ? { execArgv: flags } : {}
  return new Worker(new URL(`./worker${extname(module)}`, module), { ...options, ...given })
}

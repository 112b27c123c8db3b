import { extname } from 'node:path'
import { Worker, type WorkerOptions } from 'node:worker_threads'

/** Starts the `worker` that lies beside a module, among sources as among what they were built to. */
export function startWorkerBeside(module: string, options?: WorkerOptions): Worker {
  // The flags of this process, but for that of --eval: Node refuses it for files (ERR_INPUT_TYPE_NOT_ALLOWED).
  const execArgv = process.execArgv.filter(
    (flag, index, flags) => !flag.startsWith('--input-type') && flags[index - 1] !== '--input-type',
  )
  return new Worker(new URL(`./worker${extname(module)}`, module), { ...options, execArgv })
}

import { readdirSync, readFileSync } from 'node:fs'
import { constants, getPriority, setPriority } from 'node:os'
import { extname } from 'node:path'
import { Worker, type WorkerOptions } from 'node:worker_threads'

/** Starts the file `worker` in the folder of a module: `worker.ts` for a source file, `worker.js` for a built one. */
export function startWorkerBeside(module: string, options?: WorkerOptions): Worker {
  const flags = process.execArgv.filter(
    (flag, index, all) => !flag.startsWith('--input-type') && all[index - 1] !== '--input-type',
  )
  // A worker inherits the flags of its process unless it is given flags of its own, and it refuses to be given flags of
  // V8, such as --max-old-space-size. So flags are given only to leave out --input-type, with which a worker that is a
  // file can't start (ERR_INPUT_TYPE_NOT_ALLOWED).
  const given = flags.length < process.execArgv.length ? { execArgv: flags } : {}
  return new Worker(new URL(`./worker${extname(module)}`, module), { ...options, ...given })
}

/**
 * How many threads libuv's pool has: four by default. Calls into DuckDB, files, DNS and zlib share them, and exports use
 * them to wait for DuckDB and to compress.
 * `UV_THREADPOOL_SIZE` may be set when the process is started; setting it here only has an effect if nothing has used
 * the pool yet.
 */
process.env['UV_THREADPOOL_SIZE'] ??= '16'
// libuv, too, reads only the digits at the beginning, and makes one thread if there are none.
export const POOL_THREADS = Number.parseInt(process.env['UV_THREADPOOL_SIZE'], 10) || 1

/** How much nicer the threads of the pool are than the main thread. */
const POOL_NICENESS = 5

/**
 * Lets the main thread, and what is short in other processes, go before the pool, in which as many long statements may
 * run as it has threads; those that DuckDB starts there inherit it. On Linux, and only once the pool has been used.
 */
export function lowerPool(): void {
  if (process.platform !== 'linux') return
  const niceness = Math.min(getPriority() + POOL_NICENESS, constants.priority.PRIORITY_LOW)
  for (const thread of readdirSync('/proc/self/task')) {
    try {
      if (readFileSync(`/proc/self/task/${thread}/comm`, 'utf8') === 'libuv-worker\n')
        setPriority(Number(thread), niceness)
    } catch {
      // It has ended.
    }
  }
}

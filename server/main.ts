import { enableCompileCache, getCompileCacheDir } from 'node:module'
import { dirname } from 'node:path'

// Keeps compiled code between starts, which halves the time to the first answer. It is in the system's folder for
// temporary files unless NODE_COMPILE_CACHE names another. Threads and processes started from here read the variable.
enableCompileCache()
const cache = getCompileCacheDir()
if (cache !== undefined) process.env['NODE_COMPILE_CACHE'] ??= dirname(cache)

// Exports use threads of libuv's pool to wait for DuckDB and to compress. Set this before anything uses the pool.
process.env['UV_THREADPOOL_SIZE'] ??= '16'

const { run } = await import('./commands/program.ts')
process.exitCode = await run(process.argv.slice(2))

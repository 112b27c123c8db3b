import { enableCompileCache, getCompileCacheDir } from 'node:module'
import { dirname } from 'node:path'

// Compiled code is kept between starts, in the system's folder for temporary files unless NODE_COMPILE_CACHE says
// another: it halves the time to the first answer. Threads and processes that are started from here read the variable.
enableCompileCache()
const cache = getCompileCacheDir()
if (cache !== undefined) process.env['NODE_COMPILE_CACHE'] ??= dirname(cache)

// Threads of libuv's pool wait for DuckDB on behalf of exports, and compress. Set before anything uses the pool.
process.env['UV_THREADPOOL_SIZE'] ??= '16'

const { run } = await import('./commands/program.ts')
process.exitCode = await run(process.argv.slice(2))

// Sets the size of libuv's thread pool before anything uses the pool.
import '../engine/util/pool-threads.ts'
import { run } from './commands/program.ts'

process.exitCode = await run(process.argv.slice(2))

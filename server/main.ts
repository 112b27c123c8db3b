// Sets the size of libuv's thread pool before anything uses the pool.
import '../engine/util/threads.ts'
import { run } from './commands/program.ts'
import { reportError } from './commands/report.ts'

// A reader such as `head` closes the pipe when it has enough; that is not an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') process.exit(reportError(error))
})
process.exitCode = await run(process.argv.slice(2))

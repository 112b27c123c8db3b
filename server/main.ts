// Threads of libuv's pool wait for DuckDB on behalf of exports, and compress. Set before anything uses the pool.
process.env['UV_THREADPOOL_SIZE'] ??= '16'

const { run } = await import('./commands/program.ts')
process.exitCode = await run(process.argv.slice(2))

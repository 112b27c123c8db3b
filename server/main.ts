// Exports use threads of libuv's pool to wait for DuckDB and to compress. Set this before anything uses the pool.
process.env['UV_THREADPOOL_SIZE'] ??= '16'

const { run } = await import('./commands/program.ts')
process.exitCode = await run(process.argv.slice(2))

/**
 * How many threads libuv's pool has: four by default. Calls into DuckDB, files, DNS and zlib share them, and exports use
 * them to wait for DuckDB and to compress.
 * `UV_THREADPOOL_SIZE` may be set when the process is started; setting it here only has an effect if nothing has used
 * the pool yet.
 */
process.env['UV_THREADPOOL_SIZE'] ??= '16'
// libuv, too, reads only the digits at the beginning, and makes one thread if there are none.
export const POOL_THREADS = Number.parseInt(process.env['UV_THREADPOOL_SIZE'], 10) || 1

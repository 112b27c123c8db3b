import { mkdirSync, realpathSync } from 'node:fs'
import { Socket } from 'node:net'
import { spillLimit } from '../../duckdb/instance.ts'
import { type Executor, openExecutor } from '../../export/index.ts'
import { duckMemory, readerOptions, serveJobs } from '../../ingest/process/serve-jobs.ts'
import { isBelow } from '../../store/layout.ts'
import { Lazy } from '../../util/shared.ts'
import { type Framed, headOf, sqlJobs } from './jobs.ts'

/** The most bytes that DuckDB moves to the disk for one process, and their share of what is free. */
const MOST_TEMPORARY = 2 ** 34
const SHARE = 1 / 6

const { threads, memory, directory, folders, http } = readerOptions(0)

/** It moves conditions into tables of WITH that are MATERIALIZED, which here keep rows from their readers. */
const FENCE_BREAKER = 'cte_filter_pusher'

function open(disabledOptimizers: string): Promise<Executor> {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const folder = realpathSync(directory)
  return openExecutor({
    threads,
    workers: threads,
    memoryLimit: duckMemory(memory),
    tempDirectory: folder,
    // The parts of a statement are linked into this folder, and DuckDB opens nothing outside of it but attached files.
    allowedDirectories: [folder, ...folders.filter((one) => !isBelow(folder, one))],
    mostTemporary: spillLimit(folder, SHARE, MOST_TEMPORARY),
    http,
    disabledOptimizers,
  })
}

const usual = new Lazy(() => open(FENCE_BREAKER))
const withoutTopN = new Lazy(() => open(`${FENCE_BREAKER},top_n`))
const pipe = new Socket({ fd: 4, readable: false, writable: true })
pipe.on('error', () => process.kill(process.pid, 'SIGKILL'))

function write({ bytes, rows }: Framed): Promise<void> {
  pipe.write(headOf(bytes.length, rows))
  return new Promise((resolve) => pipe.write(bytes, () => resolve()))
}

await usual.get()
serveJobs(sqlJobs((safe) => (safe ? withoutTopN : usual).get(), write))

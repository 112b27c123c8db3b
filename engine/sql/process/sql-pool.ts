import { realpathSync } from 'node:fs'
import { cancelled } from '../../duckdb/errors.ts'
import { EngineError } from '../../errors.ts'
import { type LentReader, ReaderPool, type ReadersOptions } from '../../ingest/process/reader-pool.ts'
import { type End, endMessage, OUT_OF_MEMORY } from '../../ingest/process/reader-process.ts'
import { orAborted, Semaphore } from '../../util/concurrency.ts'

/** The most statements that are read or run at once; each has a process of its own. */
const MOST_PROCESSES = 4
/** The most CPU time of one statement. */
const MOST_CPU_SECONDS = 1_800

/** Lends a process whose folder is empty, when there is one. @throws EngineError `cancelled`, `storage_full` */
export type Lend = (signal: AbortSignal | undefined) => Promise<LentReader>

export class SqlPool {
  readonly #pool: ReaderPool
  readonly #places = new Semaphore(MOST_PROCESSES)

  constructor(options: Omit<ReadersOptions, 'program' | 'failure'>) {
    // DuckDB follows links before it decides whether it may open a file, so its folder has to be named without links.
    const tempDirectory = realpathSync(options.tempDirectory)
    const program = new URL('./main', import.meta.url)
    this.#pool = new ReaderPool({ ...options, tempDirectory, program, failure })
  }

  readonly lend: Lend = async (signal) => {
    const entering = this.#places.enter()
    try {
      const place = await orAborted(entering, signal, () => cancelled(signal))
      const lent = this.#pool.lend()
      lent.process.allowCpu(MOST_CPU_SECONDS)
      return {
        process: lent.process,
        [Symbol.dispose]: () => {
          lent[Symbol.dispose]()
          place[Symbol.dispose]()
        },
      }
    } catch (error) {
      void entering.then((place) => place[Symbol.dispose]())
      throw error
    }
  }

  close(): Promise<void> {
    return this.#pool.close()
  }
}

function failure(end: End): EngineError {
  const cause = new Error(endMessage(end))
  if (end.why === 'done') return cancelled(undefined)
  if (end.why === 'cpu')
    return new EngineError('timeout', 'The statement takes more CPU time than one may.', { cause })
  if (end.why === 'memory' || OUT_OF_MEMORY.test(end.stderr)) {
    return new EngineError('overloaded', 'The statement needs more memory than one may take. Ask for less.', {
      cause,
    })
  }
  return new EngineError(
    'overloaded',
    end.ready
      ? 'The statement ended the process that ran it, and nothing else. Write it differently, or try again later.'
      : 'SQL can not be run at the moment. Try again later.',
    { cause },
  )
}

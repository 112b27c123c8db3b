import { realpathSync } from 'node:fs'
import { cancelled } from '../../duckdb/errors.ts'
import { EngineError } from '../../errors.ts'
import { type LentReader, ReaderPool, type ReadersOptions } from '../../ingest/process/reader-pool.ts'
import { type End, endMessage, OUT_OF_MEMORY } from '../../ingest/process/reader-process.ts'
import { crowdedMessage, Semaphore } from '../../util/semaphore.ts'

/** The most statements that are read or run at once, in all and of one account; each has a process of its own. */
const MOST_PROCESSES = 4
const MOST_OF_ONE = 2
/** The most CPU time of one statement. */
const MOST_CPU_SECONDS = 1_800
/** A statement that takes more CPU time goes on with a lower priority. */
const QUICK_SECONDS = 1
/** While a statement runs for longer, a process is started for the next one. */
const SPARE_MS = 1_000
/** How much nicer than the server the process is whose rows nobody waits for. */
const BACKGROUND_NICENESS = 15

/** Lends a process whose folder is empty, when there is one. @throws EngineError `cancelled`, `storage_full` */
export type Lend = (signal: AbortSignal | undefined) => Promise<LentReader>

/** On whose behalf a statement runs. */
export interface Borrower {
  /** Accounts take turns, and none has all processes. Without one, any process that is free is taken. */
  readonly by?: string | undefined
  /** Set if nobody waits for the rows: such statements run one at a time, beside the others. */
  readonly background?: BackgroundLimits | undefined
}

export interface BackgroundLimits {
  /** The most CPU time of the statement. */
  readonly cpuSeconds?: number | undefined
}

export interface StatementStats {
  readonly running: number
  readonly waiting: number
  /** Those for whose rows nobody waits, whether they run or not. */
  readonly background: number
}

/** What the processes for statements in the foreground and in the background are lent from. */
interface Lane {
  readonly pool: ReaderPool
  readonly slots: Semaphore
}

export class SqlPool {
  readonly #foreground: Lane
  readonly #background: Lane

  /** @param wait the longest wait for a process, in milliseconds; by default until there is one */
  constructor({
    wait,
    ...options
  }: Omit<ReadersOptions, 'program' | 'failure'> & { wait: number | undefined }) {
    // DuckDB follows links before it decides whether it may open a file, so its folder has to be named without links.
    const tempDirectory = realpathSync(options.tempDirectory)
    const program = new URL('./main', import.meta.url)
    const pool = (priority: Pick<ReadersOptions, 'niceness' | 'quickSeconds'>) =>
      new ReaderPool({ ...options, tempDirectory, program, failure, ...priority })
    const slots = new Semaphore(MOST_PROCESSES, {
      perHolder: MOST_OF_ONE,
      reserved: 1,
      ...(wait !== undefined && { wait }),
      crowded: (crowd) =>
        new EngineError('overloaded', crowdedMessage('statements', crowd), {
          details: { running: crowd.own, limit: crowd.most },
        }),
    })
    this.#foreground = { pool: pool({ quickSeconds: QUICK_SECONDS }), slots }
    this.#background = { pool: pool({ niceness: BACKGROUND_NICENESS }), slots: new Semaphore(1) }
  }

  lend({ by, background }: Borrower): Lend {
    const { pool, slots } = background ? this.#background : this.#foreground
    return async (signal) => {
      const slot = await slots.enter(by, signal).catch((error) => {
        throw signal?.aborted ? cancelled(signal) : error
      })
      try {
        const lent = pool.lend()
        // The next one need not wait until a process has started, which takes long on a busy machine.
        const spare = setTimeout(() => {
          if (!background && slots.running < MOST_PROCESSES - 1) pool.warm()
        }, SPARE_MS).unref()
        lent.process.allowCpu(background?.cpuSeconds ?? MOST_CPU_SECONDS)
        return {
          process: lent.process,
          [Symbol.dispose]: () => {
            clearTimeout(spare)
            lent[Symbol.dispose]()
            slot[Symbol.dispose]()
          },
        }
      } catch (error) {
        slot[Symbol.dispose]()
        throw error
      }
    }
  }

  /** Statements that run or wait for a process. */
  get stats(): StatementStats {
    const [{ slots }, background] = [this.#foreground, this.#background]
    const { running, queued: waiting } = slots
    return { running, waiting, background: background.slots.running + background.slots.queued }
  }

  async close(): Promise<void> {
    for (const { slots } of [this.#foreground, this.#background]) slots.close(() => cancelled(undefined))
    await Promise.all([this.#foreground.pool.close(), this.#background.pool.close()])
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

import type { DuckDBInstance } from '@duckdb/node-api'
import { InFlight } from '../util/concurrency.ts'
import { cancelled, engineError, isBroken, keepInterrupting } from './errors.ts'
import { type InstanceOptions, lockDown, openSettings } from './instance.ts'

export interface DuckOptions extends Omit<InstanceOptions, 'filesChange' | 'distrustful'> {
  /** How the parts are encoded that it writes; `compact` by default. */
  readonly encoding?: 'plain' | 'compact'
}

export interface RunOptions {
  readonly signal?: AbortSignal
}

interface StatementOptions extends RunOptions {
  /** Bound as VARCHAR, as $1, $2, … */
  readonly parameters?: readonly string[] | undefined
}

/**
 * An in-memory DuckDB that only the ingest uses; it keeps nothing from one statement to the next. After an internal
 * error DuckDB refuses every statement, so the instance is then replaced by a new one.
 */
export class Duck {
  readonly #options: DuckOptions
  readonly #statements = new InFlight()
  #instance: DuckDBInstance

  private constructor(options: DuckOptions, instance: DuckDBInstance) {
    this.#options = options
    this.#instance = instance
  }

  /** A folder in which statements may read and write files. */
  get tempDirectory(): string {
    return this.#options.tempDirectory
  }

  get encoding(): 'plain' | 'compact' {
    return this.#options.encoding ?? 'compact'
  }

  static async open(options: DuckOptions): Promise<Duck> {
    return new Duck(options, await openInstance(options))
  }

  /** Another one with the same options, but for its memory. */
  withMemory(memoryLimit: string): Promise<Duck> {
    return Duck.open({ ...this.#options, memoryLimit })
  }

  /** Waits for running statements, because closing while a connection is being made would crash the process. */
  async close(): Promise<void> {
    await this.#statements.end()
    this.#instance.closeSync()
  }

  /**
   * Runs one statement and gives its rows as JavaScript values.
   * @throws EngineError `storage_full`, `overloaded`, `cancelled`; DuckDB's own error if it is about the data
   */
  run(sql: string, options: StatementOptions = {}): Promise<unknown[][]> {
    return this.#statements.run(() => this.#run(sql, options))
  }

  async #run(sql: string, { signal, parameters = [] }: StatementOptions): Promise<unknown[][]> {
    const instance = this.#instance
    const connection = await instance.connect()
    let interrupting: NodeJS.Timeout | undefined
    const interrupt = () => {
      interrupting = keepInterrupting(() => connection.interrupt())
    }
    signal?.addEventListener('abort', interrupt)
    try {
      if (signal?.aborted) throw cancelled(signal)
      return (await connection.runAndReadAll(sql, [...parameters])).getRowsJS() as unknown[][]
    } catch (error) {
      if (signal?.aborted) throw cancelled(signal)
      await this.#replaceIfBroken(instance, error)
      throw engineError(error, 'upload')
    } finally {
      signal?.removeEventListener('abort', interrupt)
      clearInterval(interrupting)
      connection.disconnectSync()
    }
  }

  async #replaceIfBroken(instance: DuckDBInstance, error: unknown): Promise<void> {
    if (isBroken(error) && this.#instance === instance) this.#instance = await openInstance(this.#options)
  }
}

/** Files change: a part that was written and checked may be written again under the same name. */
async function openInstance(duckOptions: DuckOptions): Promise<DuckDBInstance> {
  const options = { ...duckOptions, filesChange: true, distrustful: true }
  // The package takes a while to load, so it is loaded only when it is needed.
  const { DuckDBInstance } = await import('@duckdb/node-api')
  const instance = await DuckDBInstance.create(':memory:', openSettings(options))
  try {
    const connection = await instance.connect()
    try {
      await lockDown(options, (sql) => connection.run(sql))
      return instance
    } finally {
      connection.closeSync()
    }
  } catch (error) {
    instance.closeSync()
    throw error
  }
}

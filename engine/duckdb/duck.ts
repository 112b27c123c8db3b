import type { DuckDBInstance } from '@duckdb/node-api'
import { UnderWay } from '../util/under-way.ts'
import { keepInterrupting } from './calls.ts'
import { cancelled, engineError, isBroken } from './errors.ts'
import { type InstanceOptions, openNodeInstance } from './instance.ts'

export type DuckOptions = Omit<InstanceOptions, 'filesChange' | 'distrustful'>

export interface RunOptions {
  readonly signal?: AbortSignal
}

/**
 * An in-memory DuckDB that only the ingest uses; it keeps nothing from one statement to the next. After an internal
 * error DuckDB refuses every statement, so the instance is then replaced by a new one.
 */
export class Duck {
  readonly #options: DuckOptions
  readonly #statements = new UnderWay()
  #instance: DuckDBInstance

  private constructor(options: DuckOptions, instance: DuckDBInstance) {
    this.#options = options
    this.#instance = instance
  }

  /** A folder in which statements may read and write files. */
  get tempDirectory(): string {
    return this.#options.tempDirectory
  }

  static async open(options: DuckOptions): Promise<Duck> {
    return new Duck(options, await openInstance(options))
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
  run(sql: string, options: RunOptions = {}): Promise<unknown[][]> {
    return this.#statements.run(() => this.#run(sql, options))
  }

  async #run(sql: string, { signal }: RunOptions): Promise<unknown[][]> {
    const instance = this.#instance
    const connection = await instance.connect()
    let interrupting: NodeJS.Timeout | undefined
    const interrupt = () => {
      interrupting = keepInterrupting(() => connection.interrupt())
    }
    signal?.addEventListener('abort', interrupt)
    try {
      if (signal?.aborted) throw cancelled(signal)
      return (await connection.runAndReadAll(sql)).getRowsJS() as unknown[][]
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
async function openInstance(options: DuckOptions): Promise<DuckDBInstance> {
  return (await openNodeInstance({ ...options, filesChange: true, distrustful: true })).instance
}

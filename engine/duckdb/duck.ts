import type { DuckDBInstance } from '@duckdb/node-api'
import { EngineError } from '../errors.ts'
import { storageFull } from '../ingest/file.ts'
import { UnderWay } from '../util/under-way.ts'
import { keepInterrupting } from './calls.ts'
import { cancelled } from './errors.ts'

export interface DuckOptions {
  readonly threads?: number
  /** As `2GiB`. */
  readonly memoryLimit?: string
  readonly tempDirectory: string
}

export interface RunOptions {
  readonly signal?: AbortSignal
}

/**
 * A DuckDB of the ingest's own, in memory: nothing of it outlives a statement. An internal error makes DuckDB refuse
 * everything after it, so the instance is then replaced by a new one.
 */
export class Duck {
  readonly #options: DuckOptions
  readonly #statements = new UnderWay()
  #instance: DuckDBInstance

  private constructor(options: DuckOptions, instance: DuckDBInstance) {
    this.#options = options
    this.#instance = instance
  }

  static async open(options: DuckOptions): Promise<Duck> {
    return new Duck(options, await openInstance(options))
  }

  /** Waits for what is under way: to close while a connection is being made would crash the process. */
  async close(): Promise<void> {
    await this.#statements.end()
    this.#instance.closeSync()
  }

  /**
   * Runs one statement and gives its rows as JavaScript values.
   * @throws EngineError `storage_full`, `overloaded`, `cancelled`; DuckDB's own error where it is about the data
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
      throw duckError(error)
    } finally {
      signal?.removeEventListener('abort', interrupt)
      clearInterval(interrupting)
      connection.disconnectSync()
    }
  }

  async #replaceIfBroken(instance: DuckDBInstance, error: unknown): Promise<void> {
    if (!/^(INTERNAL|FATAL) Error|database has been invalidated/.test((error as Error).message)) return
    if (this.#instance === instance) this.#instance = await openInstance(this.#options)
  }
}

async function openInstance({ threads, memoryLimit, tempDirectory }: DuckOptions): Promise<DuckDBInstance> {
  // Loading it takes a while, which those who only read are spared.
  const { DuckDBInstance } = await import('@duckdb/node-api')
  const instance = await DuckDBInstance.create(':memory:', {
    ...(threads === undefined ? {} : { threads: String(threads) }),
    ...(memoryLimit === undefined ? {} : { memory_limit: memoryLimit }),
    temp_directory: tempDirectory,
    preserve_insertion_order: 'true',
    // Every file is read once, and a path that is written anew must not be answered from memory.
    enable_external_file_cache: 'false',
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
  })
  const connection = await instance.connect()
  // Text without an offset in a column with a zone is UTC, whatever the machine's zone.
  await connection.run("SET GLOBAL TimeZone = 'UTC'")
  connection.disconnectSync()
  return instance
}

/** DuckDB's errors about the machine as ours; those about data stay, for only the reader of a format knows what they mean. */
function duckError(error: unknown): unknown {
  const { message } = error as Error
  if (message.startsWith('Out of Memory Error')) {
    return /max_temp_directory_size|offload/.test(message)
      ? new EngineError('storage_full', 'The disk is full. Nothing was changed.', { cause: error })
      : new EngineError('overloaded', 'The upload needs more memory than there is now. Try again later.', {
          cause: error,
        })
  }
  return storageFull(error)
}

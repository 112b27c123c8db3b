import type { DuckDBInstance } from '@duckdb/node-api'
import { quoteLiteral } from '../types/index.ts'

/** What a DuckDB is opened with, whichever way it is reached. All of them are in memory. */
export interface InstanceOptions {
  /** The number of cores by default. */
  readonly threads?: number
  /** As DuckDB writes sizes: `2GiB`. */
  readonly memoryLimit?: string
  /** For what does not fit in memory. */
  readonly tempDirectory: string
  /**
   * It reads and writes only below these and below `tempDirectory`. Without them it reads whatever file a statement
   * names, which is for statements that hold nothing of a user's but a path.
   */
  readonly allowedDirectories?: readonly string[]
  /** Files may come back with other content under the same name, so nothing of them is kept in memory. */
  readonly filesChange?: boolean
  /** Files are a stranger's, and their statistics may lie: by them DuckDB would leave out the checks that find the lie. */
  readonly distrustful?: boolean
}

/** Settings to open with. */
export function openSettings(options: InstanceOptions): Record<string, string> {
  return {
    temp_directory: options.tempDirectory,
    autoload_known_extensions: 'false',
    autoinstall_known_extensions: 'false',
    allow_community_extensions: 'false',
    preserve_insertion_order: 'true',
    ...(options.filesChange && { enable_external_file_cache: 'false' }),
    ...(options.distrustful && { disabled_optimizers: 'statistics_propagation,filter_pushdown' }),
    ...(options.threads !== undefined && { threads: String(options.threads) }),
    ...(options.memoryLimit !== undefined && { memory_limit: options.memoryLimit }),
  }
}

/**
 * Statements to run once, in this order, before any other. The folders must be named before external access is off,
 * and nothing can be changed after the lock.
 */
export function lockDown(options: InstanceOptions): string[] {
  const directories = options.allowedDirectories && [...options.allowedDirectories, options.tempDirectory]
  return [
    // Text without an offset in a column with a zone is UTC, whatever the machine's zone.
    `SET GLOBAL TimeZone = 'UTC'`,
    // Footers are read once, as long as a file stays as it was.
    ...(options.filesChange ? [] : ['SET GLOBAL parquet_metadata_cache = true']),
    ...(directories
      ? [
          `SET GLOBAL allowed_directories = [${directories.map(quoteLiteral).join(', ')}]`,
          'SET GLOBAL enable_external_access = false',
        ]
      : []),
    `SET GLOBAL allowed_configs = ['streaming_buffer_size']`,
    'SET GLOBAL lock_configuration = true',
  ]
}

/** A DuckDB by way of its Node package, shut in. */
export async function openNodeInstance(options: InstanceOptions): Promise<DuckDBInstance> {
  // Loading the package takes a while, which those are spared who never come here.
  const { DuckDBInstance } = await import('@duckdb/node-api')
  const instance = await DuckDBInstance.create(':memory:', openSettings(options))
  try {
    const connection = await instance.connect()
    try {
      for (const sql of lockDown(options)) await connection.run(sql)
    } finally {
      connection.closeSync()
    }
  } catch (error) {
    instance.closeSync()
    throw error
  }
  return instance
}

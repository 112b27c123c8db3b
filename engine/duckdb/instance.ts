import type { DuckDBInstance } from '@duckdb/node-api'
import { quoteLiteral } from '../types/index.ts'

/** How to open a DuckDB, for both ways of reaching it. Every instance is in memory. */
export interface InstanceOptions {
  /** The number of cores by default. */
  readonly threads?: number
  /** As DuckDB writes sizes: `2GiB`. */
  readonly memoryLimit?: string
  /** Where DuckDB puts data that does not fit in memory. */
  readonly tempDirectory: string
  /**
   * DuckDB reads and writes files only below these and below `tempDirectory`. Without them it reads every file that a
   * statement names; that is only for statements that contain nothing from a user but a path.
   */
  readonly allowedDirectories?: readonly string[]
  /** Files may be replaced by others of the same name, so DuckDB must not keep their content in memory. */
  readonly filesChange?: boolean
  /** Files come from a user and their statistics may be false; relying on them, DuckDB would skip needed checks. */
  readonly distrustful?: boolean
}

/** Settings with which the database is opened. */
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
 * Statements to run once, in this order, before any other. The folders must be named before external access is switched
 * off, and nothing can be changed after the configuration is locked.
 */
export function lockDown(options: InstanceOptions): string[] {
  const directories = options.allowedDirectories && [...options.allowedDirectories, options.tempDirectory]
  return [
    // Text without an offset, in a column of timestamps with a zone, is read as UTC, whatever the machine's zone is.
    `SET GLOBAL TimeZone = 'UTC'`,
    // With the cache, DuckDB reads a file's footer only once, as long as the file doesn't change.
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

/** Opens a DuckDB through its Node package, with the restrictions of `lockDown`. */
export async function openNodeInstance(options: InstanceOptions): Promise<DuckDBInstance> {
  // The package takes a while to load, so it is loaded only when it is needed.
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

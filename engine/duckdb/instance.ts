import { statfsSync } from 'node:fs'
import { totalmem } from 'node:os'
import { join } from 'node:path'
import { invalidOption } from '../errors.ts'
import { quoteLiteral } from '../types/index.ts'

/** How long DuckDB waits for an answer; longer than whoever answers tries. */
const HTTP_SECONDS = 600

/** How DuckDB reads over HTTP: below one address, and by one proxy, so that it reaches nothing else. */
export interface HttpOptions {
  /** The folder that has the extension httpfs; without it, DuckDB installs it into `extensions`. */
  readonly httpfs?: string | undefined
  readonly extensions: string
  readonly base: string
  readonly proxy: string
  /** Called with the reason if the extension can't be loaded: DuckDB then reads files only. Without it, that fails. */
  readonly onMissing?: ((reason: unknown) => void) | undefined
}

/** How to open a DuckDB. Every instance is in memory. */
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
  readonly http?: HttpOptions | undefined
  /** DuckDB keeps in memory what footers say, but no content of files. */
  readonly footersOnly?: boolean
  /** Files may be replaced by others of the same name, so DuckDB must not keep their content in memory. */
  readonly filesChange?: boolean
  /** Files come from a user and their statistics may be false; relying on them, DuckDB would skip needed checks. */
  readonly distrustful?: boolean
  /** Rules of DuckDB's optimizer that it must not use, separated by commas. */
  readonly disabledOptimizers?: string
  /** The most that it keeps in `tempDirectory`, as DuckDB writes sizes. */
  readonly mostTemporary?: string
}

/** Settings with which the database is opened. */
export function openSettings(options: InstanceOptions): Record<string, string> {
  return {
    temp_directory: options.tempDirectory,
    autoload_known_extensions: 'false',
    autoinstall_known_extensions: 'false',
    allow_community_extensions: 'false',
    preserve_insertion_order: 'true',
    ...((options.filesChange || options.footersOnly) && { enable_external_file_cache: 'false' }),
    ...(options.distrustful && { disabled_optimizers: 'statistics_propagation,filter_pushdown' }),
    ...(options.disabledOptimizers !== undefined && { disabled_optimizers: options.disabledOptimizers }),
    ...(options.threads !== undefined && { threads: String(options.threads) }),
    ...(options.memoryLimit !== undefined && { memory_limit: options.memoryLimit }),
  }
}

/**
 * Restricts a new instance. Gives whether it reads over HTTP.
 * @param run runs a statement, before any other
 */
export async function lockDown(
  options: InstanceOptions,
  run: (sql: string) => Promise<unknown>,
): Promise<boolean> {
  const readsHttp = options.http !== undefined && (await loadHttpfs(options.http, run))
  for (const sql of restrictions(options, readsHttp)) await run(sql)
  return readsHttp
}

async function loadHttpfs(http: HttpOptions, run: (sql: string) => Promise<unknown>): Promise<boolean> {
  const { httpfs, extensions, proxy, onMissing } = http
  try {
    if (httpfs !== undefined) await run(`LOAD ${quoteLiteral(join(httpfs, 'httpfs.duckdb_extension'))}`)
    else {
      await run(`SET GLOBAL extension_directory = ${quoteLiteral(extensions)}`)
      await run('INSTALL httpfs')
      await run('LOAD httpfs')
    }
    // Secrets would be read from the user's home.
    await run('SET GLOBAL allow_persistent_secrets = false')
    // Without a proxy of its own, DuckDB would use that of the environment.
    await run(`SET GLOBAL http_proxy = ${quoteLiteral(proxy)}`)
    // Whoever answers tries again and has deadlines.
    await run('SET GLOBAL http_retries = 0')
    await run(`SET GLOBAL http_timeout = ${HTTP_SECONDS}`)
    return true
  } catch (error) {
    if (!onMissing) throw error
    onMissing(error)
    return false
  }
}

/**
 * Statements to run once, in this order. The folders must be named before external access is switched off, and nothing
 * can be changed after the configuration is locked.
 */
function restrictions(options: InstanceOptions, readsHttp: boolean): string[] {
  const { allowedDirectories, tempDirectory, mostTemporary, http } = options
  const directories = allowedDirectories && [
    ...allowedDirectories,
    tempDirectory,
    ...(http && readsHttp ? [http.base] : []),
  ]
  return [
    // Text without an offset, in a column of timestamps with a zone, is read as UTC, whatever the machine's zone is.
    `SET GLOBAL TimeZone = 'UTC'`,
    // As a setting with which the database is opened, it has no effect in DuckDB 1.5.
    ...(mostTemporary === undefined
      ? []
      : [`SET GLOBAL max_temp_directory_size = ${quoteLiteral(mostTemporary)}`]),
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

/** A size as DuckDB reads it, and not zero: a number with a unit, or a part of the machine's memory. */
export const MEMORY_LIMIT = /^(?=.*[1-9])\d+(\.\d+)? *(%|[KMGTkmgt]([iI]?[bB])?)$/

/** DuckDB counts bytes in 64 bits; beyond half of what they hold, no machine has memory. */
const MOST_BYTES = 2 ** 63

/** @throws EngineError `invalid_option` if DuckDB could not be opened with this limit */
export function checkMemoryLimit(limit: string | undefined): void {
  if (limit === undefined) return
  if (typeof limit === 'string' && MEMORY_LIMIT.test(limit) && bytesOf(limit) < MOST_BYTES) return
  throw invalidOption(
    `memoryLimit is ${JSON.stringify(limit)}; it must be a size with a unit, such as "4GiB" or "1536MB", or a part of the memory, such as "30%".`,
  )
}

/** The bytes that a limit is, with units in steps of 1,024. */
function bytesOf(limit: string): number {
  const unit = /%|[kmgt]/i.exec(limit)![0]
  if (unit === '%') return (totalmem() * Number.parseFloat(limit)) / 100
  return Number.parseFloat(limit) * 1024 ** (1 + 'kmgt'.indexOf(unit.toLowerCase()))
}

/** The limit as a size, also where it is a part of the machine's memory, which DuckDB takes only when it is open. */
export function sizeOfLimit(limit = '40%'): string {
  return limit.endsWith('%') ? `${Math.max(1, Math.round(bytesOf(limit) / 2 ** 20))}MiB` : limit
}

/**
 * The most that a DuckDB may keep on the disk, as it takes sizes: a share of what is free, so that no query fills the
 * disk and keeps others from writing.
 * @param most in bytes
 */
export function spillLimit(directory: string, share: number, most = Number.POSITIVE_INFINITY): string {
  const { bavail, bsize } = statfsSync(directory)
  return `${Math.max(1, Math.floor(Math.min(bavail * bsize * share, most) / 2 ** 20))}MiB`
}

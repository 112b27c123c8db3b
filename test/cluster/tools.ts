import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'

/** Where `npm run cluster:install` puts programs that are no packages of npm's. */
export const INSTALLED = resolve(import.meta.dirname, '../../node_modules/.cache/parquetry')

/** How to call a program, if it is installed here or on the machine. */
export function commandOf(name: string): string | undefined {
  const installed = join(INSTALLED, name)
  const command = existsSync(installed) ? installed : name
  return spawnSync(command, ['--version'], { stdio: 'ignore' }).status === 0 ? command : undefined
}

import { spawnSync } from 'node:child_process'

/** Runs a command to its end. Gives whether it did what it should; if not, says so. */
export function run(command: string, ...given: string[]): boolean {
  const { status, stderr, error } = spawnSync(command, given, { encoding: 'utf8' })
  if (status !== 0) console.error(`${command} ${given.join(' ')}\n${error?.message ?? stderr}`)
  return status === 0
}

import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { INSTALLED } from '../cluster/tools.ts'

/** Trino's server, which `npm run cluster:install -- --trino` brings, and a Java that it runs on. */
const HOME = join(INSTALLED, 'trino')
export const LEAST_JAVA = 24

interface Program {
  readonly java: string
  readonly home: string
}

/** Looks for the program. */
export function programOf(): Program | undefined {
  const javas = [process.env['JAVA_HOME'] ?? '', join(INSTALLED, 'java')].map((home) =>
    join(home, 'bin/java'),
  )
  const java = [...javas.filter((path) => existsSync(path)), 'java'].find(
    (command) => versionOf(command) >= LEAST_JAVA,
  )
  return java && existsSync(join(HOME, 'lib')) ? { java, home: HOME } : undefined
}

function versionOf(java: string): number {
  const { stderr } = spawnSync(java, ['-version'], { encoding: 'utf8' })
  return Number(/version "(\d+)/.exec(stderr ?? '')?.[1] ?? 0)
}

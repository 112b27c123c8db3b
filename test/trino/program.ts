import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { INSTALLED } from '../cluster/tools.ts'

/** Trino's server, which `npm run cluster:install -- --trino` brings, and a Java that it runs on. */
const HOME = join(INSTALLED, 'trino')
export const LEAST_JAVA = 24

/** What Trino compares values of a file with several at a time; where it lacks, one by one. A small Java lacks it. */
const VECTORS = 'jdk.incubator.vector'

interface Program {
  readonly java: string
  readonly home: string
  /** Options for Java, as its modules allow. */
  readonly flags: readonly string[]
}

/** Looks for the program. */
export function programOf(): Program | undefined {
  const javas = [process.env['JAVA_HOME'] ?? '', join(INSTALLED, 'java')].map((home) =>
    join(home, 'bin/java'),
  )
  const java = [...javas.filter((path) => existsSync(path)), 'java'].find(
    (command) => versionOf(command) >= LEAST_JAVA,
  )
  if (java === undefined || !existsSync(join(HOME, 'lib'))) return undefined
  const { stdout } = spawnSync(java, ['--list-modules'], { encoding: 'utf8' })
  return { java, home: HOME, flags: stdout.includes(VECTORS) ? [`--add-modules=${VECTORS}`] : [] }
}

function versionOf(java: string): number {
  const { stderr } = spawnSync(java, ['-version'], { encoding: 'utf8' })
  return Number(/version "(\d+)/.exec(stderr ?? '')?.[1] ?? 0)
}

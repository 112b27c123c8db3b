import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

/** A server in a process of its own over a new directory; both are gone when it is disposed of. */
export interface TemporaryServer extends AsyncDisposable {
  readonly url: string
  readonly key: string
  /** The temporary directory, for files of the caller's. */
  readonly directory: string
}

/**
 * Starts the command of this process a second time, as a server on a free port.
 * @param config settings as in a configuration file
 */
export async function temporaryServer(config: object): Promise<TemporaryServer> {
  const directory = mkdtempSync(join(tmpdir(), 'parquetry-'))
  const key = randomBytes(18).toString('base64url')
  const data = join(directory, 'data')
  const settings = join(directory, 'config.json')
  writeFileSync(settings, JSON.stringify(config))
  const args = ['--data', data, 'serve', '--port', '0']
  const child = spawn(process.execPath, [...process.execArgv, process.argv[1]!, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...process.env,
      PARQUETRY_CONFIG: settings,
      PARQUETRY_ROOT_KEY: key,
      PARQUETRY_LOG_LEVEL: 'silent',
    },
  })
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null && child.kill()) await once(child, 'exit')
    rmSync(directory, { recursive: true, force: true })
  }
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      const [, url] = /^Parquetry .*(http:\S+)/.exec(line) ?? []
      if (url !== undefined) return { url, key, directory, [Symbol.asyncDispose]: stop }
    }
    throw new Error('The server ended before it served.')
  } catch (error) {
    await stop()
    throw error
  }
}

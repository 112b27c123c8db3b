import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** The peers' packages on PyPI, pinned so that figures can be reproduced. */
export const VERSIONS = {
  'datap-rs': '0.8.6',
  roapi: '0.12.7',
  duckdb: '1.5.5',
  duckdb_extension_httpfs: '1.5.5',
  duckdb_extension_quack: '1.5.5',
} as const
export type Package = keyof typeof VERSIONS

/** A folder with Python programs, and the reason for each package that couldn't be installed. */
export interface Environment {
  /** The path of a program of the environment, such as `python`. */
  program(name: string): string
  readonly missing: Partial<Record<Package, string>>
}

/**
 * Makes a Python virtual environment in a folder and installs the peers. Never rejects: failures are reported in
 * `missing`.
 */
export async function makeEnvironment(folder: string): Promise<Environment> {
  const program = (name: string) => join(folder, 'bin', name)
  const missing: Partial<Record<Package, string>> = {}
  const packages = Object.keys(VERSIONS) as Package[]
  const installed = await run(program('python'), ['-m', 'pip', 'freeze']).catch(() => undefined)
  const present = new Set(installed?.stdout.split('\n'))
  try {
    if (!installed) await run('python3', ['-m', 'venv', folder])
  } catch (error) {
    for (const name of packages) missing[name] = `no environment of Python: ${reason(error)}`
    return { program, missing }
  }
  for (const name of packages) {
    if (present.has(`${name}==${VERSIONS[name]}`)) continue
    try {
      // Only wheels are installed, so that no foreign code is compiled here.
      const options = ['--quiet', '--disable-pip-version-check', '--only-binary', ':all:']
      await run(program('pip'), ['install', ...options, `${name}==${VERSIONS[name]}`])
    } catch (error) {
      missing[name] = `${name} ${VERSIONS[name]} couldn't be installed: ${reason(error)}`
    }
  }
  return { program, missing }
}

function reason(error: unknown): string {
  const text = (error as { stderr?: string }).stderr || (error as Error).message
  return text.trim().split('\n').at(-1)!
}

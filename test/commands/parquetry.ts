import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const bin = fileURLToPath(new URL('../../server/bin.js', import.meta.url))

export interface Called {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs the command as a shell would, with a text or bytes for its standard input. */
export function parquetry(
  args: readonly string[],
  input: string | Buffer = '',
  nodeArgs: readonly string[] = [],
  variables: Readonly<Record<string, string>> = {},
): Promise<Called> {
  const { NODE_OPTIONS: _, VITEST: __, PARQUETRY_SERVER: ___, PARQUETRY_KEY: ____, ...env } = process.env
  const child = spawn(process.execPath, [...nodeArgs, bin, ...args], { env: { ...env, ...variables } })
  const texts = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => (texts[name] += text))
  }
  child.stdin.on('error', () => undefined)
  child.stdin.end(input)
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, ...texts }))
  })
}

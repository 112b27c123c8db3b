import { type ChildProcess, spawn } from 'node:child_process'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Stands for a number of bytes: all of them have arrived. */
export const WHOLE = -1

/** What a reader is started with. */
export interface ReaderOptions {
  /** Threads of its DuckDB. */
  readonly threads?: number
  /** Bytes that it may have resident; over them it is ended. */
  readonly memory: number
  /** A folder of its own; it is there while the reader works. */
  readonly directory: string
  /** Its DuckDB opens files below these, and below its own folder, alone. */
  readonly folders: readonly string[]
}

const OPTIONS = 'PARQUETRY_READER'

/** The options of this process, which is a reader. */
export function readerOptions(): ReaderOptions {
  return JSON.parse(process.env[OPTIONS]!) as ReaderOptions
}

/** What bytes of a stranger, should they ever take a reader over, must not find in its environment. */
const SECRET = /SECRET|KEY|TOKEN|PASSWORD|CREDENTIAL|DATABASE|^AWS_/i

/** Address space is given out more generously than it is used; what counts is watched as it is used. */
const MOST_DATA = (memory: number): number => 2 * memory + 2 ** 30

/** Starts a reader's process: without secrets, without core dumps, and on Linux with a limit of its memory. */
export function startReader(options: ReaderOptions): ChildProcess {
  const main = fileURLToPath(new URL(`./main${extname(import.meta.url)}`, import.meta.url))
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !SECRET.test(name)))
  const [command, ...args] = limited([process.execPath, main], MOST_DATA(options.memory))
  return spawn(command!, args, {
    env: { ...env, [OPTIONS]: JSON.stringify(options) },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    // Keeps what JSON would lose: undefined, NaN, bytes.
    serialization: 'advanced',
    windowsHide: true,
  })
}

function limited(command: readonly string[], data: number): readonly string[] {
  // Elsewhere there is no such limit, or it has no effect.
  if (process.platform !== 'linux') return command
  const script = 'ulimit -c 0; ulimit -d "$1"; shift; exec "$@"'
  return ['/bin/sh', '-c', script, 'sh', String(Math.ceil(data / 1024)), ...command]
}

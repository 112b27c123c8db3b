import { type ChildProcess, spawn } from 'node:child_process'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { HttpOptions } from '../../duckdb/instance.ts'

/** The options with which a reader is started. */
export interface ReaderOptions {
  /** The number of threads of its DuckDB. */
  readonly threads?: number
  /** The most bytes of resident memory that it may use; it is killed if it uses more. */
  readonly memory: number
  /** How parts are encoded. */
  readonly encoding: 'plain' | 'compact'
  /** Its own folder, which exists while the reader works. */
  readonly directory: string
  /** Its DuckDB may open files only below these folders and below its own. */
  readonly folders: readonly string[]
  /** How its DuckDB reads parts over HTTP. */
  readonly http?: HttpOptions | undefined
  /** The program that it runs, without its extension; by default the one that reads uploads. */
  readonly program?: URL | undefined
}

const OPTIONS = 'PARQUETRY_READER'

/** The options of this process, which is a reader. */
export function readerOptions(): ReaderOptions {
  return JSON.parse(process.env[OPTIONS]!) as ReaderOptions
}

/** Variables that a reader's environment must not hold, in case a hostile upload ever takes the reader over. */
const SECRET = /SECRET|KEY|TOKEN|PASSWORD|CREDENTIAL|DATABASE|^AWS_/i

/**
 * The limit on the data of a reader's process. It is larger than the limit on memory because programs reserve more
 * address space than they use: with 1 GiB in place of 2, V8 ended most readers before they had read anything. The memory
 * in use is watched separately, by `ReaderProcess`.
 */
const MOST_DATA = (memory: number): number => 2 * memory + 2 ** 31

/** Starts a reader's process: without secrets, and on Linux without core dumps and with a limit on its memory. */
export function startReader({ program, ...options }: ReaderOptions): ChildProcess {
  const base = program ?? new URL('./main', import.meta.url)
  const main = fileURLToPath(base) + extname(import.meta.url)
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !SECRET.test(name)))
  const [command, ...args] = limited([process.execPath, main], MOST_DATA(options.memory))
  return spawn(command!, args, {
    env: { ...env, [OPTIONS]: JSON.stringify(options) },
    // The last pipe is for results that are bytes.
    stdio: ['ignore', 'ignore', 'pipe', 'ipc', ...(program ? (['pipe'] as const) : [])],
    // This form keeps undefined, NaN and bytes, which JSON would lose.
    serialization: 'advanced',
    windowsHide: true,
  })
}

function limited(command: readonly string[], data: number): readonly string[] {
  // Other systems have no such limit, or it has no effect there.
  if (process.platform !== 'linux') return command
  const script = 'ulimit -c 0; ulimit -d "$1"; shift; exec "$@"'
  return ['/bin/sh', '-c', script, 'sh', String(Math.ceil(data / 1024)), ...command]
}

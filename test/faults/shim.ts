import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Calls of the C library that can be made to fail; variants such as `pwrite64` and `unlinkat` go by these names. */
export type Call =
  | 'write'
  | 'pwrite'
  | 'fsync'
  | 'fdatasync'
  | 'rename'
  | 'unlink'
  | 'open'
  | 'ftruncate'
  | 'mmap'
  | 'read'
  | 'pread'
  | 'mkdir'

/** One fault. See README.md beside this file. */
export interface Rule {
  readonly calls: readonly Call[]
  /** Calls that fail as well, once the n-th of `calls` has come. */
  readonly andThen?: readonly Call[]
  /** Which call fails, from 1. */
  readonly nth: number
  readonly error: 'EIO' | 'ENOSPC' | 'EDQUOT' | 'EACCES' | 'EROFS' | 'ENOMEM' | 'EMFILE' | 'HALF' | 'KILL'
  /** It alone, or every one from it on. */
  readonly mode: 'once' | 'on'
  /** Of the file's path, as the shell writes patterns. */
  readonly path: string
}

/** A call that was seen while faults were armed. */
export interface Seen {
  readonly call: Call
  readonly outcome: 'passed' | 'failed' | 'killed'
  readonly path: string
}

/** undefined, with a warning, where this machine has no way to make calls fail. */
export function buildShim(): Shim | undefined {
  if (process.platform !== 'linux') {
    console.warn('The tests with injected faults are left out: they need Linux.')
    return undefined
  }
  const folder = mkdtempSync(join(tmpdir(), 'parquetry-faults-'))
  const library = join(folder, 'fault.so')
  try {
    const source = join(import.meta.dirname, 'fault.c')
    execFileSync('cc', ['-shared', '-fPIC', '-O1', '-o', library, source, '-ldl', '-lpthread'])
  } catch (error) {
    console.warn(`The tests with injected faults are left out: no C compiler (${(error as Error).message}).`)
    rmSync(folder, { recursive: true })
    return undefined
  }
  return new Shim(folder, library)
}

/** Longer than any program takes, even on a machine that does much else. */
const HANGS_MS = 120_000

/** Runs programs under injected faults. */
export class Shim implements Disposable {
  readonly #folder: string
  readonly #library: string
  #runs = 0

  constructor(folder: string, library: string) {
    this.#folder = folder
    this.#library = library
  }

  /**
   * Runs a program of ours until it ends. Faults begin when it makes the file that its environment names in FAULT_ARM.
   * Gives the JSON values that it printed, one a line, how it ended, and the calls that were seen.
   */
  async run(program: string, args: readonly string[], rules: readonly Rule[]): Promise<Ran> {
    this.#runs += 1
    const log = join(this.#folder, `${this.#runs}.log`)
    const arm = join(this.#folder, `${this.#runs}.armed`)
    const child = spawn(process.execPath, [program, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      // A program that hangs on a fault is a finding, which its signal tells.
      timeout: HANGS_MS,
      killSignal: 'SIGKILL',
      env: {
        ...process.env,
        LD_PRELOAD: this.#library,
        FAULTS: rules.map(ruleText).join(';'),
        FAULT_LOG: log,
        FAULT_ARM: arm,
      },
    })
    let output = ''
    let errors = ''
    child.stdout.on('data', (text) => (output += text))
    child.stderr.on('data', (text) => (errors += text))
    const [code, signal] = await new Promise<[number | null, string | null]>((resolve, reject) => {
      child.once('error', reject)
      child.once('close', (...end) => resolve(end))
    })
    const lines = output.split('\n').filter((line) => line !== '')
    const seen = callsIn(log)
    rmSync(log, { force: true })
    rmSync(arm, { force: true })
    return {
      told: lines.map((line) => JSON.parse(line) as Record<string, unknown>),
      code,
      signal,
      errors,
      seen,
    }
  }

  /** The environment of a program that fails by the rules in the file `arm`, as `armWith` writes them. */
  environment(arm: string, log: string): Readonly<Record<string, string>> {
    return { LD_PRELOAD: this.#library, FAULT_ARM: arm, FAULT_LOG: log }
  }

  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

export interface Ran {
  readonly told: readonly Record<string, unknown>[]
  readonly code: number | null
  readonly signal: string | null
  /** What it wrote to stderr. */
  readonly errors: string
  readonly seen: readonly Seen[]
}

/** Lets programs whose environment names the file begin to fail by these rules. Without the file they stop. */
export function armWith(arm: string, rules: readonly Rule[]): void {
  // A file that is written elsewhere and renamed is never seen half.
  writeFileSync(`${arm}.new`, rules.map(ruleText).join(';'))
  renameSync(`${arm}.new`, arm)
}

/** The calls in a log that the shim wrote. */
export function callsIn(log: string): Seen[] {
  if (!existsSync(log)) return []
  return readFileSync(log, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map(seenOf)
}

function ruleText({ calls, andThen = [], nth, error, mode, path }: Rule): string {
  const set = [calls, andThen].filter((some) => some.length > 0).map((some) => some.join('+'))
  return `${set.join(',')} ${nth} ${error} ${mode} ${path}`
}

function seenOf(line: string): Seen {
  const [call, outcome, ...path] = line.split(' ')
  return { call: call as Call, outcome: outcome as Seen['outcome'], path: path.join(' ') }
}

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** A program of others that reads our service. */
export interface Client {
  readonly name: string
  /** Fetches what the client needs; where it can't, the client is not run. */
  readonly install: (root: string) => Promise<unknown>
  readonly read: (root: string) => Promise<string>
  /** Lines that it must print. */
  readonly finds: readonly string[]
}

export const run = promisify(execFile)

/** Installing and building take their time on a busy machine. */
export const PATIENCE = { timeout: 600_000, maxBuffer: 64 << 20 }

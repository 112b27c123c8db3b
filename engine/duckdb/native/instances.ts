import { join } from 'node:path'
import { Lazy, Users } from '../../util/shared.ts'
import { type InstanceOptions, lockDown, openSettings } from '../instance.ts'
import type { DuckDb } from './ffi.ts'

/** Users' queries run here, so `allowedDirectories` is required: DuckDB must only read the folders of the rows. */
export type RunnerOptions = InstanceOptions &
  Required<Pick<InstanceOptions, 'allowedDirectories'>> & {
    /**
     * Told of the error after which DuckDB refuses every further statement; then another instance takes its place.
     * Without it, none does.
     */
    readonly onReplaced?: ((error: unknown) => void) | undefined
  }

/** A DuckDB that is open until nobody uses it. */
export interface Instance {
  readonly database: bigint
  readonly readsHttp: boolean
  readonly users: Users
  /** Ends the use by whoever opened it. */
  readonly leave: () => void
}

/** DuckDBs that are opened with the same options, each in place of the one before, whose statements go on to their end. */
export class Instances {
  readonly #duckdb: DuckDb
  readonly #options: RunnerOptions
  #current = new Lazy(() => this.#open())
  #instance: Instance | undefined
  #opened = 0

  constructor(duckdb: DuckDb, options: RunnerOptions) {
    this.#duckdb = duckdb
    this.#options = options
  }

  get(): Promise<Instance> {
    return this.#current.get()
  }

  /** Has further statements run in another one. False if they do so already. */
  replace(instance: Instance): boolean {
    if (this.#instance !== instance) return false
    this.#instance = undefined
    this.#current = new Lazy(() => this.#open())
    instance.leave()
    return true
  }

  async #open(): Promise<Instance> {
    const options = this.#opened === 0 ? this.#options : besideOthers(this.#options, this.#opened)
    const { database, readsHttp } = await openDatabase(this.#duckdb, options)
    this.#opened++
    const users = new Users(() => this.#duckdb.close(database))
    this.#instance = { database, readsHttp, users, leave: users.enter() }
    return this.#instance
  }

  async close(): Promise<void> {
    ;(await this.#current.present())?.leave()
  }
}

/** Two instances must not write to one folder: their temporary files have the same names. */
function besideOthers(options: RunnerOptions, number: number): RunnerOptions {
  const { allowedDirectories, tempDirectory } = options
  return {
    ...options,
    tempDirectory: join(tempDirectory, `${number}`),
    allowedDirectories: [...allowedDirectories, tempDirectory],
  }
}

interface Opened {
  readonly database: bigint
  readonly readsHttp: boolean
}

async function openDatabase(duckdb: DuckDb, options: RunnerOptions): Promise<Opened> {
  const database = duckdb.open(openSettings(options))
  try {
    const connection = duckdb.connect(database)
    try {
      return { database, readsHttp: await lockDown(options, (sql) => duckdb.run(connection, sql)) }
    } finally {
      await duckdb.disconnect(connection)
    }
  } catch (error) {
    duckdb.close(database)
    throw error
  }
}

/**
 * Light statements read files only. The system has the content of these in memory, and so has the other DuckDB, so a
 * third copy would only take room.
 */
export function lightOptions(options: RunnerOptions): RunnerOptions {
  const tempDirectory = join(options.tempDirectory, 'light')
  return { ...options, threads: 1, tempDirectory, http: undefined, footersOnly: true }
}

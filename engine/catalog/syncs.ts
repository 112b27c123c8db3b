import { closeSync, fdatasync, openSync } from 'node:fs'
import { promisify } from 'node:util'
import { guard, type SqliteConnection } from './connection.ts'
import type { Doubt } from './doubt.ts'

const sync = promisify(fdatasync)

interface Waiting extends PromiseWithResolvers<void> {
  readonly onVisible: () => void
}

/**
 * Syncs the log of an SQLite database off the main thread: one sync for all commits that have waited for it. Until a
 * commit is on disk, readers see the state before it, so that nobody acts on rows that a power cut would take back.
 *
 * Two connections take turns: one holds the state that is on disk, the other that which is being synced.
 */
export class Syncs {
  readonly #log: string
  readonly #doubt: Doubt
  readonly #open: () => SqliteConnection
  #connections: [SqliteConnection, SqliteConnection] | undefined
  #file: number | undefined
  /** Which of the connections holds the state on disk; undefined while all that is committed is there. */
  #held: 0 | 1 | undefined
  #waiting: Waiting[] = []
  #running: Promise<void> | undefined

  /**
   * @param file of the database
   * @param doubt begins when a sync fails: readers keep the last state that is certain
   * @param open opens a connection that only reads
   */
  constructor(file: string, doubt: Doubt, open: () => SqliteConnection) {
    this.#log = `${file}-wal`
    this.#doubt = doubt
    this.#open = open
  }

  /** The connection that sees the state on disk, if something is committed that may not be there yet. */
  get held(): SqliteConnection | undefined {
    return this.#held === undefined ? undefined : this.#readers()[this.#held]
  }

  /** A connection that sees nothing of an open transaction. */
  get reader(): SqliteConnection {
    return this.#readers()[this.#held ?? 0]
  }

  /** Makes readers stay at the present state. Called before a commit. */
  hold(): void {
    if (this.#held !== undefined) return
    snapshot(this.#readers()[0])
    this.#held = 0
  }

  /** Lets readers go on to the newest state after a commit that failed, if nothing else waits. */
  release(): void {
    if (this.#held === undefined || this.#running || this.#doubt.exists) return
    letGo(this.#readers()[this.#held])
    this.#held = undefined
  }

  /**
   * Waits until what has been committed is on disk and readers see it. Called at once after a commit.
   * @param onVisible called when readers see it, before anybody has read it
   * @throws EngineError `outcome_unknown`, `storage_full`
   */
  synced(onVisible: () => void): Promise<void> {
    const waiting = { ...Promise.withResolvers<void>(), onVisible }
    this.#waiting.push(waiting)
    this.#running ??= this.#run()
    return waiting.promise
  }

  /** Waits until nothing is being synced. */
  async drained(): Promise<void> {
    await this.#running
  }

  /** Closes the connections when nothing is being synced any more. */
  async close(): Promise<void> {
    await this.drained()
    for (const connection of this.#connections ?? []) connection.close()
    if (this.#file !== undefined) closeSync(this.#file)
    this.#file = undefined
  }

  /** Never throws. */
  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      const group = this.#waiting.splice(0)
      try {
        const next = this.#held === 0 ? 1 : 0
        snapshot(this.#readers()[next])
        // SQLite locks other files, so closing this one at the end takes no lock away.
        this.#file ??= openSync(this.#log, 'r+')
        await sync(this.#file)
        letGo(this.#readers()[next === 0 ? 1 : 0])
        this.#held = next
      } catch (error) {
        const unknown = this.#doubt.begin(error)
        for (const { reject } of [...group, ...this.#waiting.splice(0)]) reject(unknown)
        break
      }
      for (const { onVisible, resolve } of group) {
        onVisible()
        resolve()
      }
    }
    this.#running = undefined
    this.release()
  }

  #readers(): [SqliteConnection, SqliteConnection] {
    this.#connections ??= [guard(this.#open), guard(this.#open)]
    return this.#connections
  }
}

/** Makes a connection stay at the present state. A read that fails is tried again, because no caller could. */
function snapshot(connection: SqliteConnection, again = true): void {
  try {
    connection.exec('BEGIN; SELECT 1 FROM sqlite_schema')
  } catch (error) {
    letGo(connection)
    if (!again) throw error
    snapshot(connection, false)
  }
}

/** Lets a connection see the newest state. SQLite may have ended its transaction because it could not read. */
function letGo(connection: SqliteConnection): void {
  if (connection.isTransaction) connection.exec('COMMIT')
}

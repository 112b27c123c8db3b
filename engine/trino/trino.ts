import type { Part, Version } from '../catalog/records.ts'
import type { Batch } from '../duckdb/batch.ts'
import type { Cursor, Delegate } from '../duckdb/cursor.ts'
import { cancelled } from '../duckdb/errors.ts'
import { isNumbered } from '../iceberg/table-schema.ts'
import { bytesOf } from '../plan/parts.ts'
import type { Scan } from '../plan/plan.ts'
import type { RemoteEngine, RemoteTable } from '../reading/remote.ts'
import { shownFailure, TrinoClient, TrinoFailure } from './client.ts'
import { trinoQuery } from './trino-query.ts'

/** After how many failures in a row Trino is not asked, and for how long. */
const MOST_FAILURES = 3
const PAUSE_MS = 60_000

/** How often Trino was asked, and what came of it. */
export interface TrinoStats {
  readonly answered: number
  /** Failures after which DuckDB was asked, and those after which there was no time left for that. */
  readonly repeated: number
  readonly failed: number
  readonly running: number
}

/** A Trino that reads the parts through our Iceberg catalog. */
export class Trino implements RemoteEngine {
  readonly #client: TrinoClient
  readonly #settings: ReturnType<typeof trinoSettings>
  readonly #onFailure: (cause: unknown) => void
  #failures = 0
  #pausedUntil = 0
  readonly #stats = { answered: 0, repeated: 0, failed: 0, running: 0 }

  /**
   * @param threads of DuckDB on this machine
   * @param onFailure called with each failure of Trino
   */
  constructor(options: TrinoOptions, threads: number, onFailure: (cause: unknown) => void) {
    this.#settings = trinoSettings(options, threads)
    this.#client = new TrinoClient(this.#settings.url)
    this.#onFailure = onFailure
  }

  get stats(): TrinoStats {
    return { ...this.#stats }
  }

  table(version: Version, fileOf: (part: Part) => string, name: () => Promise<string>): RemoteTable {
    const table = {
      minBytes: this.#settings.minBytes,
      maxRows: this.#settings.maxRows,
      name,
      bytesOf: (scan: Scan, columns: readonly number[]) => {
        if (scan.kind !== 'slices' || !isNumbered(version)) return undefined
        const files = new Set(scan.slices.map(({ file }) => file))
        const parts = version.parts.filter((part) => files.has(fileOf(part)))
        return parts.reduce((sum, part) => sum + bytesOf(part, columns), 0)
      },
      delegate: (sql: string, fallible: string | undefined) => this.#delegate(sql, fallible),
    }
    return { query: (plan, source, options, now) => trinoQuery(table, plan, source, options, now) }
  }

  /** Runs SQL, which has the values of its parameters in it. If that fails, DuckDB is asked, unless it is late. */
  #delegate(sql: string, fallible: string | undefined): Delegate {
    const { maxRows, retryWithin } = this.#settings
    return async (columns, signal) => {
      const began = performance.now()
      if (began < this.#pausedUntil) return undefined
      this.#stats.running++
      try {
        const types = columns.map(({ type }) => type)
        const batches = await this.#client.answer(sql, { types, maxRows, signal })
        this.#stats.answered++
        this.#failures = 0
        return answered(batches)
      } catch (error) {
        if (signal?.aborted) throw cancelled(signal)
        this.#onFailure(error)
        this.#count(error)
        if (performance.now() - began > retryWithin) {
          this.#stats.failed++
          throw shownFailure(error, fallible)
        }
        this.#stats.repeated++
        return undefined
      } finally {
        this.#stats.running--
      }
    }
  }

  /** After a pause, the next failure begins another one. */
  #count(error: unknown): void {
    // The others are about the question.
    if (error instanceof TrinoFailure && error.kind !== 'busy' && error.kind !== 'broken') return
    if (++this.#failures >= MOST_FAILURES) this.#pausedUntil = performance.now() + PAUSE_MS
  }

  close(): Promise<void> {
    return this.#client.close()
  }
}

/** The rows of an answer that is complete. */
function answered(batches: Batch[]): Cursor {
  let isInterrupted = false
  return {
    async fetch() {
      if (isInterrupted) throw cancelled(undefined)
      const batch = batches.shift()
      return batch && { kind: 'batch', rows: batch.rows, batch }
    },
    decode(chunk) {
      if (chunk.kind !== 'batch') throw new TypeError('The chunk is of another cursor')
      return chunk.batch
    },
    discard() {},
    interrupt() {
      isInterrupted = true
    },
    async close() {
      batches.length = 0
    },
  }
}

export interface TrinoOptions {
  /** `http://user:password@host:port/catalog`; Trino's catalog of that name is ours, in its plain form. */
  readonly url: string
  /**
   * From how many compressed bytes of the columns used a question is large. By default where Trino begins to be quicker
   * than this machine if `cores` is given, and 4 GiB if it isn't.
   */
  readonly minBytes?: number | undefined
  /** How many cores the workers of Trino have together. */
  readonly cores?: number | undefined
  /** The most rows that are taken from it; 100,000 by default. */
  readonly maxRows?: number | undefined
  /** How long after the question a failure of Trino may come so that DuckDB is asked; 15,000 ms by default. */
  readonly retryWithin?: number | undefined
}

const MIN_BYTES = 4 * 2 ** 30
const MAX_ROWS = 100_000
const RETRY_WITHIN_MS = 15_000

/** The options with their defaults. @param threads of DuckDB on this machine */
function trinoSettings(options: TrinoOptions, threads: number) {
  const { url, cores, maxRows = MAX_ROWS, retryWithin = RETRY_WITHIN_MS } = options
  const minBytes = options.minBytes ?? (cores === undefined ? MIN_BYTES : payingBytes(cores, threads))
  return { url, minBytes, maxRows, retryWithin }
}

/*
 * Measured with `bench/trino.ts`: 60,000,000 rows, Trino 476 with workers of one core each, DuckDB with one thread.
 * Over 1, 4, 16 and 60 million rows, a second worker divides Trino's time by 0.9, 1.1, 1.2 and 1.8 (geometric
 * means of counts, a filter and groups): only what comes after the start is shared by the cores.
 */

/** What a question costs Trino before it reads anything, in seconds. */
const START = 0.5
/** Seconds that one core of DuckDB takes for a gigabyte of compressed columns. */
const PER_GIGABYTE = 5
/** Cores that Trino needs to be as quick as one of DuckDB's. */
const CORES_FOR_ONE = 4

/**
 * From how many compressed bytes on a Trino is quicker than DuckDB; Infinity if it never is.
 * @param cores of Trino's workers together
 * @param threads of DuckDB on this machine
 */
export function payingBytes(cores: number, threads: number): number {
  const saved = PER_GIGABYTE / threads - (PER_GIGABYTE * CORES_FOR_ONE) / cores
  return saved > 0 ? Math.round((START / saved) * 1e9) : Number.POSITIVE_INFINITY
}

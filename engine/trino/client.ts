import type { Batch } from '../duckdb/batch.ts'
import type { ColumnType } from '../types/index.ts'
import { failureOf, type TrinoError, TrinoFailure } from './failure.ts'
import { BEGIN_MS, TrinoAddress, TrinoRequests } from './requests.ts'
import { batchesOf } from './trino-values.ts'

/** The most bytes of an answer, unpacked. All of it is in memory at once. */
const MOST_BYTES = 256 << 20

/** States of a query that has not begun. */
const WAITING: ReadonlySet<string> = new Set(['QUEUED', 'WAITING_FOR_RESOURCES'])

type Rows = readonly (readonly unknown[])[]

/** A page of Trino's protocol (https://trino.io/docs/current/develop/client-protocol.html). */
interface Page {
  readonly nextUri?: string
  readonly stats?: { readonly state?: string }
  readonly columns?: unknown
  readonly data?: Rows
  readonly error?: TrinoError
}

export interface AnswerOptions {
  readonly types: readonly ColumnType[]
  /** With more rows, or too many bytes, the query is ended. @throws TrinoFailure `many` */
  readonly maxRows: number
  readonly signal?: AbortSignal | undefined
}

/** Asks a Trino. An answer is given when all of it is there, so there is never half of one. */
export class TrinoClient {
  readonly #address: TrinoAddress
  readonly #background = new Set<Promise<unknown>>()
  readonly #closing = new AbortController()
  readonly #maxBytes: number

  /**
   * @param url `http://user:password@host:port/catalog`
   * @param maxBytes the most bytes of an answer
   */
  constructor(url: string, maxBytes: number = MOST_BYTES) {
    this.#address = new TrinoAddress(url)
    this.#maxBytes = maxBytes
  }

  /**
   * Runs SQL and gives its rows. When the signal is aborted, the query is ended in Trino as well.
   * @throws TrinoFailure, or whatever else made it fail
   */
  async answer(sql: string, { types, maxRows, signal }: AnswerOptions): Promise<Batch[]> {
    const ending = this.#closing.signal
    const either = signal ? AbortSignal.any([signal, ending]) : ending
    const requests = new TrinoRequests(this.#address, either, this.#maxBytes, (work) => this.#watch(work))
    const pages: Rows[] = []
    let rows = 0
    let next: string | undefined
    let answered = false
    const began = performance.now()
    try {
      let page = pageOf(await requests.statement(sql))
      for (;;) {
        next = page.nextUri
        if (page.error) throw failureOf(page.error)
        if (WAITING.has(page.stats?.state ?? '') && performance.now() - began > BEGIN_MS) {
          throw new TrinoFailure('busy', `the query is still ${page.stats!.state}`)
        }
        answered ||= page.columns !== undefined || page.data !== undefined
        if (page.data) {
          if (!Array.isArray(page.data)) throw new TrinoFailure('broken', 'the data of an answer are no rows')
          pages.push(page.data)
          rows += page.data.length
          if (rows > maxRows) throw new TrinoFailure('many', `more than ${maxRows} rows`)
        }
        if (next === undefined) break
        page = pageOf(await requests.next(next))
      }
      // Even an answer without rows has columns.
      if (!answered) throw new TrinoFailure('broken', 'the query ended without an answer')
      return batchesOf(pages.flat(), types)
    } catch (error) {
      if (next !== undefined) requests.cancel(next)
      throw error
    }
  }

  #watch(work: Promise<unknown>): void {
    this.#background.add(work)
    void work.finally(() => this.#background.delete(work))
  }

  /** Ends everything under way. */
  async close(): Promise<void> {
    this.#closing.abort()
    await Promise.allSettled(this.#background)
  }
}

function pageOf(json: unknown): Page {
  if (typeof json === 'object' && json !== null) return json as Page
  throw new TrinoFailure('broken', 'an answer is no object')
}

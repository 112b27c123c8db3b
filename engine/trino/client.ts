import type { Batch } from '../duckdb/batch.ts'
import type { ColumnType } from '../types/index.ts'
import { failureOf, type TrinoError, TrinoFailure } from './failure.ts'
import { TrinoAddress, TrinoRequests } from './requests.ts'
import { type Data, type Rows, rowsOf } from './spooled.ts'
import { batchesOf } from './trino-values.ts'

/** The most bytes of an answer, unpacked. All of it is in memory at once. */
const MOST_BYTES = 256 << 20

/** A page of Trino's protocol (https://trino.io/docs/current/develop/client-protocol.html). */
interface Page {
  readonly nextUri?: string
  readonly data?: Data
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
    const pages: Promise<Rows>[] = []
    let rows = 0
    let failure: unknown
    let next: string | undefined
    try {
      let page = pageOf(await requests.statement(sql))
      for (;;) {
        next = page.nextUri
        if (page.error) throw failureOf(page.error)
        if (failure !== undefined) throw failure
        if (page.data) {
          // Segments are fetched while Trino goes on.
          const reading = rowsOf(page.data, requests).then((some) => {
            rows += some.length
            if (rows > maxRows) throw new TrinoFailure('many', `more than ${maxRows} rows`)
            return some
          })
          reading.catch((error) => (failure ??= error))
          pages.push(reading)
        }
        if (next === undefined) break
        page = pageOf(await requests.next(next))
      }
      return batchesOf((await Promise.all(pages)).flat(), types)
    } catch (error) {
      if (next !== undefined) requests.cancel(next)
      await Promise.allSettled(pages)
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

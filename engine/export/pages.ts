import { LRUCache } from 'lru-cache'
import type { Chunk, Cursor, StartOptions } from '../duckdb/cursor.ts'
import type { Runner } from '../duckdb/native/runner.ts'
import type { Page } from '../plan/page.ts'

export interface HeldPage extends Page {
  /** Keeps what the statement reads readable until the returned function is called. */
  readonly hold: () => () => void
}

/**
 * The rows of a page: of the statement that read the page before, if it still waits, or of a new one. Undefined if no
 * page follows, so that the usual statement is as good.
 */
export async function openPage(
  { runner, waiting }: { readonly runner: Runner; readonly waiting: WaitingPages },
  page: HeldPage,
  options: StartOptions,
): Promise<Cursor | undefined> {
  const found = waiting.get(page.name)
  // Whoever takes it has it for itself.
  waiting.delete(page.name)
  if (found) return new PageCursor(found, page, waiting)
  if (page.next === undefined) return undefined
  const release = page.hold()
  try {
    const cursor = await runner.start(page.statement(), options)
    return new PageCursor({ cursor, release, rest: undefined }, page, waiting)
  } catch (error) {
    release()
    throw error
  }
}

/** A statement that is read in pages. */
interface PagedStatement {
  readonly cursor: Cursor
  readonly release: () => void
  /** The rows of a chunk that was cut at the end of a page. */
  rest: Chunk | undefined
}

export async function endStatement({ cursor, rest, release }: PagedStatement): Promise<void> {
  if (rest) cursor.discard(rest)
  await cursor.close()
  release()
}

/** Statements that wait some seconds for the request for their next page, by its name. */
export type WaitingPages = ReturnType<typeof waitingPages>

export function waitingPages() {
  return new LRUCache<string, PagedStatement>({
    max: 8,
    ttl: 5_000,
    ttlAutopurge: true,
    dispose(statement, _, reason) {
      if (reason !== 'delete') void endStatement(statement)
    },
  })
}

/** The rows of one page. When it is closed, its statement waits for who asks for the next page, or ends. */
class PageCursor implements Cursor {
  readonly #statement: PagedStatement
  readonly #page: Page
  readonly #waiting: WaitingPages
  #left: number
  #ended = false
  #closed = false

  constructor(statement: PagedStatement, page: Page, waiting: WaitingPages) {
    this.#statement = statement
    this.#page = page
    this.#waiting = waiting
    this.#left = page.rows
  }

  async fetch(): Promise<Chunk | undefined> {
    if (this.#left === 0) return undefined
    const { cursor, rest } = this.#statement
    this.#statement.rest = undefined
    const chunk = rest ?? (await cursor.fetch())
    const rows = Math.min(chunk?.rows ?? 0, this.#left)
    this.#left -= rows
    if (!chunk) this.#ended = true
    if (!chunk || rows === chunk.rows) return chunk
    this.#statement.rest = cursor.cut!(chunk, rows)
    return { ...chunk, rows }
  }

  /** Workers fetch no pages, because a page may end within a chunk. */
  handle(): undefined {
    return undefined
  }

  decode: Cursor['decode'] = (chunk, arena) => this.#statement.cursor.decode(chunk, arena)
  discard: Cursor['discard'] = (chunk) => this.#statement.cursor.discard(chunk)

  /** Of a page whose rows are all there, nothing runs, and the statement goes on with the next page. */
  interrupt(): void {
    if (this.#left > 0) this.#statement.cursor.interrupt()
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    const { next } = this.#page
    if (this.#left > 0 || this.#ended || next === undefined) await endStatement(this.#statement)
    else this.#waiting.set(next, this.#statement)
  }
}

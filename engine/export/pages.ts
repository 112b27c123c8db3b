import type { Chunk, Cursor, StartOptions } from '../duckdb/cursor.ts'
import type { Runner } from '../duckdb/native/runner.ts'
import type { Page } from '../plan/page.ts'

/** How long a statement waits for the request for its next page, and how many wait at once. */
const WAIT_MS = 5_000
const MOST_WAITING = 8

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
  const found = waiting.take(page.name)
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

async function end({ cursor, rest, release }: PagedStatement): Promise<void> {
  if (rest) cursor.discard(rest)
  await cursor.close()
  release()
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
    if (this.#left > 0 || this.#ended || next === undefined) await end(this.#statement)
    else this.#waiting.leave(next, this.#statement)
  }
}

/** Statements that wait for the request for their next page, by its name. */
export class WaitingPages {
  readonly #waiting = new Map<
    string,
    { readonly statement: PagedStatement; readonly timer: NodeJS.Timeout }
  >()

  /** The statement that waits for this page. The caller then has it for itself. */
  take(name: string): PagedStatement | undefined {
    const found = this.#waiting.get(name)
    if (!found) return undefined
    clearTimeout(found.timer)
    this.#waiting.delete(name)
    return found.statement
  }

  /** Keeps a statement for some seconds. */
  leave(name: string, statement: PagedStatement): void {
    void this.#end(name)
    const timer = setTimeout(() => void this.#end(name), WAIT_MS).unref()
    this.#waiting.set(name, { statement, timer })
    const [oldest] = this.#waiting.keys()
    if (this.#waiting.size > MOST_WAITING) void this.#end(oldest!)
  }

  async #end(name: string): Promise<void> {
    const statement = this.take(name)
    if (statement) await end(statement)
  }

  async close(): Promise<void> {
    await Promise.all([...this.#waiting.keys()].map((name) => this.#end(name)))
  }
}

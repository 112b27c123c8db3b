import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Chunk, Cursor, StartOptions } from '../duckdb/cursor.ts'
import type { Runner } from '../duckdb/native/runner.ts'
import { type Plan, type PlanSource, planQuery, type QueryOptions } from '../plan/plan.ts'
import { rowsStatement } from '../plan/statements.ts'
import { withoutRowNumbers } from '../plan/view.ts'
import type { Format, Statement } from '../types/index.ts'

/** A page of rows that are probably all read, one page after another. */
export interface Page {
  /** The most rows of the page. */
  readonly rows: number
  /** Names the rows from this page on. */
  readonly name: string
  /** Names the rows behind this page; undefined if the same statement doesn't read them. */
  readonly next: string | undefined
  /** The statement of the rows from this page on. Its columns are those of the page. */
  readonly statement: () => Statement
  /** Keeps what the statement reads readable until the returned function is called. */
  readonly hold: () => () => void
}

interface PagedRows {
  readonly source: PlanSource
  /** Identifies the rows of the source. */
  readonly identity: string
  /**
   * Whether parts may have to be fetched. The statement of a query without a filter then ends with the last part that
   * the page needs.
   */
  readonly fetches?: boolean
  /** What now() returned in the plan. */
  readonly now: Date
  readonly hold: Page['hold']
}

/**
 * The page that a plan's window is; undefined if its rows can't be read on: sorted or aggregated rows would have to be
 * kept in memory between two pages.
 */
export function pageOf(
  { filter, order, steps, columns, result }: Plan,
  { source, identity, fetches = false, now, hold }: PagedRows,
  { skip = 0, top, ...others }: QueryOptions,
  format: Format,
): Page | undefined {
  if (!top || order.length > 0 || steps.length > 0) return undefined
  const end = filter ? undefined : endOfStatement(source, skip + (result ?? top), fetches)
  const question = createHash('sha256')
    .update(JSON.stringify([identity, format, columns, filter, end]))
    .digest('base64')
  const next = skip + top
  // If a part begins within the next page, another statement reads that page.
  const isRead = end === undefined || (end === source.rows ? next < end : next + top <= end)
  return {
    hold,
    rows: top,
    name: `${question} ${skip}`,
    next: isRead ? `${question} ${next}` : undefined,
    statement: () => {
      const window = { skip, ...(end !== undefined && { top: end - skip }) }
      const plan = planQuery(source, { ...others, ...window }, { now })
      return rowsStatement((format === 'json' && withoutRowNumbers(plan)?.plan) || plan, undefined)
    },
  }
}

/** Where a statement that reads at least the rows before `row` ends; undefined if the source doesn't know its rows. */
function endOfStatement(source: PlanSource, row: number, fetches: boolean): number | undefined {
  const { rows } = source
  if (rows === undefined || !fetches) return rows
  const scan = source.scan(0, rows)
  const first = scan.kind === 'slices' ? scan.slices.find((slice) => slice.first >= row)?.first : undefined
  return first ?? rows
}

/**
 * The rows of a page: of the statement that read the page before, if it still waits, or of a new one. Undefined if no
 * page follows, so that the usual statement is as good.
 */
export async function openPage(
  { runner, waiting }: { readonly runner: Runner; readonly waiting: WaitingPages },
  page: Page,
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

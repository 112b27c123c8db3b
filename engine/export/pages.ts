import { cancelled } from '../duckdb/errors.ts'
import type { Source, StartOptions } from '../duckdb/source.ts'
import type { PageOfRows } from '../plan/page.ts'
import type { Statement } from '../types/index.ts'
import type { WorkerPool } from './dispatch.ts'
import type { Recipe } from './encode.ts'
import type { Encoder } from './formats/encoder.ts'
import { openEncoder } from './formats/index.ts'
import { Production } from './production.ts'
import { Run } from './runs.ts'

/** How long a page waits for the request for it, and how many wait at once. */
const WAIT_MS = 5_000
const MOST_WAITING = 8

/** What all exports of an executor share. */
export interface Surroundings {
  readonly source: Source
  readonly pool: WorkerPool
  readonly waiting: WaitingPages
  /** The exports that have begun and not ended. */
  readonly running: Set<AsyncDisposable>
}

/** A page of rows that are probably all read, one page after another. */
export interface Page extends PageOfRows {
  /** The statement of the rows from this page on. Its columns are those of the page. */
  readonly statement: () => Statement
  /** Keeps what the statement reads readable until the returned function is called. */
  readonly hold: () => () => void
}

/**
 * A page that is fetched and encoded. When all of its rows were fetched, the threads begin with the next page, so that
 * they needn't wait until the client has read this one and asks for the next.
 */
class PageProduction {
  readonly name: string
  readonly production: Production
  readonly #open: () => Promise<PageProduction> | undefined
  readonly #waiting: WaitingPages
  #asked: boolean
  #fetched = false
  #next: Promise<PageProduction> | undefined

  private constructor(
    around: Surroundings,
    run: Run,
    page: PageOfRows,
    recipe: Recipe,
    options: { encoder: Encoder; rowBytes: number | undefined; ahead: boolean },
  ) {
    this.name = nameOf(page, recipe)
    this.#waiting = around.waiting
    this.#asked = !options.ahead
    this.#open = () => {
      const next = page.next()
      const { rowBytes } = this.production.pieces
      return next && PageProduction.open(around, run, next, after(recipe, page.rows), rowBytes, true)
    }
    const cursor = run.page(page.rows, () => {
      this.#fetched = true
      this.#goOn()
    })
    this.production = new Production(cursor, around, recipe, options)
  }

  /** @param ahead whether nobody has asked for the page yet, see `asked` */
  static async open(
    around: Surroundings,
    run: Run,
    page: PageOfRows,
    recipe: Recipe,
    rowBytes: number | undefined,
    ahead: boolean,
  ): Promise<PageProduction> {
    const encoder = await openEncoder(recipe.format, recipe.columns, recipe.options)
    return new PageProduction(around, run, page, recipe, { encoder, rowBytes, ahead })
  }

  /** Call this before the first piece is read. */
  asked(): void {
    this.#asked = true
    this.production.asked()
    this.#goOn()
  }

  /** A page that nobody has asked for begins no other: one page at most is ahead. */
  #goOn(): void {
    if (this.#asked && this.#fetched) this.#next ??= this.#open()
  }

  /** Ends everything under way. The next page, if it was begun, then waits for somebody who asks for it. */
  async close(reason: unknown): Promise<void> {
    // Until the pieces are stopped, the next page may still be begun.
    await this.production.pieces.stop(reason)
    const next = await this.#next
    if (next) this.#waiting.leave(next)
    await this.production.close(reason)
  }
}

/**
 * Produces a page: the one that was begun when the page before had been fetched, or a new one; undefined if no page
 * follows and the usual statement is as good.
 */
export async function pageProduction(
  around: Surroundings,
  page: Page,
  recipe: Recipe,
  options: StartOptions,
): Promise<Pick<Production, 'pieces' | 'close'> | undefined> {
  let found = around.waiting.take(nameOf(page, recipe))
  found?.asked()
  if (!found) {
    if (!page.next() || !around.source.cuts) return undefined
    const release = page.hold()
    let run: Run
    try {
      run = new Run(await around.source.start(page.statement(), options), release)
    } catch (error) {
      release()
      throw error
    }
    found = await PageProduction.open(around, run, page, recipe, options.rowBytes, false)
  }
  const going = found
  return { pieces: going.production.pieces, close: (reason) => going.close(reason) }
}

/** Pages that wait for the request for them, by their names. */
export class WaitingPages {
  readonly #waiting = new Map<string, { readonly page: PageProduction; readonly timer: NodeJS.Timeout }>()

  get size(): number {
    return this.#waiting.size
  }

  /** The page of this name, if one waits. The caller then has it for itself. */
  take(name: string): PageProduction | undefined {
    const found = this.#waiting.get(name)
    if (!found) return undefined
    clearTimeout(found.timer)
    this.#waiting.delete(name)
    return found.page
  }

  /** Keeps a page for some seconds. */
  leave(page: PageProduction): void {
    const { name } = page
    void this.#end(name)
    const timer = setTimeout(() => void this.#end(name), WAIT_MS).unref()
    this.#waiting.set(name, { page, timer })
    const [oldest] = this.#waiting.keys()
    if (this.#waiting.size > MOST_WAITING) void this.#end(oldest!)
  }

  async #end(name: string): Promise<void> {
    await this.take(name)?.close(cancelled(undefined))
  }

  async close(): Promise<void> {
    await Promise.all([...this.#waiting.keys()].map((name) => this.#end(name)))
  }
}

/** The bytes of a page depend on its rows and on the recipe. */
function nameOf({ name }: PageOfRows, recipe: Recipe): string {
  return `${name} ${JSON.stringify(recipe, (_, value) => (value instanceof Map ? [...value] : value))}`
}

/** The recipe for the rows that begin `rows` rows later. */
function after(recipe: Recipe, rows: number): Recipe {
  const { numbers } = recipe.options
  if (!numbers) return recipe
  return { ...recipe, options: { ...recipe.options, numbers: { ...numbers, first: numbers.first + rows } } }
}

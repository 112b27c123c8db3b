import type { RecordBatch } from 'apache-arrow'
import { EngineError } from './errors.ts'
import { isFew } from './export/few.ts'
import { type EncodeOptions, encodeOptions } from './export/formats/encoder.ts'
import type { EncodedFormat } from './export/formats/index.ts'
import { delivered, heldBack } from './export/held-back.ts'
import type { ByteStream, Page } from './export/index.ts'
import { nothingIn } from './export/nothing.ts'
import { runtimeFilterError } from './filter/index.ts'
import { copies } from './plan/copies.ts'
import { etagOf } from './plan/etag.ts'
import { explanation, partsRead } from './plan/explain.ts'
import type { QueryOptions } from './plan/options.ts'
import { pageOf } from './plan/page.ts'
import { type Plan, planQuery, resultRows } from './plan/plan.ts'
import { type Reach, reachOf } from './plan/reach.ts'
import {
  countStatement,
  type Position,
  planAt,
  positionsStatement,
  rowsStatement,
} from './plan/statements.ts'
import { withoutRowNumbers } from './plan/view.ts'
import type { QueryContext } from './query-context.ts'
import { type BytesOptions, checkBytes, type PagedOption, type RunOptions } from './run-options.ts'
import { TrinoRoute } from './trino/index.ts'
import type { Format, Statement } from './types/index.ts'
import { inBatches, objectMaker } from './util/objects.ts'
import { writeWhole } from './util/whole-file.ts'

/** How many more rows than wanted are looked for. Each may cost a vector of all columns, so they are few. */
const LOOK_AHEAD = 32

/** Releases the leases of queries that were garbage-collected without having been disposed. */
const forgotten = new FinalizationRegistry((release: () => void) => release())

/**
 * One query, from text to rows:
 *
 *   options ── parse, check ──> plan ── SQL ──> statement ── run ──> Arrow batches ── encode ──> bytes
 *
 * The constructor parses the filter, checks columns and options, and plans, all without touching the data: mistakes of
 * the user are thrown here. The query may be run more than once. Until it is disposed, it sees the version of the
 * dataset that was current when it was made.
 */
export class Query implements Disposable {
  /** What will be read and done, as plain data. */
  readonly plan: Plan
  /** Changes when the rows or the query change, and reveals nothing about them. */
  readonly etag: string
  readonly #context: QueryContext
  readonly #options: QueryOptions
  /** What now() returns in all statements of the query. */
  readonly #now = new Date()
  /** The query itself, until it is disposed, and statements that read on behind its window. */
  #holders = 1
  #disposed = false
  readonly #route: TrinoRoute | undefined
  #count: number | undefined
  /** Settles when a running read of the first rows, which may find the count as well, has ended. */
  #counting: Promise<void> | undefined

  /**
   * @throws EngineError `invalid_option`, `invalid_columns`, `invalid_filter`, `filter_type_error`,
   * `filter_too_complex`
   */
  constructor(context: QueryContext, options: QueryOptions = {}) {
    this.#context = context
    this.#options = options
    try {
      this.plan = planQuery(context.source, options, { now: this.#now })
    } catch (error) {
      context.release?.()
      throw error
    }
    this.etag = etagOf(context.identity, options, this.plan)
    this.#route =
      context.trino && new TrinoRoute(context.trino, this.plan, context.source, options, this.#now)
    if (context.release) forgotten.register(this, context.release, this)
  }

  /** Rows that match the filter, before `top`, `last` and `skip`; undefined where rows must be read to know. */
  get knownRowCount(): number | undefined {
    return this.plan.matches
  }

  /** The result can't have more rows than this; undefined where the rows of the source are not known either. */
  get mostRows(): number | undefined {
    return this.plan.most
  }

  /**
   * Rows that match the filter, before `top`, `last` and `skip`. They are counted once, even if this is called again or
   * by other queries of the same version.
   */
  async count(options: RunOptions = {}): Promise<number> {
    await this.#counting
    const known = this.plan.matches ?? this.#count
    if (known !== undefined) return known
    const { counts, identity } = this.#context
    this.#count = await counts.of(identity, this.plan, (signal) => this.#readHeld({ signal }), options.signal)
    return this.#count
  }

  /** How many rows the result has when `count` rows match. */
  resultRows(count: number): number {
    return this.plan.result ?? resultRows(this.plan.window, count)
  }

  /** Arrow record batches, owned by JavaScript. */
  async *batches(options: RunOptions = {}): AsyncGenerator<RecordBatch, void, undefined> {
    if (this.plan.columns.length === 0) return
    const statement = await this.#statement(options)
    try {
      const executor = await this.#context.executor()
      const whole = this.#whole(options, statement)
      yield* heldBack(executor.batches(statement, this.#hints(options)), whole)
    } catch (error) {
      throw this.#readable(error)
    }
  }

  /**
   * Rows as plain objects. `integer` is a number where that is exact, else a bigint; `boolean` and `double` are
   * themselves, `binary` is a Uint8Array; everything else is the text that csv has for it.
   */
  async *rows(options: RunOptions = {}): AsyncGenerator<Record<string, unknown>, void, undefined> {
    if (this.plan.columns.length === 0) return
    const statement = await this.#statement(options)
    const asObject = objectMaker(statement.columns.map((column) => column.name))
    try {
      const executor = await this.#context.executor()
      const whole = this.#whole(options, statement)
      const objects = inBatches(executor.values(statement, this.#hints(options)), asObject)
      for await (const some of heldBack(objects, whole)) for (const row of some) yield row
    } catch (error) {
      throw this.#readable(error)
    }
  }

  /**
   * The rows in a format, as bytes. The caller pulls them: no more than some buffers are read ahead. Leaving the loop
   * ends the query.
   * @throws EngineError before the first byte: `invalid_option` where options don't fit the format, `not_representable`
   * where the format can't hold a value
   */
  async bytes(format: Format, options: BytesOptions = {}): Promise<ByteStream> {
    checkBytes(format, options)
    if (this.plan.columns.length === 0) return nothingIn(format)
    if (format !== 'xlsx' && format !== 'parquet' && this.#mayCountAlong()) {
      const first = this.#firstRows(format, options)
      this.#counting = first.then(
        () => {},
        () => {},
      )
      return first
    }
    const counted = format === 'json' ? withoutRowNumbers(this.plan) : undefined
    const statement = counted
      ? rowsStatement(await this.#ready(counted.plan, undefined, options), undefined)
      : await this.#statement(options, format)
    try {
      const executor = await this.#context.executor()
      const whole = this.#whole(options, statement)
      if (format === 'xlsx') {
        const { xlsxProblem } = await import('./export/formats/xlsx/problem.ts')
        const problem = await xlsxProblem(executor, statement, options)
        if (problem) throw new EngineError('not_representable', problem)
      }
      const copied = format === 'parquet' && copies(this.plan)
      const stream =
        (copied && (await executor.copied(copied, this.#hints(options)))) ||
        (await executor.bytes(statement, format, {
          ...this.#hints(options),
          page: options.paged && !statement.elsewhere ? this.#page(format) : undefined,
          ...encodeOptions({ ...options, ...(counted && { numbers: counted.numbers }) }),
        }))
      return delivered(stream, whole, (error) => this.#readable(error))
    } catch (error) {
      throw this.#readable(error)
    }
  }

  /** Writes a file, which appears under its name only when it is whole. */
  async toFile(
    path: string,
    format: Format,
    options: RunOptions & EncodeOptions = {},
  ): Promise<{ rows: number; bytes: number }> {
    await using stream = await this.bytes(format, options)
    const bytes = await writeWhole(path, stream, (piece) => stream.recycle(piece))
    return { rows: stream.rows(), bytes }
  }

  /**
   * Where there is a Trino, whether it reads the rows and why; how many parts are read, and how many of them by ranges;
   * and DuckDB's plan of the SQL, which shows the columns and the filters of the scan.
   */
  async explain(): Promise<string> {
    const { last } = this.plan.window
    const matches = last === undefined ? undefined : await this.count()
    const plan = await this.#ready(this.plan, reachOf(this.plan, false), {})
    const rows = await this.#small(explanation(rowsStatement(plan, matches)), {})
    const reader = this.#route ? `${this.#route.explain()}\n` : ''
    return reader + partsRead(plan) + rows.map((row) => String(row[1])).join('\n')
  }

  /** Releases the version that the query reads. */
  [Symbol.dispose](): void {
    if (this.#disposed) return
    this.#disposed = true
    forgotten.unregister(this)
    this.#leave()
  }

  #leave(): void {
    this.#holders -= 1
    if (this.#holders === 0) this.#context.release?.()
  }

  /** The window as a page, with the statement that reads it and the rows behind it. */
  #page(format: Format): Page | undefined {
    const { source, identity, ready } = this.#context
    const page = pageOf(this.plan, source, this.#options, `${identity} ${format}`, ready === undefined)
    if (!page) return undefined
    return {
      ...page,
      statement: () => {
        const plan = planQuery(source, page.options, { now: this.#now })
        return rowsStatement((format === 'json' && withoutRowNumbers(plan)?.plan) || plan, undefined)
      },
      hold: () => {
        this.#holders += 1
        return () => this.#leave()
      },
    }
  }

  /** Whether a few of the first rows are wanted, and the number of all matching rows is not known. */
  #mayCountAlong(): boolean {
    const { filter, window, matches, rowBytes } = this.plan
    if (!filter || matches !== undefined || this.#count !== undefined || window.last !== undefined)
      return false
    return isFew(this.#most() + LOOK_AHEAD, rowBytes)
  }

  /** The result can't have more rows than this. */
  #most(): number {
    const { result, window, most = Number.POSITIVE_INFINITY } = this.plan
    return result ?? Math.min(window.top ?? window.last ?? most, most)
  }

  /** Looks for a few rows more than are wanted: if there are fewer, the scan has found all rows that match. */
  async #firstRows(format: EncodedFormat, options: RunOptions & EncodeOptions): Promise<ByteStream> {
    const { skip } = this.plan.window
    const most = this.#most()
    const window = { skip, top: most + LOOK_AHEAD }
    const wider = { ...this.plan, window }
    const said = await this.#route?.rows(window)
    const plan = said === undefined ? await this.#ready(wider, reachOf(wider, false), options) : wider
    const { rowBytes } = plan
    // All columns of a small table are read sooner than a second statement is planned.
    const places = this.#route || isFew(plan.most, rowBytes) ? undefined : positionsStatement(plan)
    const statement = this.#saidTo(said, rowsStatement(plan, undefined))
    try {
      const executor = await this.#context.executor()
      const whole = this.#whole(options, statement)
      const hints = { ...this.#hints(options), ...encodeOptions(options), most }
      const found =
        places &&
        (await executor.rows(places, options)).map(([file, row]): Position => [Number(file), Number(row)])
      const { stream, found: rows } = await executor.firstRows(
        found ? rowsStatement(planAt(plan, found.slice(0, most)), undefined) : statement,
        format,
        hints,
      )
      await whole
      this.#learn(found?.length ?? rows, window)
      return stream
    } catch (error) {
      throw this.#readable(error)
    }
  }

  /** Notes how many rows match, if a window had room for all of them and `found` of them were in it. */
  #learn(found: number, { skip, top }: { skip: number; top: number }): void {
    // If rows were skipped and none was found after them, there may be fewer matches than the number to skip.
    if (found >= top || (found === 0 && skip > 0)) return
    this.#count = skip + found
    this.#context.counts.set(this.#context.identity, this.plan, this.#count)
  }

  /**
   * Makes readable what DuckDB reads for a plan. Gives the plan with the names under which DuckDB finds it.
   * @param reach what it reads of its parts, if they need not be there as files
   */
  async #ready(plan: Plan, reach: Reach | undefined, { signal }: RunOptions): Promise<Plan> {
    const scan = await this.#context.ready?.(plan.scan, reach, signal)
    return scan && scan !== plan.scan ? { ...plan, scan } : plan
  }

  /** What somebody else reads is not compared. */
  #whole({ signal }: RunOptions, { elsewhere }: Statement): Promise<void> | undefined {
    if (elsewhere) return undefined
    const whole = this.#context.whole?.(this.plan.scan, signal)
    // The reading may fail first; nobody waits for this then.
    whole?.catch(() => {})
    return whole
  }

  /** The statement of the rows. What it reads is readable, unless somebody else is asked first. */
  async #statement(options: RunOptions & PagedOption, format?: Format): Promise<Statement> {
    const { last } = this.plan.window
    const matches = last === undefined ? undefined : await this.count(options)
    // DuckDB writes Parquet itself, and looks through the rows of a workbook before they are written.
    const isWritten = format === 'parquet' || format === 'xlsx'
    const said = isWritten ? undefined : await this.#route?.rows()
    if (said !== undefined) return this.#saidTo(said, rowsStatement(this.plan, matches))
    // The files are copied into a Parquet file, and the next pages read on in them.
    const reach = isWritten || options.paged ? undefined : reachOf(this.plan, false)
    return rowsStatement(await this.#ready(this.plan, reach, options), matches)
  }

  /** A statement with its form for Trino, where there is one. */
  #saidTo(sql: string | undefined, statement: Statement): Statement {
    if (sql === undefined) return statement
    const otherwise = async (signal: AbortSignal | undefined) => {
      await this.#context.ready?.(this.plan.scan, undefined, signal)
      await this.#context.whole?.(this.plan.scan, signal)
    }
    return { ...statement, elsewhere: { sql, otherwise, fallible: this.plan.fallible } }
  }

  /** Others may wait for the count, even if this query is disposed meanwhile. */
  async #readHeld(options: RunOptions): Promise<number> {
    this.#holders += 1
    try {
      return await this.#read(options)
    } finally {
      this.#leave()
    }
  }

  async #read(options: RunOptions): Promise<number> {
    const said = await this.#route?.count()
    const plan =
      said === undefined ? await this.#ready(this.plan, reachOf(this.plan, true), options) : this.plan
    const statement = this.#saidTo(said, countStatement(plan))
    const whole = this.#whole(options, statement)
    const [[count]] = (await this.#small(statement, options)) as [[bigint]]
    await whole
    return Number(count)
  }

  async #small(statement: Statement, options: RunOptions): Promise<readonly (readonly unknown[])[]> {
    try {
      return await (await this.#context.executor()).rows(statement, options)
    } catch (error) {
      throw this.#readable(error)
    }
  }

  #hints({ signal }: RunOptions) {
    const { filter, order, steps } = this.plan
    const steady = filter === undefined && order.length === 0 && steps.length === 0
    return { signal, rowBytes: this.plan.rowBytes, rowsHint: this.#most(), steady }
  }

  /** A value of the data can make a correct query fail; the user is then told in terms of the query. */
  #readable(error: unknown): unknown {
    if (error instanceof EngineError) return error
    const { fallible } = this.plan
    const values = fallible === undefined ? undefined : runtimeFilterError(error, fallible)
    return values ?? this.#context.readable?.(error) ?? error
  }
}

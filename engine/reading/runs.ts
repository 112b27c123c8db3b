import type { Delegate } from '../duckdb/cursor.ts'
import { invalidOption } from '../errors.ts'
import {
  choose,
  chooseCount,
  type OutputKind,
  type ReadingStrategy,
  type Strategy,
} from '../export/choose.ts'
import { matchesIn } from '../export/deliver.ts'
import { checkEncoding, type EncodeOptions } from '../export/formats/encoder.ts'
import type { QueryExecutor, StreamOptions } from '../export/index.ts'
import { OTHER_FORMATS } from '../options.ts'
import { hasDictionaries } from '../parquet/footer.ts'
import { footerOf } from '../parquet/parquet-file.ts'
import type { Counts } from '../plan/counts.ts'
import { estimateOf } from '../plan/parts.ts'
import type { Plan, PlanSource } from '../plan/plan.ts'
import { betweenIn, planBetween, rankStatement, ranksOf, sampleStatement } from '../plan/ranks.ts'
import {
  countStatement,
  inResultOrder,
  type Position,
  planAt,
  positionsStatement,
  rowsStatement,
  turnsOf,
} from '../plan/statements.ts'
import { type DatasetMetadata, METADATA_KEY } from '../types/file-metadata.ts'
import { type Column, FORMATS, type Format, type Statement } from '../types/index.ts'
import { requireKnown } from '../types/known-options.ts'
import { Lazy } from '../util/shared.ts'
import type { RefreshKind } from './explanation.ts'
import type { Reading } from './reading.ts'
import type { RemoteQuery, RemoteTable } from './remote.ts'

export interface RunOptions {
  /** Aborting ends the query at once with `cancelled`. */
  readonly signal?: AbortSignal
}

export interface PagedOption {
  /**
   * The window is a page, and a query for the next page will probably follow. If it follows within some seconds, it
   * goes on reading where this one ended, which takes less time than to begin again.
   */
  readonly paged?: boolean
}

export interface CountedOption {
  /** `matches` of the stream is then always known: if need be, the rows are counted while they are read. */
  readonly counted?: boolean
}

export type BytesOptions = RunOptions & EncodeOptions & PagedOption & CountedOption

const KNOWN = {
  signal: true,
  dialect: true,
  sheetName: true,
  textColumns: true,
  coding: true,
  paged: true,
  counted: true,
  odata: true,
  ieee754: true,
  numbers: true,
  metadata: true,
  plainTypes: true,
  envelope: true,
  ...OTHER_FORMATS,
} satisfies Record<keyof BytesOptions, unknown>

/**
 * What the encoder is told: what was asked for, and what the strategy, the dataset and the rows add to it.
 * @param metadata what the file says about the dataset, as JSON
 */
export function encodingOf(
  { signal: _, paged: __, counted: ___, ...encoding }: BytesOptions,
  strategy: Strategy,
  metadata: string | undefined,
  textColumns?: ReadonlySet<number>,
): EncodeOptions {
  const numbers = 'numbers' in strategy ? strategy.numbers : undefined
  return {
    ...encoding,
    ...(numbers && { numbers }),
    ...(textColumns && { textColumns }),
    ...(metadata !== undefined && { metadata: new Map([[METADATA_KEY, metadata]]) }),
  }
}

/** @throws EngineError `invalid_option` */
export function checkBytes(format: Format, options: BytesOptions): void {
  if (!FORMATS.includes(format)) {
    throw invalidOption(`Unknown format ${JSON.stringify(format)}; known are ${FORMATS.join(', ')}.`)
  }
  requireKnown(options, KNOWN)
  checkEncoding(format, options)
}

/** The runs of a planned query, and the number of matching rows that any of them has found. */
export class Runs {
  readonly #plan: Plan
  readonly #context: QueryContext
  /** The other database that may be asked, if there is one. */
  readonly remote: RemoteQuery | undefined
  #count: number | undefined

  constructor(plan: Plan, context: QueryContext, remote: RemoteQuery | undefined) {
    this.#plan = plan
    this.#context = context
    this.remote = remote
  }

  /** How an output would be made. */
  choose(output: OutputKind, { paged, encoding }: BytesOptions = {}): Strategy {
    return choose(this.#plan, output, {
      matches: this.#count,
      paged,
      encoding,
      remote: this.remote !== undefined,
    })
  }

  /** Runs a strategy. If that fails, what it reads is released; else `use` sees to that. */
  async run<T>(strategy: ReadingStrategy, { signal }: RunOptions, use: (run: Run) => Promise<T>): Promise<T> {
    const reading = this.#context.reading(strategy.plan)
    try {
      return await use(await this.#prepare(strategy, reading, signal))
    } catch (error) {
      reading[Symbol.dispose]()
      throw reading.explain(error)
    }
  }

  /** Makes readable what a strategy reads, and makes its statement. */
  async #prepare(strategy: ReadingStrategy, reading: Reading, signal: AbortSignal | undefined): Promise<Run> {
    const counting = strategy.kind === 'count'
    const isKnown = counting || strategy.located || strategy.plan.window.last === undefined
    const matches = isKnown ? undefined : await this.count({ signal })
    const delegate = strategy.remote ? await delegateOf(strategy, this.remote) : undefined
    const estimate = strategy.ranges ? estimateOf(strategy.plan, counting) : undefined
    // What another database answers is made readable only if it fails.
    const ready = delegate ? strategy.plan : await reading.ready(estimate, signal)
    const executor = await this.#context.executor()
    const plan = delegate || counting ? ready : await betweenRanks(ready, executor, signal)
    const { filter, order, steps, rowBytes } = plan
    const positions = strategy.located ? await positionsOf(plan, executor, signal) : undefined
    const [first, ...following] = plansAt(plan, strategy, positions)
    const zeros = new Lazy(() => readsNegativeZeros(plan))
    return {
      reading,
      plan,
      executor,
      statement: counting ? countStatement(plan) : rowsStatement(first!, matches),
      matches: positions && matchesIn(ready.window, positions.length),
      start: {
        signal,
        rowBytes,
        steady: !filter && order.length === 0 && steps.length === 0,
        whole: strategy.kind === 'buffered',
        // The rows that a first statement has found are counted, and only the wanted ones are read.
        counting: strategy.kind === 'buffered' && !positions ? strategy.counting : undefined,
        copies: strategy.kind === 'parquet' ? strategy.copies : undefined,
        signedZeros: () => zeros.get(),
        following: following.map((one) => rowsStatement(one, undefined)),
        delegate: delegate && orDuckDb(delegate, reading),
      },
    }
  }

  /** Rows that match the filter. They are counted once, also if other queries of the same version ask. */
  async count({ signal }: RunOptions): Promise<number> {
    const { counts, identity } = this.#context
    const known = this.#plan.matches ?? this.#count
    this.#count = known ?? (await counts.of(identity, this.#plan, (joint) => this.#read(joint), signal))
    return this.#count
  }

  /** Remembers a count that was found while rows were read, if one was found. */
  found(count: number | undefined): void {
    const { counts, identity } = this.#context
    this.#count ??= counts.set(identity, this.#plan, count)
  }

  /** How many rows match, if that is known or wanted. */
  matches({ counted, signal }: BytesOptions): Promise<number | undefined> {
    if (!counted) return Promise.resolve(this.#plan.matches ?? this.#count)
    const counting = this.count({ signal })
    // The reading may fail first; nobody waits for this then.
    counting.catch(() => {})
    return counting
  }

  #read(signal: AbortSignal): Promise<number> {
    const strategy = chooseCount(this.#plan, this.remote !== undefined)
    return this.run(strategy, { signal }, async ({ executor, statement, start, reading }) => {
      using _ = reading
      const [[count]] = (await executor.rows(statement, start)) as [[bigint]]
      await reading.whole?.()
      return Number(count)
    })
  }
}

/** A strategy with all that it takes to run it. */
export interface Run {
  readonly executor: QueryExecutor
  readonly statement: Statement
  /** How many rows match, if a first statement has told. */
  readonly matches: number | undefined
  readonly start: StreamOptions
  readonly reading: Reading
  /** The plan of the strategy, with the names under which DuckDB finds what it reads. */
  readonly plan: Plan
}

/** The plans whose rows are read, one after the other: without positions, the plan itself. */
function plansAt(
  plan: Plan,
  strategy: ReadingStrategy,
  positions: readonly Position[] | undefined,
): readonly Plan[] {
  if (!positions) return [plan]
  if ('inTurns' in strategy && strategy.inTurns)
    return turnsOf(plan, positions).map((some) => planAt(plan, some))
  const requested = strategy.kind === 'buffered' ? strategy.counting?.requested : undefined
  return [planAt(plan, positions.slice(0, requested))]
}

/** The plan of the same rows, which sorts fewer of them if the wanted ones are far from the first. */
async function betweenRanks(
  plan: Plan,
  executor: QueryExecutor,
  signal: AbortSignal | undefined,
): Promise<Plan> {
  const ranks = ranksOf(plan)
  if (!ranks) return plan
  const sample = (await executor.rows(sampleStatement(plan, ranks), { signal })) as [string | null][]
  const between = betweenIn(
    sample.map(([key]) => key),
    ranks,
  )
  if (!between) return plan
  const [counted] = (await executor.rows(rankStatement(plan, between), { signal })) as [[bigint, bigint]]
  return planBetween(plan, ranks, between, [Number(counted[0]), Number(counted[1])]) ?? plan
}

async function positionsOf(plan: Plan, executor: QueryExecutor, signal: AbortSignal | undefined) {
  const found = await executor.rows(positionsStatement(plan), { signal })
  return inResultOrder(
    plan,
    found.map(([file, row]): Position => [Number(file), Number(row)]),
  )
}

/** Whether stored doubles are read that may be -0: parts of our own with one have no dictionaries (`ingest/parts/part.ts`). */
async function readsNegativeZeros({ scan, columns }: Plan): Promise<boolean> {
  const doubles = columns.filter(({ type, stored }) => type === 'double' && stored !== undefined)
  if (scan.kind !== 'slices' || doubles.length === 0) return false
  for (const { file, attached } of scan.slices) {
    if (attached || !hasDictionaries((await footerOf(file)).footer)) return true
  }
  return false
}

function delegateOf({ kind, plan }: ReadingStrategy, remote: RemoteQuery | undefined) {
  return kind === 'count' ? remote?.count() : remote?.rows(plan.window)
}

/** If the other database fails, DuckDB reads files, which must be compared with what was written before. */
function orDuckDb(delegate: Delegate, reading: Reading): Delegate {
  return async (columns, signal) => {
    const cursor = await delegate(columns, signal)
    if (cursor) return cursor
    await reading.ready(undefined, signal)
    await reading.whole?.()
    return undefined
  }
}

/** What a query needs. */
export interface QueryContext {
  readonly source: PlanSource
  /** Identifies the rows: two contexts with the same text have the same rows. */
  readonly identity: string
  /** What is written down about the dataset, and about the columns of the source. */
  readonly metadata?: { readonly dataset: DatasetMetadata; readonly columns: readonly Column[] } | undefined
  /** Whether the same query can give other rows the next time. */
  readonly volatile?: boolean
  readonly executor: () => Promise<QueryExecutor>
  /** Remembers counts beyond this query. */
  readonly counts: Counts
  /** How the rows are refreshed if they are stored. */
  readonly refresh?: RefreshKind | undefined
  /** Begins to read what a plan needs. */
  readonly reading: (plan: Plan) => Reading
  /** The ids of the datasets that saved queries below read with the rights of others. */
  readonly borrowed?: readonly number[] | undefined
  /** Called when the query is disposed, perhaps more than once. */
  readonly release?: () => void
  /** Whether parts may have to be fetched before they can be read. */
  readonly fetches?: boolean
  /** The rows as another database sees them, if there is one. */
  readonly remote?: RemoteTable | undefined
}

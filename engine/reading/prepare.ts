import type { Delegate, StartOptions } from '../duckdb/runner.ts'
import type { ReadingStrategy } from '../export/choose.ts'
import type { QueryExecutor } from '../export/index.ts'
import type { Plan } from '../plan/plan.ts'
import { estimateOf } from '../plan/read-estimate.ts'
import {
  countStatement,
  inResultOrder,
  type Position,
  planAt,
  positionsStatement,
  rowsStatement,
  turnsOf,
} from '../plan/statements.ts'
import type { QueryContext } from '../query-context.ts'
import type { Statement } from '../types/index.ts'
import type { Reading } from './reading.ts'
import type { RemoteQuery } from './remote.ts'

/** A strategy with all that it takes to run it. */
export interface Run<Strategy extends ReadingStrategy = ReadingStrategy> {
  readonly strategy: Strategy
  readonly executor: QueryExecutor
  readonly statement: Statement
  /** How many rows a first statement has found, if there was one. */
  readonly located: number | undefined
  readonly start: StartOptions
  readonly reading: Reading
  /** The plan of the strategy, with the names under which DuckDB finds what it reads. */
  readonly plan: Plan
}

export interface PrepareOptions {
  readonly signal: AbortSignal | undefined
  readonly remote: RemoteQuery | undefined
  /** Counts the rows that match. */
  readonly count: () => Promise<number>
}

/** Makes readable what a strategy reads, and makes its statement. */
export async function prepare<Strategy extends ReadingStrategy>(
  strategy: Strategy,
  reading: Reading,
  context: QueryContext,
  { signal, remote, count }: PrepareOptions,
): Promise<Run<Strategy>> {
  const counting = strategy.kind === 'count'
  const isKnown = counting || strategy.located || strategy.plan.window.last === undefined
  const matches = isKnown ? undefined : await count()
  const delegate = strategy.remote ? await delegateOf(strategy, remote) : undefined
  const estimate = strategy.ranges ? estimateOf(strategy.plan, counting) : undefined
  // What another database answers is made readable only if it fails.
  const plan = delegate ? strategy.plan : await reading.ready(estimate, signal)
  const { filter, order, steps, rowBytes } = plan
  const executor = await context.executor()
  const positions = strategy.located ? await positionsOf(plan, executor, signal) : undefined
  const [first, ...following] = plansAt(plan, strategy, positions)
  return {
    strategy,
    reading,
    plan,
    executor,
    statement: counting ? countStatement(plan) : rowsStatement(first!, matches),
    located: positions?.length,
    start: {
      signal,
      rowBytes,
      steady: !filter && order.length === 0 && steps.length === 0,
      whole: strategy.kind === 'few',
      following: following.map((one) => rowsStatement(one, undefined)),
      delegate: delegate && orDuckDb(delegate, reading),
    },
  }
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
  const wanted = strategy.kind === 'few' ? strategy.counting?.wanted : undefined
  return [planAt(plan, positions.slice(0, wanted))]
}

async function positionsOf(plan: Plan, executor: QueryExecutor, signal: AbortSignal | undefined) {
  const found = await executor.rows(positionsStatement(plan), { signal })
  return inResultOrder(
    plan,
    found.map(([file, row]): Position => [Number(file), Number(row)]),
  )
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
    await reading.whole
    return undefined
  }
}

import type { Delegate, StartOptions } from '../duckdb/runner.ts'
import type { ReadingWay } from '../export/choose.ts'
import type { QueryExecutor } from '../export/index.ts'
import type { Plan } from '../plan/plan.ts'
import { reachOf } from '../plan/reach.ts'
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

/** A way with all that it takes to run it. */
export interface Run<Way extends ReadingWay = ReadingWay> {
  readonly way: Way
  readonly executor: QueryExecutor
  readonly statement: Statement
  /** How many rows a first statement has found, if there was one. */
  readonly located: number | undefined
  readonly start: StartOptions
  readonly reading: Reading
  /** The plan of the way, with the names under which DuckDB finds what it reads. */
  readonly plan: Plan
}

export interface PrepareOptions {
  readonly signal: AbortSignal | undefined
  readonly remote: RemoteQuery | undefined
  /** Counts the rows that match. */
  readonly count: () => Promise<number>
}

/** Makes readable what a way reads, and makes its statement. */
export async function prepare<Way extends ReadingWay>(
  way: Way,
  reading: Reading,
  context: QueryContext,
  { signal, remote, count }: PrepareOptions,
): Promise<Run<Way>> {
  const counting = way.kind === 'count'
  const isKnown = counting || way.located || way.plan.window.last === undefined
  const matches = isKnown ? undefined : await count()
  const delegate = way.remote ? await delegateOf(way, remote) : undefined
  const reach = way.ranges ? reachOf(way.plan, counting) : undefined
  // What another database answers is made readable only if it fails.
  const plan = delegate ? way.plan : await reading.ready(reach, signal)
  const { filter, order, steps, rowBytes } = plan
  const executor = await context.executor()
  const positions = way.located ? await positionsOf(plan, executor, signal) : undefined
  const [first, ...following] = plansAt(plan, way, positions)
  return {
    way,
    reading,
    plan,
    executor,
    statement: counting ? countStatement(plan) : rowsStatement(first!, matches),
    located: positions?.length,
    start: {
      signal,
      rowBytes,
      steady: !filter && order.length === 0 && steps.length === 0,
      whole: way.kind === 'few',
      following: following.map((one) => rowsStatement(one, undefined)),
      delegate: delegate && orDuckDb(delegate, reading),
    },
  }
}

/** The plans whose rows are read, one after the other: without positions, the plan itself. */
function plansAt(plan: Plan, way: ReadingWay, positions: readonly Position[] | undefined): readonly Plan[] {
  if (!positions) return [plan]
  if ('inTurns' in way && way.inTurns) return turnsOf(plan, positions).map((some) => planAt(plan, some))
  const wanted = way.kind === 'few' ? way.counting?.wanted : undefined
  return [planAt(plan, positions.slice(0, wanted))]
}

async function positionsOf(plan: Plan, executor: QueryExecutor, signal: AbortSignal | undefined) {
  const found = await executor.rows(positionsStatement(plan), { signal })
  return inResultOrder(
    plan,
    found.map(([file, row]): Position => [Number(file), Number(row)]),
  )
}

function delegateOf({ kind, plan }: ReadingWay, remote: RemoteQuery | undefined) {
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

import { EngineError } from '../../engine/errors.ts'
import { compileFilter } from '../../engine/filter/index.ts'
import { planQuery, type QueryOptions } from '../../engine/plan/plan.ts'
import { mutatedQuery } from '../../test/apply/support/mutate.ts'
import { Mutator } from '../../test/filter/support/mutate.ts'
import { Random } from '../../test/filter/support/random.ts'
import { type BenchOptions, type Case, median } from '../case.ts'

/**
 * The most that the time may grow when the input doubles. Linear work takes twice as long, quadratic work four times.
 */
const MOST_GROWTH = 3
/** The most processor milliseconds that reading one query may take, whatever the query contains. */
const SLOWEST_MS = 50
const ROUNDS = 21

const TABLE = ['K', 'N', 'P', 'D', 'Day', 'Doc'].map((name, index) => ({
  name,
  type: (['string', 'integer', 'decimal(10,2)', 'double', 'date', 'json'] as const)[index]!,
  sql: `c${index}`,
}))

/** What input from outside may cost at most. */
export async function* measure({ quick }: BenchOptions): AsyncGenerator<Case> {
  const blanks = (count: number) => ' '.repeat(count)
  yield growth('blanks within a $filter', 150_000, (count) => filter(`K eq${blanks(count)}'a'`))
  yield growth('blanks in a text of a $filter', 150_000, (count) => filter(`K eq 'a${blanks(count)}'`))
  yield growth('blanks at the end of a $filter', 150_000, (count) => filter(`K eq 'a'${blanks(count)}`))
  yield growth('blanks in $orderby', 60_000, (count) => plan({ orderBy: `K${blanks(count)}x` }))
  yield growth('names in $select', 2_000, (count) => plan({ select: Array(count).fill('K').join(',') }))
  yield growth('conditions on one column', 3_000, (count) =>
    filter(Array.from({ length: count }, (_, n) => `N ne ${n}`).join(' and ')),
  )
  const count = quick ? 2_000 : 200_000
  const mutator = new Mutator(new Random(1))
  yield slowest(`the slowest of ${count} damaged filters`, count, () => {
    const text = mutator.next()
    return () => filter(text)
  })
  const random = new Random(1)
  yield slowest(`the slowest of ${count} damaged queries`, count, () => {
    const options = mutatedQuery(random)
    return () => plan(options)
  })
}

const filter = (text: string) => refusable(() => compileFilter(text, TABLE))
const plan = (options: QueryOptions) =>
  refusable(() =>
    planQuery({ columns: TABLE, rows: 2, rowBytes: 1, scan: () => ({ kind: 'foreign', sql: 't' }) }, options),
  )

function refusable(work: () => unknown): void {
  try {
    work()
  } catch (error) {
    if (!(error instanceof EngineError)) throw error
  }
}

/** How much longer the work takes when its input doubles. */
function growth(name: string, count: number, work: (count: number) => void): Case {
  // The two of a round follow each other, so that a machine that is slow for a while slows down both.
  const rounds = Array.from(
    { length: ROUNDS },
    () => [cpu(() => work(count)), cpu(() => work(2 * count))] as const,
  )
  const once = median(rounds.map(([time]) => time))
  const twice = median(rounds.map(([, time]) => time))
  // Below a millisecond the clock for processor time is too coarse.
  const ratio = median(rounds.map(([one, two]) => Math.max(two, 1) / Math.max(one, 1)))
  return {
    name: `bounds: ${name}, ${2 * count}`,
    value: twice,
    unit: 'ms',
    rival: 'half as many',
    rivalValue: once,
    ratio,
    most: MOST_GROWTH,
  }
}

function slowest(name: string, count: number, next: () => () => void): Case {
  let value = 0
  for (let n = 0; n < count; n++) {
    const work = next()
    // The JavaScript compiler or the garbage collector may slow down a single run; code that really is slow stays slow.
    let best = cpu(work)
    for (let again = 0; again < 3 && best > value; again++) best = Math.min(best, cpu(work))
    value = Math.max(value, best)
  }
  const ratio = value / SLOWEST_MS
  return {
    name: `bounds: ${name}`,
    value,
    unit: 'ms',
    rival: 'the bound',
    rivalValue: SLOWEST_MS,
    ratio,
    most: 1,
  }
}

function cpu(work: () => void): number {
  const start = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1_000
}

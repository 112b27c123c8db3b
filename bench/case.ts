/** One figure. If it has a rival, both were measured in the same run, in turns. */
export interface Case {
  readonly name: string
  readonly value: number
  readonly unit: string
  readonly rival?: string
  readonly rivalValue?: number
  /** ours / rival; below one means that ours is faster or smaller. */
  readonly ratio?: number
  /** What the ratio may be at most; above it the run fails. */
  readonly most?: number
}

export interface BenchOptions {
  /** Small data and few runs: under a minute for everything. */
  readonly quick: boolean
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

/** Milliseconds that a piece of work takes. */
export async function timed(work: () => unknown): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}

/** CPU milliseconds that this process spends until a piece of work is done, in all its threads. */
export async function cpuTime(work: () => unknown): Promise<number> {
  const start = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1_000
}

/**
 * Times ours and the rival in turns (A B B A …), after one run of each that isn't counted, so that a machine whose
 * speed drifts affects both equally. The ratio is the median of the pairs' ratios.
 */
export async function duel(
  name: string,
  rival: string,
  runs: number,
  ours: () => unknown,
  theirs: () => unknown,
): Promise<Case> {
  await ours()
  await theirs()
  const mine: number[] = []
  const other: number[] = []
  for (let run = 0; run < runs; run++) {
    if (run % 2 === 0) {
      mine.push(await timed(ours))
      other.push(await timed(theirs))
    } else {
      other.push(await timed(theirs))
      mine.push(await timed(ours))
    }
  }
  return {
    name,
    value: median(mine),
    unit: 'ms',
    rival,
    rivalValue: median(other),
    ratio: median(mine.map((value, run) => value / other[run]!)),
  }
}

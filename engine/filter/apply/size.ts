import type { FilterLimits } from '../errors.ts'
import { tooComplex } from '../errors.ts'
import type { Step } from './steps.ts'

interface Size {
  /** How often the rows are read. Each branch of concat() or rollup() reads what is before it. */
  readonly reads: number
  /** The longest sequence of steps. */
  readonly steps: number
  /** The most of them that group rows. */
  readonly groupings: number
}

/**
 * Refuses steps that would take long to plan, or read the rows many times, before there is any SQL of them.
 * @throws EngineError `filter_too_complex`
 */
export function checkSize(steps: readonly Step[], limits: FilterLimits): void {
  const size = sizeOf(steps)
  if (size.reads > limits.reads) {
    throw tooComplex(
      `the branches of concat() and rollup() read the rows ${size.reads} times; the limit is ${limits.reads}. ` +
        'Each branch reads again what is before it.',
    )
  }
  if (size.steps > limits.steps) {
    throw tooComplex(`there are ${size.steps} transformations in sequence; the limit is ${limits.steps}.`)
  }
  if (size.groupings > limits.groupings) {
    throw tooComplex(
      `there are ${size.groupings} transformations in sequence that group rows; the limit is ${limits.groupings}.`,
    )
  }
}

function sizeOf(steps: readonly Step[]): Size {
  let [reads, length, groupings] = [1, 0, 0]
  for (const step of steps) {
    length += 1
    if (step.kind === 'concat') {
      const branches = step.branches.map((branch) => sizeOf(branch.steps))
      reads *= branches.reduce((sum, branch) => sum + branch.reads, 0)
      length += Math.max(...branches.map((branch) => branch.steps))
      groupings += Math.max(...branches.map((branch) => branch.groupings))
    } else if (step.kind === 'group' || ('partition' in step && step.partition.length > 0)) {
      groupings += 1
    }
  }
  return { reads, steps: length, groupings }
}

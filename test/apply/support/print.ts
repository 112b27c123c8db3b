import type { QueryOptions } from '../../../engine/plan/plan.ts'
import type { Transformation } from './model.ts'
import type { Aggregate } from './model-aggregates.ts'
import { type Cell, textOf } from './sample.ts'

/** The text of `$apply`. */
export function print(steps: readonly Transformation[]): string {
  return steps.map(printed).join('/')
}

/** Steps as options beside `$apply`. */
export function printOptions(steps: readonly Transformation[]): QueryOptions {
  return Object.assign({}, ...steps.map(option))
}

function option(step: Transformation): QueryOptions {
  const inner = printed(step).replace(/^\w+\((.*)\)$/s, '$1')
  switch (step.kind) {
    case 'compute':
    case 'search':
    case 'filter':
      return { [step.kind]: inner }
    case 'orderby':
      return { orderBy: inner }
    case 'top':
    case 'skip':
      return { [step.kind]: step.count }
    default:
      throw new Error(`${step.kind} is no option`)
  }
}

function printed(step: Transformation): string {
  switch (step.kind) {
    case 'filter':
      return `filter(${step.column} ${step.operator} ${literal(step.value)})`
    case 'search':
      return `search(${step.denied ? 'NOT ' : ''}${step.word})`
    case 'compute':
      return `compute(${step.column} mul ${step.times} as ${step.name})`
    case 'orderby':
      return `orderby(${step.keys.map(({ column, descending }) => `${column}${descending ? ' desc' : ''}`).join(',')})`
    case 'top':
    case 'skip':
      return `${step.kind}(${step.count})`
    case 'keep':
      return `${step.end}${step.until}(${step.amount},${step.column})`
    case 'concat':
      return `concat(${step.branches.map(print).join(',')})`
    case 'aggregate':
      return `aggregate(${step.aggregates.map(aggregate).join(',')})`
    case 'groupby': {
      const keys = step.keys.map((key) => (typeof key === 'string' ? key : `rollup(${key.join(',')})`))
      return `groupby((${keys.join(',')})${step.steps.length > 0 ? `,${print(step.steps)}` : ''})`
    }
  }
}

function aggregate({ method, column, times, name }: Aggregate): string {
  if (column === undefined) return `$count as ${name}`
  return `${column}${times === undefined ? '' : ` mul ${times}`} with ${method} as ${name}`
}

function literal(cell: Cell): string {
  return typeof cell === 'string' ? `'${cell}'` : (textOf(cell) ?? 'null')
}

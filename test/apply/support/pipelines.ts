import type { Random } from '../../filter/support/random.ts'
import type { Aggregate, Transformation } from './model.ts'
import { type Cell, COLUMNS, exact, type ModelColumn, textOf } from './sample.ts'

/** Random pipelines that are right, so that every one of them must have an answer. */
export class Pipelines {
  readonly #random: Random
  #names = 0

  constructor(random: Random) {
    this.#random = random
  }

  next(): readonly Transformation[] {
    this.#names = 0
    let columns = COLUMNS
    return Array.from({ length: 1 + this.#random.below(4) }, () => {
      const step = this.#step(columns, true)
      columns = after(columns, step)
      return step
    })
  }

  #step(columns: readonly ModelColumn[], deep: boolean): Transformation {
    const random = this.#random
    const numbers = columns.filter(({ type }) => type !== 'string')
    const exacts = columns.filter(({ type }) => type === 'integer' || type === 'decimal')
    const roll = random.below(14)
    if (roll < 3) return this.#filter(random.pick(columns))
    if (roll === 3 && columns.some(({ type }) => type === 'string')) {
      return {
        kind: 'search',
        word: random.pick(['arg', 'MILK', 'crème', 'x', 'é', 'none']),
        denied: random.chance(0.3),
      }
    }
    if (roll === 4 && numbers.length > 0) {
      return {
        kind: 'compute',
        column: random.pick(numbers).name,
        times: random.below(7) - 3,
        name: this.#name(),
      }
    }
    if (roll === 5) {
      const keys = [random.pick(columns), random.pick(columns)].slice(0, 1 + random.below(2))
      return {
        kind: 'orderby',
        keys: keys.map(({ name }) => ({ column: name, descending: random.chance(0.5) })),
      }
    }
    if (roll === 6) return { kind: random.pick(['top', 'skip'] as const), count: random.below(12) }
    if (roll < 9 && exacts.length > 0) {
      const until = random.pick(['count', 'sum', 'percent'] as const)
      const amount = until === 'sum' ? random.below(30) - 8 : 1 + random.below(until === 'count' ? 9 : 100)
      const column = random.pick(until === 'count' ? columns : exacts).name
      return { kind: 'keep', end: random.pick(['top', 'bottom'] as const), until, amount, column }
    }
    if (roll === 9 && deep) {
      const branches = Array.from({ length: 2 }, () => [this.#keeping(columns)])
      return { kind: 'concat', branches }
    }
    return this.#group(columns, numbers)
  }

  /** A step that leaves the columns as they are. */
  #keeping(columns: readonly ModelColumn[]): Transformation {
    for (;;) {
      const step = this.#step(columns, false)
      if (step.kind !== 'group' && step.kind !== 'compute') return step
    }
  }

  #group(columns: readonly ModelColumn[], numbers: readonly ModelColumn[]): Transformation {
    const random = this.#random
    const keys = [...new Set(Array.from({ length: random.below(3) }, () => random.pick(columns).name))]
    const count = keys.length === 0 ? 1 + random.below(3) : random.below(3)
    const aggregates = Array.from({ length: count }, (): Aggregate => {
      const sums = numbers.length > 0 && random.chance(0.5)
      if (random.chance(0.2)) return { method: '', column: undefined, name: this.#name() }
      const method = sums
        ? random.pick(['sum', 'average'])
        : random.pick(['min', 'max', 'countdistinct', 'first', 'last'])
      return { method, column: random.pick(sums ? numbers : columns).name, name: this.#name() }
    })
    return { kind: 'group', keys, aggregates }
  }

  #filter({ name, type, scale }: ModelColumn): Transformation {
    const random = this.#random
    const operator = random.pick(['eq', 'ne', 'gt', 'ge', 'lt', 'le'])
    const value: Cell = random.chance(0.15)
      ? null
      : type === 'string'
        ? random.pick(['x', 'y', 'milk', ''])
        : type === 'double'
          ? (random.below(9) - 4) / 2
          : exact(random.below(9) - 4, type === 'decimal' ? Math.min(scale, 1) : 0)
    return { kind: 'filter', column: name, operator, value }
  }

  #name(): string {
    this.#names++
    return `V${this.#names}`
  }
}

function after(columns: readonly ModelColumn[], step: Transformation): readonly ModelColumn[] {
  if (step.kind === 'compute') {
    return [...columns, { ...columns.find(({ name }) => name === step.column)!, name: step.name }]
  }
  if (step.kind !== 'group') return columns
  const added = step.aggregates.map(({ name, method, column }): ModelColumn => {
    const source = columns.find((one) => one.name === column)
    if (!source || method === 'countdistinct') return { name, type: 'integer', scale: 0 }
    return method === 'average' ? { name, type: 'double', scale: 0 } : { ...source, name }
  })
  return [...step.keys.map((key) => columns.find(({ name }) => name === key)!), ...added]
}

export function print(steps: readonly Transformation[]): string {
  return steps.map(printed).join('/')
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
    case 'group': {
      const items = step.aggregates.map(({ method, column, name }) =>
        column === undefined ? `$count as ${name}` : `${column} with ${method} as ${name}`,
      )
      if (step.keys.length === 0) return `aggregate(${items.join(',')})`
      return `groupby((${step.keys.join(',')})${items.length > 0 ? `,aggregate(${items.join(',')})` : ''})`
    }
  }
}

function literal(cell: Cell): string {
  return typeof cell === 'string' ? `'${cell}'` : (textOf(cell) ?? 'null')
}

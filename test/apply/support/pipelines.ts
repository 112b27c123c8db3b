import type { Random } from '../../filter/support/random.ts'
import type { Transformation } from './model.ts'
import { type Aggregate, columnOf, ROUGH } from './model-aggregates.ts'
import { type Cell, COLUMNS, exact, type ModelColumn } from './sample.ts'

type Columns = readonly ModelColumn[]

/** A random question: a pipeline, and what stands beside it as options. */
export interface Asking {
  readonly steps: readonly Transformation[]
  /** In the order in which the standard applies options. */
  readonly options: readonly Transformation[]
}

/** Where a step stands: in how many others, and among which keys, whose columns must stay. */
interface Place {
  readonly depth: number
  readonly keys: readonly string[]
}

const DEEPEST = 2

/** Random pipelines that are right, so that each has an answer, but for groups that lose their rows. */
export class Pipelines {
  readonly #random: Random
  #names = 0

  constructor(random: Random) {
    this.#random = random
  }

  next(): Asking {
    this.#names = 0
    const { steps, columns } = this.#sequence(COLUMNS, { depth: 0, keys: [] }, 1 + this.#random.below(3))
    return { steps, options: this.#options(columns) }
  }

  #sequence(start: Columns, place: Place, count: number): { steps: Transformation[]; columns: Columns } {
    let columns = start
    const steps = Array.from({ length: count }, () => {
      const step = this.#step(columns, place)
      columns = after(columns, step, place.keys)
      return step
    })
    return { steps, columns }
  }

  #options(start: Columns): Transformation[] {
    const random = this.#random
    if (random.chance(0.6)) return []
    let columns = start
    const makers = [
      () => this.#compute(columns),
      () => this.#search(columns),
      () => this.#filter(columns),
      () => this.#orderBy(columns),
      (): Transformation => ({ kind: 'skip', count: random.below(5) }),
      (): Transformation => ({ kind: 'top', count: random.below(12) }),
    ]
    return makers.flatMap((make) => {
      const step = random.chance(0.4) ? make() : undefined
      if (step) columns = after(columns, step, [])
      return step ? [step] : []
    })
  }

  #step(columns: Columns, place: Place): Transformation {
    const random = this.#random
    const roll = random.below(16)
    const made =
      roll < 3
        ? this.#filter(columns)
        : roll === 3
          ? this.#search(columns)
          : roll === 4
            ? this.#compute(columns)
            : roll === 5
              ? this.#orderBy(columns)
              : roll < 9
                ? this.#keep(columns)
                : roll === 9
                  ? this.#concat(columns, place)
                  : undefined
    if (made) return made
    if (roll === 10) return { kind: random.pick(['top', 'skip'] as const), count: random.below(12) }
    return roll < 13 && place.keys.length === 0 && random.chance(0.3)
      ? this.#aggregate(columns)
      : this.#groupBy(columns, place)
  }

  #groupBy(columns: Columns, place: Place): Transformation {
    const random = this.#random
    const safe = columns.filter(({ rough }) => !rough)
    if (safe.length === 0) return this.#aggregate(columns)
    const names = [...new Set(Array.from({ length: 1 + random.below(3) }, () => random.pick(safe).name))]
    const rolled = names.length > 1 && random.chance(0.25)
    const keys = rolled ? [names.slice(0, 2), ...names.slice(2)] : names
    if (rolled || random.chance(0.5) || place.depth === DEEPEST) {
      const steps = rolled || random.chance(0.8) ? [this.#aggregate(columns)] : []
      return { kind: 'groupby', keys, steps }
    }
    const inside = { depth: place.depth + 1, keys: [...place.keys, ...names] }
    const sequence = this.#sequence(columns, inside, 1 + random.below(2))
    const closing = random.chance(0.5) ? [this.#aggregate(sequence.columns)] : []
    return { kind: 'groupby', keys, steps: [...sequence.steps, ...closing] }
  }

  #concat(columns: Columns, place: Place): Transformation | undefined {
    if (place.depth === DEEPEST) return undefined
    const random = this.#random
    const keeping = (): Transformation =>
      random.pick([
        () => this.#filter(columns),
        () => this.#keep(columns),
        () => this.#orderBy(columns),
      ])() ?? {
        kind: 'top',
        count: random.below(9),
      }
    const closing = random.chance(0.4) ? [this.#aggregate(columns)] : []
    const group: Transformation[] =
      closing.length > 0 && columns[0] && !columns[0].rough && random.chance(0.7)
        ? [{ kind: 'groupby', keys: [columns[0].name], steps: closing }]
        : closing
    return { kind: 'concat', branches: Array.from({ length: 2 }, () => [keeping(), ...group]) }
  }

  #aggregate(columns: Columns): Transformation {
    const random = this.#random
    const numbers = columns.filter(({ type }) => type !== 'string')
    const safe = columns.filter(({ rough }) => !rough)
    const aggregates = Array.from({ length: 1 + random.below(3) }, (): Aggregate => {
      const name = this.#name()
      const roll = random.below(10)
      if (roll < 2) return { method: '', column: undefined, name }
      if (roll < 7 && numbers.length > 0) {
        const method = random.pick(['sum', 'sum', 'average', 'average', ...ROUGH])
        const times = random.chance(0.2) ? { times: 2 + random.below(2) } : {}
        return { method, column: random.pick(numbers).name, ...times, name }
      }
      if (roll === 7 && safe.length > 0)
        return { method: 'countdistinct', column: random.pick(safe).name, name }
      return { method: random.pick(['min', 'max', 'first', 'last']), column: random.pick(columns).name, name }
    })
    return { kind: 'aggregate', aggregates }
  }

  #search(columns: Columns): Transformation | undefined {
    if (columns.every(({ type }) => type !== 'string')) return undefined
    const word = this.#random.pick(['arg', 'MILK', 'crème', 'x', 'é', 'none'])
    return { kind: 'search', word, denied: this.#random.chance(0.3) }
  }

  #compute(columns: Columns): Transformation | undefined {
    const numbers = columns.filter(({ type }) => type !== 'string')
    if (numbers.length === 0) return undefined
    const column = this.#random.pick(numbers).name
    return { kind: 'compute', column, times: this.#random.below(7) - 3, name: this.#name() }
  }

  #orderBy(columns: Columns): Transformation | undefined {
    const random = this.#random
    const safe = columns.filter(({ rough }) => !rough)
    if (safe.length === 0) return undefined
    const keys = Array.from({ length: 1 + random.below(2) }, () => random.pick(safe).name)
    return {
      kind: 'orderby',
      keys: keys.map((column) => ({ column, descending: random.chance(0.5) })),
    }
  }

  #keep(columns: Columns): Transformation | undefined {
    const random = this.#random
    const until = random.pick(['count', 'sum', 'percent'] as const)
    const safe = columns.filter(
      ({ type, rough }) => !rough && (until === 'count' || type === 'integer' || type === 'decimal'),
    )
    if (safe.length === 0) return undefined
    const amount = until === 'sum' ? random.below(30) - 8 : 1 + random.below(until === 'count' ? 9 : 100)
    const end = random.pick(['top', 'bottom'] as const)
    return { kind: 'keep', end, until, amount, column: random.pick(safe).name }
  }

  #filter(columns: Columns): Transformation | undefined {
    const random = this.#random
    const safe = columns.filter(({ rough }) => !rough)
    if (safe.length === 0) return undefined
    const { name, type, scale } = random.pick(safe)
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

/** The columns behind a step, within groups of some keys. */
function after(columns: Columns, step: Transformation, keys: readonly string[]): Columns {
  const find = (name: string | undefined) => columns.find((column) => column.name === name)
  switch (step.kind) {
    case 'compute':
      return [...columns, { ...find(step.column)!, name: step.name }]
    case 'aggregate':
      return [
        ...keys.map((key) => find(key)!),
        ...step.aggregates.map((aggregate) => columnOf(find(aggregate.column), aggregate)),
      ]
    case 'groupby': {
      const all = [...new Set([...keys, ...step.keys.flat()])]
      if (step.steps.length === 0) return all.map((key) => find(key)!)
      return step.steps.reduce((before, inner) => after(before, inner, all), columns)
    }
    case 'concat':
      return step.branches[0]!.reduce((before, inner) => after(before, inner, keys), columns)
    default:
      return columns
  }
}

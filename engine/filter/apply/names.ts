import { columnsOf } from '../check/column-names.ts'
import { unknownColumns } from '../check/unknown-columns.ts'
import type { Name, Sequence, Syntax, Transformation } from '../syntax/tree.ts'
import type { Source } from './building.ts'
import type { StepColumn } from './steps.ts'

/** Names that no column has, each with its first position. */
type Unknown = Map<string, number>

type Names = ReadonlySet<string>

/**
 * Refuses names in a sequence of transformations that no column has at their place.
 * @throws EngineError `invalid_columns`, with all of the names
 */
export function requireNames(sequence: Sequence, source: Source, columns: readonly StepColumn[]): void {
  const finder = new NameFinder()
  finder.sequence(sequence, new Set(columns.map(({ name }) => name)), [])
  if (finder.unknown.size > 0) throw unknownColumns(finder.unknown, source.text, columns, source.option)
}

class NameFinder {
  readonly unknown: Unknown = new Map()

  #name({ name, at }: Name, known: Names): void {
    if (!known.has(name) && !this.unknown.has(name)) this.unknown.set(name, at)
  }

  #expression(syntax: Syntax, known: Names): void {
    for (const [name, at] of columnsOf(syntax)) this.#name({ name, at }, known)
  }

  /**
   * Looks through a sequence, and gives the names of the columns that come out of it.
   * @param keys the names of the columns that rows are grouped by
   */
  sequence(sequence: Sequence, known: Names, keys: readonly string[]): Names {
    return sequence.reduce((names, step) => this.#transformation(step, names, keys), known)
  }

  #transformation(step: Transformation, known: Names, keys: readonly string[]): Names {
    switch (step.kind) {
      case 'filter':
        this.#expression(step.condition, known)
        return known
      case 'orderby':
        for (const { expression } of step.items) this.#expression(expression, known)
        return known
      case 'keep':
        this.#expression(step.value, known)
        return known
      case 'compute':
        for (const { expression } of step.computed) this.#expression(expression, known)
        return new Set([...known, ...step.computed.map(({ name }) => name.name)])
      case 'aggregate':
        for (const { what } of step.aggregated) {
          if (what !== '$count') this.#expression(what.expression, known)
        }
        return new Set([...keys, ...step.aggregated.map(({ name }) => name.name)])
      case 'groupby': {
        const names = step.elements.flatMap((element) => element.names)
        for (const name of names) this.#name(name, known)
        const all = [...keys, ...names.map(({ name }) => name)]
        return step.sequence ? this.sequence(step.sequence, known, all) : new Set(all)
      }
      case 'concat':
        return new Set(step.branches.flatMap((branch) => [...this.sequence(branch, known, keys)]))
      default:
        return known
    }
  }
}

import { EngineError } from '../../errors.ts'
import type { SqlColumn } from '../check/expression.ts'
import { parseRule } from '../syntax/parse.ts'
import type { NameItem, Sequence } from '../syntax/tree.ts'
import type { Building, Source } from './building.ts'
import { requireNames } from './grouping.ts'
import { Pipeline } from './pipeline.ts'
import type { Relation, SortKey } from './steps.ts'

export { aggregateTable } from './aggregates.ts'
export { Building, type CompiledFilter, compileFilter, type FilterOptions } from './building.ts'
export { sortKey } from './computed.ts'
export type { Relation, SortKey, Step } from './steps.ts'

/** The texts of the options that `readPipeline` reads. */
export interface PipelineOptions {
  readonly apply?: string | undefined
  readonly compute?: string | undefined
  readonly search?: string | undefined
}

/**
 * Reads `$apply`, `$compute` and `$search` into steps, in the order in which the standard applies them.
 * @throws EngineError `invalid_option` with the position, `invalid_columns`, `filter_type_error`, `filter_too_complex`
 */
export function readPipeline(
  { apply, compute, search }: PipelineOptions,
  columns: readonly SqlColumn[],
  building: Building,
): Relation {
  const none: Relation = { steps: [], columns }
  const applied = after(none, 'Apply', apply, building, (text) => parseRule('apply', text, building.aliases))
  const computed = after(applied, 'Compute', compute, building, (text) => [
    { kind: 'compute', computed: parseRule('compute', text, building.aliases), at: 0 },
  ])
  return after(computed, 'Search', search, building, (text) => [
    { kind: 'search', search: parseRule('search', text, building.aliases), at: 0 },
  ])
}

/** Reads `$orderby` with expressions over columns. @throws EngineError the same as `readPipeline` */
export function readOrderBy(
  text: string,
  columns: readonly SqlColumn[],
  building: Building,
): readonly SortKey[] {
  const { steps } = after({ steps: [], columns }, 'Orderby', text, building, () => [
    { kind: 'orderby', items: parseRule('orderby', text, building.aliases), at: 0 },
  ])
  return steps.flatMap((step) => (step.kind === 'order' ? step.by : []))
}

/** A relation after the transformations that an option names, if it is given. */
function after(
  relation: Relation,
  option: Source['option'],
  text: string | undefined,
  building: Building,
  read: (text: string) => Sequence,
): Relation {
  if (text === undefined) return relation
  const { steps, columns } = inOption(`$${option.toLowerCase()}`, () => {
    const source: Source = { text, option }
    const sequence = read(text)
    requireNames(sequence, source, relation.columns)
    return new Pipeline(source, building).read(sequence, relation.columns)
  })
  return { steps: [...relation.steps, ...steps], columns }
}

/** Reads a list of plain names, as that of `$select`. @throws EngineError `invalid_option` */
export function readNames(option: string, text: string): readonly NameItem[] {
  return inOption(option, () => parseRule('names', text))
}

/** Adds the name of the option to errors, and replaces "the filter" in their messages by "the expression". */
function inOption<T>(option: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof EngineError) || error.code === 'invalid_columns') throw error
    const code = error.code === 'invalid_filter' ? 'invalid_option' : error.code
    const message = error.message.replace(/\b([Tt])he filter\b/g, '$1he expression')
    throw new EngineError(code, `${option}: ${message}`, { cause: error, details: error.details })
  }
}

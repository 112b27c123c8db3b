import { EngineError } from '../../errors.ts'
import type { SqlColumn } from '../check/scope.ts'
import { parseRule } from '../syntax/parse.ts'
import type { NameItem } from '../syntax/tree.ts'
import type { Building, Source } from './building.ts'
import { computedColumns, sortKeys } from './computed.ts'
import { requireNames } from './grouping.ts'
import { Pipeline } from './pipeline.ts'
import { searchCondition } from './search.ts'
import type { AddedColumn, Relation, SortKey } from './steps.ts'

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
  let relation: Relation = { steps: [], columns }
  if (apply !== undefined) relation = inOption('$apply', () => readApply(apply, columns, building))
  if (compute !== undefined) {
    const added = inOption('$compute', () => readCompute(compute, relation.columns, building))
    relation = {
      steps: [...relation.steps, { kind: 'compute', added }],
      columns: [...relation.columns, ...added],
    }
  }
  if (search !== undefined) {
    const condition = inOption('$search', () =>
      searchCondition(parseRule('search', search, building.aliases), relation.columns, building),
    )
    relation = { ...relation, steps: [...relation.steps, { kind: 'filter', condition }] }
  }
  return relation
}

function readApply(text: string, columns: readonly SqlColumn[], building: Building): Relation {
  const source: Source = { text, option: 'Apply' }
  const sequence = parseRule('apply', text, building.aliases)
  requireNames(sequence, source, columns)
  return new Pipeline(source, building).read(sequence, columns)
}

function readCompute(
  text: string,
  columns: readonly SqlColumn[],
  building: Building,
): readonly AddedColumn[] {
  const source: Source = { text, option: 'Compute' }
  const computed = parseRule('compute', text, building.aliases)
  requireNames([{ kind: 'compute', computed, at: 0 }], source, columns)
  return computedColumns(computed, source, columns, building)
}

/** Reads `$orderby` with expressions over columns. @throws EngineError the same as `readPipeline` */
export function readOrderBy(
  text: string,
  columns: readonly SqlColumn[],
  building: Building,
): readonly SortKey[] {
  return inOption('$orderby', () => {
    const source: Source = { text, option: 'Orderby' }
    const items = parseRule('orderby', text, building.aliases)
    requireNames([{ kind: 'orderby', items, at: 0 }], source, columns)
    return sortKeys(items, source, columns, building)
  })
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

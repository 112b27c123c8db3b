import { EngineError } from '../../errors.ts'
import { invalid } from '../errors.ts'
import { tokenize } from '../syntax/tokens.ts'
import type { Building, Place } from './building.ts'
import { readComputed, readOrder } from './computed.ts'
import { PipelineReader } from './pipeline.ts'
import { searchCondition } from './search.ts'
import type { Relation, SortKey, StepColumn } from './steps.ts'
import { Cursor } from './token-cursor.ts'

export { aggregateTable } from './aggregates.ts'
export { Building } from './building.ts'
export { sortKey } from './computed.ts'
export type { Relation, SortKey, Step, StepColumn } from './steps.ts'

/** The texts of the options that `readPipeline` reads. */
export interface Pipeline {
  readonly apply?: string | undefined
  readonly compute?: string | undefined
  readonly search?: string | undefined
}

/**
 * Reads `$apply`, `$compute` and `$search` into steps, in the order in which the standard applies them.
 * @throws EngineError `invalid_option` with the position, `invalid_columns`, `filter_type_error`, `filter_too_complex`
 */
export function readPipeline(
  { apply, compute, search }: Pipeline,
  columns: readonly StepColumn[],
  building: Building,
): Relation {
  let relation: Relation = { steps: [], columns }
  if (apply !== undefined) {
    relation = inOption('$apply', () => {
      const { cursor, place } = begin(apply, 'Apply', building)
      return new PipelineReader(cursor, place, building).read(columns)
    })
  }
  if (compute !== undefined) {
    const added = inOption('$compute', () => {
      const { cursor, place } = begin(compute, 'Compute', building)
      const found = readComputed(cursor, place, relation.columns, building)
      if (cursor.token) throw cursor.unexpected("',' or the end")
      return found
    })
    relation = {
      steps: [...relation.steps, { kind: 'compute', added }],
      columns: [...relation.columns, ...added],
    }
  }
  if (search !== undefined) {
    const condition = inOption('$search', () => searchCondition(search, relation.columns, building))
    relation = { ...relation, steps: [...relation.steps, { kind: 'filter', condition }] }
  }
  return relation
}

/** Reads `$orderby` with expressions over columns. @throws EngineError the same as `readPipeline` */
export function readOrderBy(
  text: string,
  columns: readonly StepColumn[],
  building: Building,
): readonly SortKey[] {
  return inOption('$orderby', () => {
    const { cursor, place } = begin(text, 'Orderby', building)
    const keys = readOrder(cursor, place, columns, building)
    if (cursor.token) throw cursor.unexpected("',' or the end")
    return keys
  })
}

/** What each option holds, for the error if it is empty. */
const EXAMPLES = {
  Apply: 'a transformation, as in groupby((City))',
  Compute: 'an expression and its name, as in Price mul 2 as double',
  Orderby: 'a column or an expression, as in Price desc',
}

function begin(
  text: string,
  option: keyof typeof EXAMPLES,
  { limits }: Building,
): { cursor: Cursor; place: Place } {
  if (text.trim() === '') throw invalid(0, `the text is empty. Write ${EXAMPLES[option]}.`)
  return { cursor: new Cursor(text, tokenize(text, limits)), place: { text, option } }
}

/** Adds the name of the option to errors, and replaces "the filter" in their messages by "the expression". */
function inOption<T>(option: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof RangeError && /call stack/i.test(error.message)) {
      throw new EngineError('filter_too_complex', `${option} nests too deeply.`)
    }
    if (!(error instanceof EngineError) || error.code === 'invalid_columns') throw error
    const code = error.code === 'invalid_filter' ? 'invalid_option' : error.code
    throw new EngineError(
      code,
      `${option}: ${error.message.replace(/\b([Tt])he filter\b/g, '$1he expression')}`,
      {
        cause: error,
        details: error.details,
      },
    )
  }
}

import type { Column, Question } from '../../../client/index.ts'
import { pipelineOf } from '../group/result.ts'
import type { Order } from './order.ts'
import { selectOf } from './shown-columns.ts'

/** What is shown of a dataset. An address contains all of it. */
export interface View {
  readonly filter: string
  /** The `$apply` that groups and aggregates the matching rows; '' for the rows themselves. */
  readonly apply: string
  readonly order: Order | undefined
  /** All columns, of the dataset or of the result of `$apply`. */
  readonly columns: readonly Column[]
  readonly shown: readonly Column[]
}

/** The view as query options. */
export function viewQuestion({ filter, apply, order, columns, shown }: View): Question {
  const pipeline = pipelineOf(filter, apply)
  return {
    ...(pipeline === undefined ? { filter: filter || undefined } : { apply: pipeline }),
    orderBy: order && [order],
    select: selectOf(columns, shown),
  }
}

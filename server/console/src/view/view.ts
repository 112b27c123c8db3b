import type { Column, Question } from '../../../client/index.ts'
import { pipelineOf } from '../group/result.ts'
import type { Order } from './order.ts'
import { selectOf } from './shown-columns.ts'

/** What of a dataset is shown, all of which an address holds. */
export interface View {
  readonly filter: string
  /** What groups and sums the rows that match; '' for the rows themselves. */
  readonly apply: string
  readonly order: Order | undefined
  /** The columns that there are, of the dataset or of the result. */
  readonly columns: readonly Column[]
  readonly shown: readonly Column[]
}

/** The view as a question to the service. */
export function viewQuestion({ filter, apply, order, columns, shown }: View): Question {
  const pipeline = pipelineOf(filter, apply)
  return {
    ...(pipeline === undefined ? { filter: filter || undefined } : { apply: pipeline }),
    orderBy: order && [order],
    select: selectOf(columns, shown),
  }
}

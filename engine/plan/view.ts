import type { RowNumbers } from '../export/formats/encoder.ts'
import type { Plan, PlanSource, Slice } from './plan.ts'

/** The columns of a source under other names, and the number of each row as one more. */
export interface View {
  /** A name for each column of the source, in their order. */
  readonly names: readonly string[]
  /**
   * Names of further columns, each with the number of the row in the source, from 1. DuckDB calculates it only where a
   * query uses it.
   */
  readonly rowNumbers: readonly string[]
}

/** The SQL name of the row number in a scan. */
export const ROW_NUMBER = 'row_number_'

/** The source with the columns of the view. */
export function viewed(source: PlanSource, view: View): PlanSource {
  return {
    ...source,
    columns: [
      ...view.rowNumbers.map((name) => ({ name, type: 'integer', sql: ROW_NUMBER }) as const),
      ...source.columns.map((column, index) => ({ ...column, name: view.names[index]! })),
    ],
  }
}

/** SQL for the number of a row among files that are read together. */
export function rowNumberOf(slices: readonly Slice[]): string {
  const first = slices.map((slice) => slice.first + 1)
  if (first.length === 1) return `${first[0]} + file_row_number`
  return `[${first.join(', ')}][CAST(file_index AS BIGINT) + 1] + file_row_number`
}

/**
 * The plan without its row numbers, which the encoder can then count. Undefined unless the row numbers come before all
 * other columns and the result is consecutive rows of the source.
 */
export function withoutRowNumbers(
  plan: Plan,
): { readonly plan: Plan; readonly numbers: RowNumbers } | undefined {
  const { scan, steps, filter, order, window } = plan
  const whole = window.skip === 0 && window.top === undefined && window.last === undefined
  if (scan.kind !== 'slices' || steps.length > 0 || filter || order.length > 0 || !whole) return undefined
  const [slice] = scan.slices
  const count = plan.columns.findIndex(({ sql }) => sql !== ROW_NUMBER)
  const columns = plan.columns.slice(count)
  if (!slice || count < 1 || columns.some(({ sql }) => sql === ROW_NUMBER)) return undefined
  return {
    plan: { ...plan, columns, source: plan.source.filter(({ sql }) => sql !== ROW_NUMBER) },
    numbers: {
      names: plan.columns.slice(0, count).map(({ name }) => name),
      first: slice.first + (slice.from ?? 0) + 1,
    },
  }
}

import type { PlanSource, Slice } from './plan.ts'

/** The columns of a source under other names, and the number of each row as one more. */
export interface View {
  /** For each column of the source, in their order. */
  readonly names: readonly string[]
  /**
   * Names of further columns, each with the number of the row in the source, from 1. DuckDB calculates it only where a
   * query uses it.
   */
  readonly rowNumbers: readonly string[]
}

/** What a scan calls the number of a row. */
export const ROW_NUMBER = 'row_number_'

/** The source as a view shows it. */
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

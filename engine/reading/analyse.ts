import type { Expression, SqlColumn } from '../filter/index.ts'
import { elementsOf, rowGroupSizes } from '../parquet/footer.ts'
import { footerOf } from '../parquet/parquet-file.ts'
import { groupStatistics } from '../parquet/statistics.ts'
import { readStruct } from '../parquet/thrift.ts'
import { explanation, partsOf, profileOf, type TableStep, verdictOf } from '../plan/explain.ts'
import type { Explanation } from '../plan/explanation.ts'
import { mayMatch } from '../plan/parts.ts'
import type { Plan, Slice } from '../plan/plan.ts'
import { shownCondition } from '../plan/shown-condition.ts'
import type { Format, Statement } from '../types/index.ts'
import type { Run } from './runs.ts'

/**
 * Runs a statement without giving its rows, and tells what was read and what each step took.
 * @param strategy how the rows would be written in the format
 * @param remote what another database, if there is one, would do with the statement
 */
export async function analyse(
  run: Run,
  format: Format,
  strategy: string,
  remote: string | undefined,
): Promise<Explanation> {
  const { plan } = run
  const { tableSteps, ...profile } = await profileOfRun(run)
  const parts = partsOf(plan)
  const rowGroups = parts?.byRanges === 0 ? await rowGroupsOf(plan, tableSteps) : null
  const verdict = verdictOf({ ...profile, rowGroups }, plan, format)
  const where =
    remote ?? (plan.scan.kind === 'query' ? 'DuckDB, in a process of its own.' : 'DuckDB, in the server.')
  return { verdict, where, strategy, parts, rowGroups, ...profile }
}

/** Runs the statements one after the other; the steps are those of the first. */
async function profileOfRun({ executor, statement, start, plan }: Run) {
  const { following = [], ...options } = start
  const profile = async (one: Statement) => {
    const [row] = await executor.rows(explanation(one, '(ANALYZE, FORMAT JSON) '), options)
    return profileOf(String(row![1]), plan)
  }
  let { ms, bytesRead = 0, ...first } = await profile(statement)
  for (const next of following) {
    const more = await profile(next)
    ms += more.ms
    bytesRead += more.bytesRead ?? 0
  }
  return { ...first, ms, bytesRead }
}

/**
 * How many row groups may have wanted rows: those in the window, and with a filter those whose statistics don't rule it
 * out. DuckDB, which skips the others, doesn't say how many it skipped.
 */
async function rowGroupsOf(plan: Plan, steps: readonly TableStep[]): Promise<Explanation['rowGroups']> {
  const { scan, pruning, source } = plan
  const reads =
    scan.kind === 'slices'
      ? [{ slices: scan.slices, columns: source, filters: [pruning ?? []].flat() }]
      : steps.map(({ table, conditions }) => ({
          ...table,
          filters: conditions.flatMap((condition) => shownCondition(condition, table.columns) ?? []),
        }))
  let read = 0
  let of = 0
  for (const { slices, columns, filters } of reads) {
    for (const slice of slices) {
      const may = await groupsMayMatch(slice, columns, filters)
      read += may.filter((wanted) => wanted).length
      of += may.length
    }
  }
  return { read, of }
}

async function groupsMayMatch(
  { file, from = 0, to = Infinity, rows }: Slice,
  columns: readonly SqlColumn[],
  filters: readonly Expression[],
): Promise<boolean[]> {
  const footer = readStruct((await footerOf(file)).footer)
  // A part that is older than a column of the table doesn't have it.
  const stored = elementsOf(footer).length - 2
  const statistics = groupStatistics(footer, columns.slice(0, stored))
  let start = 0
  return rowGroupSizes(footer).map((group, index) => {
    const [first, end] = [start, start + group.rows]
    start = end
    if (from >= end || to <= first || rows?.every((row) => row < first || row >= end)) return false
    return filters.every((filter) => mayMatch(filter, { rows: group.rows, statistics: statistics[index]! }))
  })
}

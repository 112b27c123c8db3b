import { elementsOf, rowGroupSizes } from '../parquet/footer.ts'
import { footerOf } from '../parquet/parquet-file.ts'
import { groupStatistics } from '../parquet/statistics.ts'
import { readStruct } from '../parquet/thrift.ts'
import { explanation, partsOf, profileOf, verdictOf } from '../plan/explain.ts'
import type { Explanation } from '../plan/explanation.ts'
import type { Plan, Slice } from '../plan/plan.ts'
import { mayMatch } from '../plan/prune.ts'
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
  const profile = await profileOfRun(run)
  const parts = partsOf(plan)
  const rowGroups = parts?.byRanges === 0 ? await rowGroupsOf(plan) : null
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
  let { ms, bytesRead = 0, steps } = await profile(statement)
  for (const next of following) {
    const more = await profile(next)
    ms += more.ms
    bytesRead += more.bytesRead ?? 0
  }
  return { ms, bytesRead, steps }
}

/**
 * How many row groups of the plan's parts may have wanted rows: those in the window, and with a filter those whose
 * statistics don't rule it out. DuckDB, which skips the others, doesn't say how many it skipped.
 */
async function rowGroupsOf(plan: Plan): Promise<Explanation['rowGroups']> {
  const { scan } = plan
  if (scan.kind !== 'slices') return null
  let read = 0
  let of = 0
  for (const slice of scan.slices) {
    const may = await groupsMayMatch(slice, plan)
    read += may.filter((wanted) => wanted).length
    of += may.length
  }
  return { read, of }
}

async function groupsMayMatch(
  { file, from = 0, to = Infinity, rows }: Slice,
  plan: Plan,
): Promise<boolean[]> {
  const footer = readStruct((await footerOf(file)).footer)
  // A part that is older than a column of the table doesn't have it.
  const stored = elementsOf(footer).length - 2
  const statistics = groupStatistics(footer, plan.source.slice(0, stored))
  let start = 0
  return rowGroupSizes(footer).map((group, index) => {
    const [first, end] = [start, start + group.rows]
    start = end
    if (from >= end || to <= first || rows?.every((row) => row < first || row >= end)) return false
    return !plan.pruning || mayMatch(plan.pruning, { rows: group.rows, statistics: statistics[index]! })
  })
}

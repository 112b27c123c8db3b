import type { SqlColumn } from '../filter/index.ts'
import type { Format, Statement } from '../types/index.ts'
import type { ExplainedStep, Explanation } from './explanation.ts'
import { canPrune } from './parts.ts'
import { isRanged, type Plan, type TableScan } from './plan.ts'

/** How many parts are read. A statement opens all parts of its tables. */
export function partsOf({ scan }: Plan): Explanation['parts'] {
  const tables = scan.kind === 'slices' ? [scan] : scan.kind === 'query' && scan.tables
  if (!tables) return null
  const slices = tables.flatMap((table) => table.slices)
  const of = tables.reduce((sum, table) => sum + table.of, 0)
  return { read: slices.length, of, byRanges: slices.filter(isRanged).length }
}

export function partsRead(plan: Plan): string | undefined {
  const parts = partsOf(plan)
  return parts
    ? `Parts read: ${parts.read} of ${parts.of}${parts.byRanges > 0 ? `, ${parts.byRanges} by ranges` : ''}`
    : undefined
}

interface Profiled {
  readonly operator_name: string
  readonly operator_timing: number
  readonly operator_cardinality: number
  readonly extra_info: Readonly<Record<string, unknown>>
  readonly children: readonly Profiled[]
}

/** A step that reads a table of a user's statement, and the conditions that it compares with statistics. */
export interface TableStep {
  readonly table: TableScan
  readonly conditions: readonly string[]
}

export interface Profile extends Pick<Explanation, 'ms' | 'bytesRead' | 'steps'> {
  readonly tableSteps: readonly TableStep[]
}

/** What DuckDB tells of a statement that it ran. Columns of parts get their names, and no path is told. */
export function profileOf(json: string, { scan, source }: Plan): Profile {
  const { latency, total_bytes_read: bytesRead, children } = JSON.parse(json)
  const tableSteps: TableStep[] = []
  const steps = (all: readonly Profiled[], depth: number): ExplainedStep[] =>
    all.flatMap((one) => {
      const { 'Filename(s)': files = '', ...extra } = one.extra_info
      const { operator_name: name, operator_cardinality: rows, operator_timing: seconds } = one
      if (name === 'EXPLAIN_ANALYZE') return steps(one.children, depth)
      const table = scan.kind === 'query' ? tableOf(String(files), scan.tables ?? []) : undefined
      if (table) tableSteps.push({ table, conditions: [extra['Filters'] ?? []].flat().map(String) })
      const details = withNames(extra, scan.kind === 'query' ? (table?.columns ?? []) : source)
      return [{ name, depth, rows, ms: seconds * 1e3, details }, ...steps(one.children, depth + 1)]
    })
  return { ms: latency * 1e3, bytesRead, steps: steps(children, 0), tableSteps }
}

function tableOf(files: string, tables: readonly TableScan[]): TableScan | undefined {
  return tables.find(({ slices }) => slices.some(({ file }) => files.startsWith(file)))
}

function withNames(details: Profiled['extra_info'], columns: readonly SqlColumn[]): ExplainedStep['details'] {
  // Outside of the user's texts, these are the names that we give to columns of parts.
  const named = JSON.stringify(details).replaceAll(/'(?:''|[^'])*'|\bc\d+\b/g, (text) => {
    const name = columns.find(({ sql }) => sql === text)?.name
    return name === undefined ? text : JSON.stringify(name).slice(1, -1)
  })
  return JSON.parse(named)
}

/** The statement that gives DuckDB's plan of a statement, as keys and texts; with ANALYZE, it runs it. */
export function explanation(statement: Statement, options = ''): Statement {
  return {
    ...statement,
    sql: `EXPLAIN ${options}${statement.sql}`,
    columns: [
      { name: 'key', type: 'string' },
      { name: 'value', type: 'string' },
    ],
  }
}

type Explained = Pick<Explanation, 'steps' | 'rowGroups'>

/** What DuckDB's steps do, and what helps where it takes long. The first that fits a step counts. */
const WORK: readonly {
  readonly steps: RegExp
  readonly what: string
  readonly advice: string | ((explained: Explained, plan: Plan) => string)
}[] = [
  { steps: /SCAN|READ/, what: 'Reading', advice: readingAdvice },
  { steps: /ORDER|TOP_N|WINDOW/, what: 'Sorting', advice: 'With $top, only the first rows are kept.' },
  {
    steps: /GROUP|AGGREGATE/,
    what: 'Grouping',
    advice: 'A filter before it leaves fewer rows, and fewer keys make fewer groups.',
  },
  { steps: /JOIN|PRODUCT/, what: 'Joining', advice: 'Filter or group the tables before they are joined.' },
  { steps: /./, what: 'Calculating', advice: 'Select only the columns that you need.' },
]

/** What took most of the time, and what would help, in some sentences. */
export function verdictOf(explained: Explained, plan: Plan, format: Format): string {
  const total = explained.steps.reduce((sum, { ms }) => sum + ms, 0)
  const works = Map.groupBy(explained.steps, ({ name }) => WORK.find(({ steps }) => steps.test(name))!)
  const [most] = [...works]
    .map(([work, steps]) => ({ ...work, ms: steps.reduce((sum, { ms }) => sum + ms, 0) }))
    .toSorted((one, other) => other.ms - one.ms)
  if (!most) return 'Nothing is read.'
  const advice = typeof most.advice === 'string' ? most.advice : most.advice(explained, plan)
  const share = total > 0 ? Math.round((most.ms / total) * 100) : 0
  const verdict = `${most.what} takes ${share} % of the time. ${advice}`
  return format === 'xlsx' ? `${verdict} Writing the workbook, which is not counted, takes longer.` : verdict
}

function readingAdvice({ rowGroups }: Explained, { scan, filter, pruning, reads, source }: Plan): string {
  if (scan.kind === 'query') {
    return rowGroups && mostRuledOut(rowGroups)
      ? ruledOut(rowGroups)
      : 'Name only the columns that you need, and compare the column by which the rows are sorted.'
  }
  if (!filter || reads.counted.length === 0)
    return 'No filter leaves out rows before they are read; $select leaves out columns.'
  if (!pruning || !canPrune(pruning)) {
    return (
      'The filter calculates with values, as contains() and month() do, so statistics rule out nothing. ' +
      "Compare the column itself where you can, as in day ge 2024-03-01 and day lt 2024-04-01, or in startswith(name, 'A')."
    )
  }
  if (!rowGroups) return 'Less is fetched where the rows are sorted by the column of the filter.'
  const { read, of } = rowGroups
  if (of === 1) return 'There is a single row group, which is read whole.'
  if (mostRuledOut(rowGroups)) return ruledOut(rowGroups)
  const names = reads.counted.map((position) => source[position]!.name).join(', ')
  return (
    `Statistics could rule out only ${of - read} of ${of} row groups, because the rows are not sorted by ${names}. ` +
    'Sort the rows by the column that you filter most before you upload them.'
  )
}

type RowGroups = NonNullable<Explanation['rowGroups']>

function mostRuledOut({ read, of }: RowGroups): boolean {
  return read * 2 <= of
}

function ruledOut({ read, of }: RowGroups): string {
  return `Statistics have ruled out all but ${read} of ${of} row groups.`
}

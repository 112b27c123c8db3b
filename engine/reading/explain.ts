import { hint, inWords, type Words } from '../errors.ts'
import { compileFilter, type Expression, type SqlColumn } from '../filter/index.ts'
import { libraryWords } from '../library-words.ts'
import { elementsOf, FIELD, groupsOf, numberOf } from '../parquet/footer.ts'
import { footerOf } from '../parquet/parquet-file.ts'
import { groupStatistics } from '../parquet/statistics.ts'
import { readStruct } from '../parquet/thrift.ts'
import { canPrune, mayMatch } from '../plan/parts.ts'
import { isRanged, type Plan, type Slice, type TableScan } from '../plan/plan.ts'
import type { Format, Statement } from '../types/index.ts'
import type { ExplainedStep, Explanation } from './explanation.ts'
import type { Run } from './runs.ts'

/** Of a query without columns. */
export const NOTHING_READ: Omit<Explanation, 'strategy' | 'columns'> = {
  verdict: 'Nothing is read.',
  where: 'Nothing is read.',
  parts: null,
  rowGroups: null,
  ms: 0,
  bytesRead: 0,
  steps: [],
}

/** How many parts are read. A statement opens all parts of its tables. */
function partsOf({ scan }: Plan): Explanation['parts'] {
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
interface TableStep {
  readonly table: TableScan
  readonly conditions: readonly string[]
}

interface Profile extends Pick<Explanation, 'ms' | 'bytesRead' | 'steps'> {
  readonly tableSteps: readonly TableStep[]
}

/** What DuckDB tells of a statement that it ran. Columns of parts get their names, and no path is told. */
function profileOf(json: string, { scan, source }: Plan): Profile {
  // DuckDB has no steps for a statement that statistics alone answer, as count(*) of a file.
  const { latency = 0, total_bytes_read: bytesRead, children = [] } = JSON.parse(json)
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
  {
    steps: /ORDER|TOP_N|WINDOW/,
    what: 'Sorting',
    advice: `With ${hint('$top')}, only the first rows are kept.`,
  },
  {
    steps: /GROUP|AGGREGATE/,
    what: 'Grouping',
    advice: 'A filter before it leaves fewer rows, and fewer keys make fewer groups.',
  },
  { steps: /JOIN|PRODUCT/, what: 'Joining', advice: 'Filter or group the tables before they are joined.' },
  { steps: /./, what: 'Calculating', advice: 'Select only the columns that you need.' },
]

/** What took most of the time, and what would help, in some sentences. */
function verdictOf(explained: Explained, plan: Plan, format: Format): string {
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
    return `No filter leaves out rows before they are read; ${hint('$select')} leaves out columns.`
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
  words: Words = libraryWords,
): Promise<Omit<Explanation, 'columns'>> {
  const { plan } = run
  const { tableSteps, ...profile } = await profileOfRun(run)
  const parts = partsOf(plan)
  const rowGroups = parts?.byRanges === 0 ? await rowGroupsOf(plan, tableSteps) : null
  const verdict = inWords(verdictOf({ ...profile, rowGroups }, plan, format), words)
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
      read += may.filter((isRead) => isRead).length
      of += may.length
    }
  }
  return { read, of }
}

async function groupsMayMatch(
  { file, from = 0, to = Infinity, rows, attached }: Slice,
  columns: readonly SqlColumn[],
  filters: readonly Expression[],
): Promise<boolean[]> {
  const footer = readStruct((await footerOf(file)).footer)
  // A part that is older than a column of the table doesn't have it. Parts that are ours have ordinals, too.
  const stored = elementsOf(footer).length - (attached ? 1 : 2)
  const statistics = groupStatistics(footer, columns.slice(0, stored))
  let start = 0
  return groupsOf(footer).map((group, index) => {
    const count = numberOf(group, FIELD.group.rows)
    const [first, end] = [start, start + count]
    start = end
    if (from >= end || to <= first || rows?.every((row) => row < first || row >= end)) return false
    return filters.every((filter) => mayMatch(filter, { rows: count, statistics: statistics[index]! }))
  })
}

/** What DuckDB writes in a condition, and what a filter has in its place. */
const WORDS: Readonly<Record<string, string>> = {
  'optional: ': '',
  '=': ' eq ',
  '!=': ' ne ',
  '<': ' lt ',
  '<=': ' le ',
  '>': ' gt ',
  '>=': ' ge ',
  'IS NULL': 'eq null',
  'IS NOT NULL': 'ne null',
  AND: 'and',
  OR: 'or',
  NOT: 'not',
  IN: 'in',
}
const TOKENS =
  /'(?:''|[^'])*'(?:::[A-Z ]+)?|optional: |[!<>]?=|[<>]|\bIS (?:NOT )?NULL\b|\b(?:AND|OR|NOT|IN)\b/g

/**
 * A condition on columns of a part, as DuckDB shows it with the step that compares it with the statistics of row groups:
 * `c0>=17 AND optional: c0<=18`, `c3>'2021-01-01 00:00:00'::TIMESTAMP`. Undefined where a filter can't say it, so that
 * nothing is known of it.
 */
function shownCondition(text: string, columns: readonly SqlColumn[]): Expression | undefined {
  const filter = text.replaceAll(TOKENS, (token) => WORDS[token] ?? literal(token))
  try {
    return compileFilter(
      filter,
      columns.map((column) => ({ ...column, name: column.sql })),
    ).tree
  } catch {
    return undefined
  }
}

function literal(token: string): string {
  const [, value, type] = /^'(.*)'::([A-Z ]+)$/s.exec(token) ?? []
  if (type === undefined) return token
  return type.startsWith('TIMESTAMP') ? `${value!.replace(' ', 'T').replace(/\+00$/, '')}Z` : value!
}

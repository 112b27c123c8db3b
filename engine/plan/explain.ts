import type { Statement } from '../types/index.ts'
import type { ExplainedStep, Explanation } from './explanation.ts'
import type { Plan } from './plan.ts'

/** How many parts are read; those by ranges are named by addresses. A statement opens all parts of its tables. */
export function partsOf({ scan }: Plan): Explanation['parts'] {
  if (scan.kind === 'slices') {
    const byRanges = scan.slices.filter(({ file }) => file.startsWith('http:')).length
    return { read: scan.slices.length, of: scan.of, byRanges }
  }
  if (scan.kind !== 'query' || scan.parts === undefined) return null
  return { read: scan.parts, of: scan.parts, byRanges: 0 }
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

/** What DuckDB tells of a statement that it ran. Columns of parts get their names, and no path is told. */
export function profileOf(json: string, { source }: Plan): Pick<Explanation, 'ms' | 'bytesRead' | 'steps'> {
  // Outside of the user's texts, these are the names that we give to columns of parts.
  const named = json.replaceAll(/'(?:''|[^'])*'|\bc\d+\b/g, (text) => {
    const name = source.find(({ sql }) => sql === text)?.name
    return name === undefined ? text : JSON.stringify(name).slice(1, -1)
  })
  const { latency, total_bytes_read: bytesRead, children } = JSON.parse(named)
  const steps = (all: readonly Profiled[], depth: number): ExplainedStep[] =>
    all.flatMap((one) => {
      const { 'Filename(s)': _, ...details } = one.extra_info
      const { operator_name: name, operator_cardinality: rows, operator_timing: seconds } = one
      if (name === 'EXPLAIN_ANALYZE') return steps(one.children, depth)
      return [{ name, depth, rows, ms: seconds * 1e3, details }, ...steps(one.children, depth + 1)]
    })
  return { ms: latency * 1e3, bytesRead, steps: steps(children, 0) }
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

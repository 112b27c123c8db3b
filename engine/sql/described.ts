import { type Plan, type PlanSource, physicalColumns } from '../plan/plan.ts'
import { type Column, quoteIdentifier } from '../types/index.ts'
import { INTERNAL, shownName } from './errors.ts'
import type { DescribedColumn } from './process/jobs.ts'
import type { CutSql } from './rewrite.ts'
import { SqlReading, type SqlReadingContext, Tables } from './sql-reading.ts'

/** The name of the rows of a saved query whose reader may not see all that it reads. */
const FENCED = quoteIdentifier(`${INTERNAL}t0`)
/** Assumed for a row, whose size nobody knows. */
const ROW_BYTES = 64

/** A statement as DuckDB writes it, and its columns. */
export interface Described {
  readonly sql: CutSql
  readonly columns: readonly DescribedColumn[]
}

/** Has a statement read by DuckDB in its process. @throws EngineError as the statement's rows do */
export async function describe(
  statement: { readonly tree: string; readonly held: readonly string[] },
  context: Omit<SqlReadingContext, 'relation'>,
  signal: AbortSignal | undefined,
): Promise<Described> {
  using reading = new SqlReading({} as Plan, { ...context, relation: () => '' })
  const leave = context.session.enter(signal)
  try {
    const lent = await context.session.lent
    const tables = new Tables()
    await reading.link(lent, signal, tables)
    const job = { ...statement, tables: tables.sql }
    return (await lent.process.run('describe', job, signal ? { signal } : {}, 'a statement')) as Described
  } catch (error) {
    throw reading.explain(error)
  } finally {
    leave()
  }
}

/** A described statement with its constants. */
export interface StatementSql extends Pick<Described, 'columns'> {
  readonly sql: string
}

/** The rows of a statement. @param tables WITH and its tables; nothing where it is below another statement, which fences it */
export function statementRelation({ sql, columns }: StatementSql, tables: string, fenced: boolean): string {
  const given = columns.map((_, index) => `r${index}`).join(', ')
  const selected = columns.map((column, index) => `${column.sql} AS c${index}`).join(', ')
  const rows = `SELECT ${selected} FROM (${sql}\n) AS r (${given})`
  if (!fenced || tables === '') return `(${tables}${rows})`
  return `(${tables.trimEnd()}, ${FENCED} AS MATERIALIZED (${rows}) SELECT * FROM ${FENCED})`
}

/** The columns of a statement under names of which each is another, and how they are scanned. */
export function statementSource(described: StatementSql): { source: PlanSource; columns: readonly Column[] } {
  const taken = new Set<string>()
  const columns = described.columns.map(({ name, type }) => ({
    name: unique(shownName(name), taken),
    type,
    nullable: true,
    description: '',
  }))
  const source: PlanSource = {
    columns: physicalColumns(columns),
    rows: undefined,
    rowBytes: ROW_BYTES,
    scan: () => ({ kind: 'query', sql: '' }),
  }
  return { source, columns }
}

function unique(name: string, taken: Set<string>): string {
  let other = name
  for (let number = 1; taken.has(other); number++) other = `${name}_${number}`
  taken.add(other)
  return other
}

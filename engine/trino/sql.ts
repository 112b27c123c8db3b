import type { Step } from '../filter/index.ts'
import { positional } from '../filter/index.ts'
import type { Plan, PlanColumn } from '../plan/plan.ts'
import { afterSteps, limitOf, orderTerms, POSITION, type RelationSql, sorted } from '../plan/steps-sql.ts'
import { ROW_NUMBER } from '../plan/view.ts'
import type { ColumnType } from '../types/index.ts'

/** A question in Trino's SQL. */
export interface TrinoSql {
  readonly sql: string
  /** In the order of the `?` in the SQL. All are texts. */
  readonly parameters: readonly string[]
}

/** The number of a row in its table, from 0: plain tables of Iceberg have both columns (`engine/iceberg/table-schema.ts`). */
const NUMBER = 'f + r'

/**
 * The rows of a plan that was made for Trino.
 * @param most the most rows that may come back; one more is asked for, so that too many can be told
 */
export function trinoRows(plan: Plan, table: string, most: number): TrinoSql {
  const rows = matching(plan, table, plan.reads.rows)
  const relation = plan.order.length > 0 ? sorted(rows, plan.order) : rows
  const { skip, top, last } = plan.window
  const columns = plan.columns.map(shown).join(', ')
  if (last === undefined) {
    const limit = limitOf(skip, Math.min(top ?? most + 1, most + 1))
    return said(plan, `SELECT ${columns} FROM ${relation.sql} ORDER BY ${orderTerms(relation.order)}${limit}`)
  }
  const backwards = relation.order.map(({ sql, descending }) => ({ sql, descending: !descending }))
  const ends = `(SELECT * FROM ${relation.sql} ORDER BY ${orderTerms(backwards)} LIMIT ${last})`
  return said(plan, `SELECT ${columns} FROM ${ends} ORDER BY ${orderTerms(relation.order)}`)
}

/** The number of rows that match a plan's filter. */
export function trinoCount(plan: Plan, table: string): TrinoSql {
  return said(plan, `SELECT CAST(count(*) AS VARCHAR) FROM ${matching(plan, table, plan.reads.counted).sql}`)
}

/** The rows that match the filter. */
function matching(plan: Plan, table: string, read: readonly number[]): RelationSql {
  const filter: Step[] = plan.filter ? [{ kind: 'filter', condition: plan.filter.sql }] : []
  return afterSteps(baseOf(plan, table, read), [...plan.steps, ...filter])
}

function baseOf({ source }: Plan, table: string, reads: readonly number[]): RelationSql {
  const positions = new Set(reads)
  const stored = source.filter((column) => column.stored !== undefined && positions.has(column.stored))
  const read = [...new Set(stored.map(({ sql }) => sql))]
  const numbered = source.some(({ sql }) => sql === ROW_NUMBER)
  const names = [...read, ...(numbered ? [ROW_NUMBER] : []), POSITION.sql]
  const columns = [
    ...read,
    ...(numbered ? [`${NUMBER} + 1 AS ${ROW_NUMBER}`] : []),
    `${NUMBER} AS ${POSITION.sql}`,
  ]
  return {
    sql: `(SELECT ${columns.join(', ')} FROM ${table})`,
    order: [POSITION],
    inOrder: false,
    columns: names,
  }
}

function said({ stepParameters, filter, orderParameters }: Plan, sql: string): TrinoSql {
  return positional(sql, [...stepParameters, ...(filter?.parameters ?? []), ...orderParameters])
}

/** A column of the result. JSON has no whole numbers beyond 53 bits in JavaScript, so they come as texts. */
function shown({ sql, type }: PlanColumn): string {
  return type === ('integer' satisfies ColumnType) ? `CAST(${sql} AS VARCHAR)` : sql
}

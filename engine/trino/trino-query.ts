import type { Delegate } from '../duckdb/cursor.ts'
import { NotTranslatable, positional, type SqlColumn, type Step } from '../filter/index.ts'
import { trino } from '../filter/sql/trino.ts'
import { type Plan, type PlanSource, planQuery, type QueryOptions, type Scan } from '../plan/plan.ts'
import { afterSteps, orderTerms, POSITION, type RelationSql, sorted, startOf } from '../plan/steps-sql.ts'
import { ROW_NUMBER } from '../plan/view.ts'
import type { RemoteQuery } from '../reading/remote.ts'
import { type ColumnType, limitOf, quoteLiteral } from '../types/index.ts'

/** A table as Trino sees it. */
interface TrinoTable {
  /** Compressed bytes of the columns used, in the parts that may hold wanted rows; Infinity where Trino never pays. */
  readonly minBytes: number
  /** The most rows of an answer. */
  readonly maxRows: number
  /** Its name in SQL. It may be gone, which is an error. */
  name(): Promise<string>
  /** The compressed bytes of columns in a scan; undefined if Trino can't read its parts in the order of their rows. */
  bytesOf(scan: Scan, columns: readonly number[]): number | undefined
  /** @param fallible what may fail on a value of the data, as the beginning of a sentence */
  delegate(sql: string, fallible: string | undefined): Delegate
}

/** Where a query is answered, and why. */
interface Decision {
  /** The plan for Trino; undefined where DuckDB answers. */
  readonly trino: Plan | undefined
  readonly because: string
}

const here = (because: string): Decision => ({ trino: undefined, because })

/**
 * Decides where a query is answered. Trino gets those that read much and give few rows: it reads with
 * many machines, but needs several times the CPU time for each row, and is slow to give rows back. Everything else, and
 * everything that it would not answer in exactly the same way, is left to DuckDB.
 */
export function trinoQuery(
  table: TrinoTable,
  plan: Plan,
  source: PlanSource,
  options: QueryOptions,
  now: Date,
): RemoteQuery {
  const { maxRows } = table
  // The parts are known from the other plan.
  const planned = () => planQuery({ ...source, scan: () => plan.scan }, options, { dialect: trino, now })
  let decided: Decision | undefined
  const decision = () =>
    (decided ??= hasFew(plan, maxRows) ? decide(table, plan, false, planned) : here(MANY))
  const delegate = (statement: TrinoSql) => table.delegate(inlined(statement), plan.fallible)
  return {
    async rows(window) {
      const { trino: own } = decision()
      return own && delegate(trinoRows({ ...own, window }, await table.name(), maxRows))
    },
    async count() {
      const { trino: own } = decide(table, plan, true, planned)
      return own && delegate(trinoCount(own, await table.name()))
    },
    explain() {
      const { trino: own, because } = decision()
      return `Read by: ${own ? 'Trino' : 'DuckDB'}, because ${because}`
    },
  }
}

function decide(table: TrinoTable, plan: Plan, counting: boolean, planned: () => Plan): Decision {
  const { scan, filter, order, steps, reads } = plan
  if (scan.kind !== 'slices') return here('the rows are not in parts')
  if (!filter && order.length === 0 && steps.every(({ kind }) => kind === 'compute')) return here(IN_ORDER)
  const { minBytes } = table
  if (minBytes === Number.POSITIVE_INFINITY) return here(TOO_FEW)
  const bytes = table.bytesOf(scan, counting ? reads.counted : reads.rows)
  if (bytes === undefined) return here('some parts do not number their rows')
  const read = `it reads ${bytes} bytes of columns`
  if (bytes < minBytes) return here(`${read}, fewer than ${minBytes}`)
  try {
    return { trino: planned(), because: `${read}, at least ${minBytes}` }
  } catch (error) {
    if (error instanceof NotTranslatable) return here(`Trino has no ${error.what} with the same meaning`)
    throw error
  }
}

const IN_ORDER = 'rows in the order of upload are read fastest by one machine'
const TOO_FEW = 'Trino has too few cores to be quicker than this machine'
const MANY = 'more rows may come back than Trino gives quickly'

/**
 * Whether few rows come back. How many groups there are is not known; if there are too many, the answer of Trino is
 * given up.
 */
function hasFew({ window, steps }: Pick<Plan, 'window' | 'steps'>, maxRows: number): boolean {
  const most = window.top ?? window.last
  if (most !== undefined && most <= maxRows) return true
  return steps.some((step) => {
    switch (step.kind) {
      case 'group':
        return true
      case 'window':
        return step.partition.length === 0 && step.top !== undefined && step.top <= maxRows
      case 'keep':
        return step.partition.length === 0 && step.until === 'count'
      case 'concat':
        return step.branches.every((branch) => hasFew({ window: { skip: 0 }, steps: branch.steps }, maxRows))
      default:
        return false
    }
  })
}

/** A statement with the values of its parameters in it. */
function inlined({ sql, parameters }: TrinoSql): string {
  if (parameters.length === 0) return sql
  return `EXECUTE IMMEDIATE ${quoteLiteral(sql)} USING ${parameters.map(quoteLiteral).join(', ')}`
}

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
function trinoRows(plan: Plan, table: string, most: number): TrinoSql {
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
function trinoCount(plan: Plan, table: string): TrinoSql {
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
  const columns = [
    ...read,
    ...(numbered ? [`${NUMBER} + 1 AS ${ROW_NUMBER}`] : []),
    `${NUMBER} AS ${POSITION.sql}`,
  ]
  const sql = `(SELECT ${columns.join(', ')} FROM ${table})`
  return { ...startOf(sql, [POSITION]), inOrder: false, keepsOrder: false }
}

function said({ stepParameters, filter, orderParameters }: Plan, sql: string): TrinoSql {
  return positional(sql, [...stepParameters, ...(filter?.parameters ?? []), ...orderParameters])
}

/** A column of the result. JSON has no whole numbers beyond 53 bits in JavaScript, so they come as texts. */
function shown({ sql, type }: SqlColumn): string {
  return type === ('integer' satisfies ColumnType) ? `CAST(${sql} AS VARCHAR)` : sql
}

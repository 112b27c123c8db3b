import type { Branch, SortKey, Step } from '../filter/index.ts'
import { limitOf } from '../types/index.ts'

/** A relation as SQL, to be put after FROM. */
export interface RelationSql {
  readonly sql: string
  /** The keys that define the order of its rows. The last one is the position of a row, where it has one. */
  readonly order: readonly SortKey[]
  /** Whether the rows have this order without an ORDER BY. */
  readonly inOrder: boolean
  /** Whether subqueries and UNION ALL keep the order of rows, as in DuckDB. */
  readonly keepsOrder: boolean
  /** The bits that positions take at most. */
  readonly bits: number
  /** How many columns steps have added for themselves. Their names are numbered, and they stay. */
  readonly made: number
}

/** The bits of a whole number that is not negative. */
const NUMBER_BITS = 63

/** The position of a row in a relation before any step. */
export const POSITION: SortKey = { sql: 'o', descending: false }

/** Rows before any step, as DuckDB reads them: in the order of these keys. */
export function startOf(sql: string, order: readonly SortKey[]): RelationSql {
  return { sql, order, inOrder: true, keepsOrder: true, bits: NUMBER_BITS, made: 0 }
}

/**
 * `ORDER BY` terms: null before every value (OData 4.01 part 1, 11.2.6.2).
 *
 * Where DuckDB sorts by a column, it takes the column's values from its sort keys, in which -0 is 0. A sum is not the
 * column, so the column's own values are kept beside it.
 */
export function orderTerms(keys: readonly SortKey[]): string {
  return keys
    .map(({ sql, double, descending }) => {
      return `${sql}${double ? ' + 0e0' : ''} ${descending ? 'DESC NULLS LAST' : 'ASC NULLS FIRST'}`
    })
    .join(', ')
}

/** The relation with more columns, and their names. */
function withMore(relation: RelationSql, values: readonly string[]): [RelationSql, ...names: string[]] {
  const columns = values.map((value, index) => ({ value, sql: `p${relation.made + index + 1}` }))
  const sql = `(SELECT *, ${added(columns)} FROM ${relation.sql})`
  return [{ ...relation, sql, made: relation.made + values.length }, ...namesOf(columns)]
}

/** The rows of a relation that a condition holds for, one after the other as they come. */
function where(relation: RelationSql, condition: string): RelationSql {
  return { ...relation, sql: `(SELECT * FROM ${relation.sql} WHERE ${condition})` }
}

/** The relation after steps. */
export function afterSteps(relation: RelationSql, steps: readonly Step[]): RelationSql {
  return steps.reduce(afterStep, relation)
}

function afterStep(relation: RelationSql, step: Step): RelationSql {
  switch (step.kind) {
    case 'filter':
      return where(relation, step.condition)
    case 'compute':
      return { ...relation, sql: `(SELECT *, ${added(step.added)} FROM ${relation.sql})` }
    case 'group':
      return grouped(relation, step)
    case 'order':
      return sorted(relation, step.by)
    case 'window':
      return windowed(relation, step)
    case 'keep':
      return keepRows(relation, step)
    case 'concat':
      return concatenated(relation, step)
    default:
      return step satisfies never
  }
}

function added(columns: readonly { readonly sql: string; readonly value: string }[]): string {
  return columns.map(({ sql, value }) => `${value} AS ${sql}`).join(', ')
}

function namesOf(columns: readonly { readonly sql: string }[]): string[] {
  return columns.map(({ sql }) => sql)
}

type Of<Kind extends Step['kind']> = Extract<Step, { kind: Kind }>

/** Groups are in the order of their first rows. Aggregates take the position of a row from the column `p0`. */
function grouped(relation: RelationSql, { keys, added: values }: Of<'group'>): RelationSql {
  const { sql, order } = positioned(relation)
  const by = keys.map((key) => (key.type === 'double' ? `${key.sql} + 0e0` : key.sql))
  const shown = by.map((value, index) =>
    value === keys[index]!.sql ? value : `${value} AS ${keys[index]!.sql}`,
  )
  const first = keys.length === 0 ? 'CAST(0 AS BIGINT)' : 'min(p0)'
  const columns = [...shown, ...(values.length > 0 ? [added(values)] : []), `${first} AS ${POSITION.sql}`]
  const from = `(SELECT *, ${order[0]!.sql} AS p0 FROM ${sql})`
  return {
    ...relation,
    sql: `(SELECT ${columns.join(', ')} FROM ${from}${keys.length === 0 ? '' : ` GROUP BY ${by.join(', ')}`})`,
    order: [POSITION],
    inOrder: keys.length === 0,
    made: 0,
  }
}

/** The relation with one position as the only key of its order: rows that have several keys are numbered anew. */
function positioned(relation: RelationSql): RelationSql {
  if (relation.order.length === 1) return relation
  const [numbered, sql] = withMore(relation, [`row_number() OVER (ORDER BY ${orderTerms(relation.order)})`])
  return { ...numbered, order: [{ sql: sql!, descending: false }], inOrder: false, bits: NUMBER_BITS }
}

/** Sort keys become columns, because the columns in their expressions may be gone by the time the rows are sorted. */
export function sorted(relation: RelationSql, by: readonly SortKey[]): RelationSql {
  const [keyed, ...names] = withMore(relation, namesOf(by))
  const keys = by.map(({ descending }, index) => ({ sql: names[index]!, descending }))
  return { ...keyed, order: [...keys, ...relation.order], inOrder: false }
}

function windowed(relation: RelationSql, { skip, top, partition }: Of<'window'>): RelationSql {
  if (partition.length > 0) {
    const last = top === undefined ? '' : ` AND {} <= ${skip + top}`
    return numbered(relation, partition, relation.order, `{} > ${skip}${last}`)
  }
  const order = relation.inOrder ? '' : ` ORDER BY ${orderTerms(relation.order)}`
  return { ...relation, sql: `(SELECT * FROM ${relation.sql}${order}${limitOf(skip, top)})` }
}

/** The rows whose number in their group passes a condition, in which `{}` stands for the number. */
function numbered(
  relation: RelationSql,
  partition: readonly string[],
  order: readonly SortKey[],
  condition: string,
): RelationSql {
  const [all, number] = withMore(relation, [`row_number() OVER (${over(partition, order)})`])
  return { ...where(all, condition.replaceAll('{}', number!)), inOrder: false }
}

function over(partition: readonly string[], order: readonly SortKey[]): string {
  const groups = partition.length > 0 ? `PARTITION BY ${partition.join(', ')} ` : ''
  return `${groups}ORDER BY ${orderTerms(order)}`
}

/** Keeps the rows with the largest or smallest values; among equal values the first rows. The order stays the same. */
function keepRows(relation: RelationSql, step: Of<'keep'>): RelationSql {
  const { by, until, amount, partition } = step
  const order = [by, ...relation.order]
  if (until !== 'count') return keepBySum(relation, step, order)
  // Trino takes no expression after LIMIT.
  if (partition.length > 0 || !/^\d+$/.test(amount)) {
    return numbered(relation, partition, order, `{} <= ${amount}`)
  }
  return {
    ...relation,
    sql: `(SELECT * FROM ${relation.sql} ORDER BY ${orderTerms(order)} LIMIT ${amount})`,
    inOrder: false,
  }
}

/**
 * Rows are taken until their sum reaches the amount. No later row is taken, even if negative values would bring the sum
 * below the amount again.
 */
function keepBySum(relation: RelationSql, step: Of<'keep'>, order: readonly SortKey[]): RelationSql {
  const { by, until, amount, partition } = step
  const window = over(partition, order)
  const group = partition.length > 0 ? `PARTITION BY ${partition.join(', ')}` : ''
  const [summed, sum, number, total] = withMore(relation, [
    `coalesce(sum(${by.sql}) OVER (${window} ROWS UNBOUNDED PRECEDING), 0)`,
    `row_number() OVER (${window})`,
    ...(until === 'percent' ? [`sum(${by.sql}) OVER (${group})`] : []),
  ])
  const part = (sign: string) => `${sum} * 100 ${sign} ${total} * ${amount}`
  const reached =
    until === 'percent'
      ? `coalesce(CASE WHEN ${total} > 0 THEN ${part('>=')} WHEN ${total} < 0 THEN ${part('<=')} END, FALSE)`
      : `${sum} >= ${amount}`
  const before = `${group} ORDER BY ${number} ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING`
  const [all, done] = withMore(summed, [`coalesce(bool_or(${reached}) OVER (${before}), FALSE)`])
  // The sum of no rows is 0, so an amount of 0 or less is reached before the first row.
  const start = until === 'sum' ? `${amount} > 0` : 'TRUE'
  return { ...where(all, `NOT ${done} AND ${start}`), inOrder: false }
}

/**
 * The rows of the branches, one branch after the other. Where the database keeps that order, only branches that are out
 * of order are sorted: to sort all rows would take memory for all of them.
 */
function concatenated(relation: RelationSql, { branches, columns }: Of<'concat'>): RelationSql {
  const { keepsOrder } = relation
  const steps = branches.map((branch) => positioned(afterSteps(relation, branch.steps)))
  const bits = Math.max(...steps.map((branch) => branch.bits))
  // Identical branches share their steps; the rows of these are read once, unless they come in order as they are read.
  const groups = Map.groupBy(branches.keys(), (index) =>
    streams(steps[index]!, branches[index]!) ? index : branches[index]!.steps,
  )
  const selects = [...groups.values()].map((indices) => {
    const [index] = indices as [number]
    const { sql, order, inOrder } = steps[index]!
    const list = branches[index]!.values.map((value, at) => `${value} AS ${columns[at]!.sql}`)
    const starts = indices.map((at) => `CAST('${BigInt(at) << BigInt(bits)}' AS DECIMAL(38,0))`)
    const isShared = starts.length > 1
    // The rows of a branch may have columns of another concat().
    const from = isShared ? `${sql} CROSS JOIN (VALUES (${starts.join('), (')})) AS n0(b0)` : sql
    const position = `${isShared ? 'n0.b0' : starts[0]} + ${order[0]!.sql} AS ${POSITION.sql}`
    const select = `SELECT ${[...list, position].join(', ')} FROM ${from}`
    return keepsOrder && !isShared && !inOrder ? `(${select} ORDER BY ${POSITION.sql})` : select
  })
  return {
    sql: `(${selects.join(' UNION ALL ')})`,
    order: [POSITION],
    inOrder: keepsOrder && groups.size === branches.length,
    keepsOrder,
    bits: bits + Math.ceil(Math.log2(branches.length)),
    made: 0,
  }
}

/** Whether the rows of a branch come in order as they are read, so that nothing is kept of them. */
function streams({ inOrder }: RelationSql, { steps }: Branch): boolean {
  return inOrder && steps.every(({ kind }) => kind !== 'group')
}

import type { SortKey, Step } from '../filter/index.ts'

/**
 * A relation as SQL, to be put after FROM. It has a column `o`, the position of a row; some steps add further columns
 * that come before `o` in the order.
 */
export interface RelationSql {
  readonly sql: string
  /** The keys that define the order of its rows. */
  readonly order: readonly SortKey[]
  /** Whether the rows have this order without an ORDER BY. */
  readonly inOrder: boolean
  /** The names of its columns, where the database has no `SELECT * EXCLUDE`. */
  readonly columns?: readonly string[]
}

export const POSITION: SortKey = { sql: 'o', descending: false }

/** Whether a step needs the positions of rows, which a scan of row ranges of files doesn't give. */
export function needsPosition(steps: readonly Step[]): boolean {
  return steps.some(({ kind }) => kind !== 'filter' && kind !== 'compute')
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

/** The rows of a range. DuckDB takes LIMIT and OFFSET in any order, other databases in this one. */
export function limitOf(skip: number, top: number | undefined): string {
  return (skip > 0 ? ` OFFSET ${skip}` : '') + (top === undefined ? '' : ` LIMIT ${top}`)
}

/** All columns of a relation but some of those that a step added. */
function without({ columns }: RelationSql, names: readonly string[]): string {
  if (names.length === 0) return '*'
  return columns
    ? columns.filter((name) => !names.includes(name)).join(', ')
    : `* EXCLUDE (${names.join(', ')})`
}

/** The columns of a relation with more of them. */
function withMore({ columns }: RelationSql, names: readonly string[]): Pick<RelationSql, 'columns'> {
  return columns ? { columns: [...columns, ...names] } : {}
}

/** The relation after steps. */
export function afterSteps(relation: RelationSql, steps: readonly Step[]): RelationSql {
  return steps.reduce(afterStep, relation)
}

function afterStep(relation: RelationSql, step: Step): RelationSql {
  switch (step.kind) {
    case 'filter':
      return { ...relation, sql: `(SELECT * FROM ${relation.sql} WHERE ${step.condition})` }
    case 'compute':
      return {
        ...relation,
        ...withMore(relation, namesOf(step.added)),
        sql: `(SELECT *, ${added(step.added)} FROM ${relation.sql})`,
      }
    case 'group':
      return grouped(relation, step)
    case 'order':
      return sorted(relation, step.by)
    case 'window':
      return windowed(relation, step)
    case 'keep':
      return kept(relation, step)
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

/** Groups are in the order of their first rows. */
function grouped(relation: RelationSql, { keys, added: values }: Of<'group'>): RelationSql {
  const { sql } = positioned(relation)
  const by = keys.map((key) => (key.type === 'double' ? `${key.sql} + 0e0` : key.sql))
  const shown = by.map((value, index) =>
    value === keys[index]!.sql ? value : `${value} AS ${keys[index]!.sql}`,
  )
  const columns = [...shown, ...(values.length > 0 ? [added(values)] : [])]
  const from =
    keys.length === 0
      ? `(SELECT ${columns.join(', ')}, CAST(0 AS BIGINT) AS o FROM ${sql})`
      : `(SELECT ${columns.join(', ')}, min(o) AS o FROM ${sql} GROUP BY ${by.join(', ')})`
  const names = [...namesOf(keys), ...namesOf(values), POSITION.sql]
  return {
    sql: from,
    order: [POSITION],
    inOrder: keys.length === 0,
    ...(relation.columns && { columns: names }),
  }
}

/** The relation with `o` as the only key of its order: rows that have several keys are numbered anew. */
function positioned(relation: RelationSql): RelationSql {
  if (relation.order.length === 1) return relation
  const others = without(relation, namesOf(relation.order))
  const number = `row_number() OVER (ORDER BY ${orderTerms(relation.order)}) AS ${POSITION.sql}`
  const kept = relation.columns?.filter((name) => !namesOf(relation.order).includes(name))
  return {
    sql: `(SELECT ${[...(others === '' ? [] : [others]), number].join(', ')} FROM ${relation.sql})`,
    order: [POSITION],
    inOrder: false,
    ...(kept && { columns: [...kept, POSITION.sql] }),
  }
}

/** Sort keys become columns, because the columns in their expressions may be gone by the time the rows are sorted. */
export function sorted(relation: RelationSql, by: readonly SortKey[]): RelationSql {
  const depth = relation.order.length
  const keys = by.map((key, index) => ({ ...key, column: `k${depth}_${index}` }))
  const columns = keys.map(({ sql, column }) => ({ sql: column, value: sql }))
  return {
    ...withMore(relation, namesOf(columns)),
    sql: `(SELECT *, ${added(columns)} FROM ${relation.sql})`,
    order: [...keys.map(({ column, descending }) => ({ sql: column, descending })), ...relation.order],
    inOrder: false,
  }
}

function windowed(relation: RelationSql, { skip, top, partition }: Of<'window'>): RelationSql {
  if (partition.length > 0) {
    const conditions = [`w > ${skip}`, ...(top === undefined ? [] : [`w <= ${skip + top}`])]
    return numbered(relation, partition, relation.order, conditions.join(' AND '))
  }
  const order = relation.inOrder ? '' : ` ORDER BY ${orderTerms(relation.order)}`
  return { ...relation, sql: `(SELECT * FROM ${relation.sql}${order}${limitOf(skip, top)})` }
}

/** The rows whose number `w` in their group passes a condition. */
function numbered(
  relation: RelationSql,
  partition: readonly string[],
  order: readonly SortKey[],
  condition: string,
): RelationSql {
  const number = `row_number() OVER (${over(partition, order)}) AS w`
  return {
    ...relation,
    sql: `(SELECT ${without(relation, ['w'])} FROM (SELECT *, ${number} FROM ${relation.sql}) WHERE ${condition})`,
    inOrder: false,
  }
}

function over(partition: readonly string[], order: readonly SortKey[]): string {
  const groups = partition.length > 0 ? `PARTITION BY ${partition.join(', ')} ` : ''
  return `${groups}ORDER BY ${orderTerms(order)}`
}

/** Keeps the rows with the largest or smallest values; among equal values the first rows. The order stays the same. */
function kept(relation: RelationSql, step: Of<'keep'>): RelationSql {
  const { by, until, amount, partition } = step
  const order = [by, ...relation.order]
  if (until !== 'count') return keptBySum(relation, step, order)
  // A database without EXCLUDE takes no expression after LIMIT either.
  if (partition.length > 0 || relation.columns) {
    return numbered(relation, partition, order, `w <= ${amount}`)
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
function keptBySum(relation: RelationSql, step: Of<'keep'>, order: readonly SortKey[]): RelationSql {
  const { by, until, amount, partition } = step
  const window = over(partition, order)
  const group = partition.length > 0 ? `PARTITION BY ${partition.join(', ')}` : ''
  const sums = [
    `coalesce(sum(${by.sql}) OVER (${window} ROWS UNBOUNDED PRECEDING), 0) AS w`,
    ...(until === 'percent' ? [`sum(${by.sql}) OVER (${group}) AS total`] : []),
    `row_number() OVER (${window}) AS n`,
  ]
  const reached =
    until === 'percent'
      ? `coalesce(CASE WHEN total > 0 THEN w * 100 >= total * ${amount} WHEN total < 0 THEN w * 100 <= total * ${amount} END, FALSE)`
      : `w >= ${amount}`
  const before = `${group} ORDER BY n ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING`
  const done = `coalesce(bool_or(${reached}) OVER (${before}), FALSE) AS done`
  const added = ['w', 'n', 'done', ...(until === 'percent' ? ['total'] : [])]
  // The sum of no rows is 0, so an amount of 0 or less is reached before the first row.
  const start = until === 'sum' ? `${amount} > 0` : 'TRUE'
  return {
    ...relation,
    sql: `(SELECT ${without(relation, added)} FROM (SELECT *, ${done} FROM (SELECT *, ${sums.join(', ')} FROM ${relation.sql})) WHERE NOT done AND ${start})`,
    inOrder: false,
  }
}

function concatenated(relation: RelationSql, { branches, columns }: Of<'concat'>): RelationSql {
  // Identical branches share their steps; the rows of these are read once.
  const groups = Map.groupBy(branches.entries(), ([, { steps }]) => steps)
  const selects = [...groups].map(([steps, [first, ...others]]) => {
    const branch = positioned(afterSteps(relation, steps))
    const [index, { values }] = first!
    const list = values.map((value, at) => `${value} AS ${columns[at]!.sql}`)
    const numbers = others.map(([other]) => `(${other})`).join(', ')
    if (others.length === 0) return `SELECT ${[...list, `${index} AS b`, 'o'].join(', ')} FROM ${branch.sql}`
    return `SELECT ${[...list, 'b', 'o'].join(', ')} FROM ${branch.sql} CROSS JOIN (VALUES (${index}), ${numbers}) AS n(b)`
  })
  const order = [{ sql: 'b', descending: false }, POSITION]
  const names = relation.columns && { columns: [...namesOf(columns), ...namesOf(order)] }
  return positioned({ sql: `(${selects.join(' UNION ALL ')})`, order, inOrder: false, ...names })
}

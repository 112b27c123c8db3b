import type { SqlColumn } from '../check/expression.ts'
import { invalid, LIMITS, tooComplex } from '../errors.ts'
import { asColumn, type Building, type Value } from '../sql/compile.ts'
import { NotTranslatable } from '../sql/dialect.ts'
import { columnType, common, type ValueType, valueType } from '../values.ts'

/** A column that a step adds, and the SQL of its value. */
export interface AddedColumn extends SqlColumn {
  readonly value: string
}

/**
 * One step of relational algebra, as plain data: it turns one relation into another. Everything in it has been checked.
 * Its SQL refers to columns of the relation before it, and to parameters by their number.
 *
 * `partition` lists columns whose values split the relation into groups. The step is done in each group separately.
 */
export type Step =
  | { readonly kind: 'filter'; readonly condition: string }
  /** Adds columns. */
  | { readonly kind: 'compute'; readonly added: readonly AddedColumn[] }
  /**
   * One row for each combination of the keys, in the order of first appearance. Without keys, always exactly one row. The
   * key of -0 and 0, which are equal, is 0.
   */
  | { readonly kind: 'group'; readonly keys: readonly SqlColumn[]; readonly added: readonly AddedColumn[] }
  /** Sorts the rows. Rows with equal keys stay in their order. */
  | { readonly kind: 'order'; readonly by: readonly SortKey[] }
  /** Drops the first `skip` rows and keeps the next `top` rows, or all of them if `top` is undefined. */
  | {
      readonly kind: 'window'
      readonly skip: number
      readonly top: number | undefined
      readonly partition: readonly string[]
    }
  /** Keeps the rows with the largest or smallest values: a number of rows, or until their sum reaches an amount. */
  | {
      readonly kind: 'keep'
      readonly by: SortKey
      readonly until: KeepUntil
      /** SQL of a number. */
      readonly amount: string
      readonly partition: readonly string[]
    }
  /** The rows of each branch, one branch after the other. */
  | { readonly kind: 'concat'; readonly branches: readonly Branch[]; readonly columns: readonly SqlColumn[] }

export type KeepUntil = 'count' | 'sum' | 'percent'

export interface SortKey {
  readonly sql: string
  readonly descending: boolean
  /** Whether its values are doubles, among which -0 equals 0. */
  readonly double?: boolean
}

export interface Branch {
  readonly steps: readonly Step[]
  /** For each column of the concatenation, the SQL of its value. */
  readonly values: readonly string[]
}

/** Steps, and the columns that come out of them. */
export interface Relation {
  readonly steps: readonly Step[]
  readonly columns: readonly SqlColumn[]
  /** Whether a group may have no rows after the steps. If not given, they don't change that. */
  readonly mayEmpty?: boolean
}

/** The key that sorts rows by SQL of a type. */
export function sortKey(sql: string, type: ValueType, descending: boolean, { dialect }: Building): SortKey {
  const double = type.kind === 'double'
  // Trino sorts -0 before 0, although the two are equal.
  if (dialect.name !== 'duckdb' && double) throw new NotTranslatable('order of double')
  return { sql, descending, ...(double && { double }) }
}

/**
 * The key that sorts rows by a value. A column is not cast, because only a bare column lets files be skipped. Everything
 * else is cast, so that DuckDB doesn't take a constant for something else.
 */
export function keyOf(
  value: Value,
  descending: boolean,
  columns: readonly SqlColumn[],
  building: Building,
): SortKey {
  const isBare = value.type.kind === 'duration' || columns.some(({ sql }) => sql === value.sql)
  const sql = isBare ? value.sql : asColumn(value, building).value
  return sortKey(sql, value.type, descending, building)
}

/** One row for each combination of the keys. */
export function group(keys: readonly SqlColumn[], added: readonly AddedColumn[]): Relation {
  return {
    steps: [{ kind: 'group', keys, added }],
    columns: [...keys, ...added],
    mayEmpty: false,
  }
}

/**
 * The rows of all branches, one branch after the other, as one relation. Columns of the same name become one column,
 * which is null in the rows of branches that lack it.
 * @throws EngineError `invalid_filter` where a column has different types in them, `filter_too_complex`
 */
export function concatenated(branches: readonly Relation[], at: number, building: Building): Relation {
  const names = [...new Set(branches.flatMap((branch) => branch.columns.map(({ name }) => name)))]
  const columns = names.map((name): SqlColumn => {
    const given = branches.flatMap((branch) => branch.columns.filter((column) => column.name === name))
    const same = given.every(({ type }) => type === given[0]!.type)
    const type = same ? undefined : common(given.map((column) => valueType(column.type)))
    if (!same && !type) {
      const types = [...new Set(given.map((column) => column.type))].join(' and ')
      throw invalid(at, `the branches of concat() have ${name} in different types, ${types}.`)
    }
    return { name, type: type ? columnType(type) : given[0]!.type, sql: building.newName() }
  })
  const step: Step = {
    kind: 'concat',
    columns,
    branches: branches.map((branch) => ({
      steps: branch.steps,
      values: columns.map(({ name, type }) => {
        const own = branch.columns.find((column) => column.name === name)
        if (own) building.noteColumns([own])
        return `CAST(${own?.sql ?? 'NULL'} AS ${building.dialect.type(valueType(type))})`
      }),
    })),
  }
  checkSize([step])
  return { steps: [step], columns }
}

interface Size {
  /** How often the rows are read. Each branch of concat() or rollup() reads what is before it. */
  readonly reads: number
  /** The longest sequence of steps. */
  readonly steps: number
  /** The most of them that group rows. */
  readonly groupings: number
}

/**
 * Refuses steps that would take long to plan, or read the rows many times, before there is any SQL of them.
 * @throws EngineError `filter_too_complex`
 */
export function checkSize(steps: readonly Step[]): void {
  const size = sizeOf(steps)
  if (size.reads > LIMITS.reads) {
    throw tooComplex(
      `the branches of concat() and rollup() read the rows ${size.reads} times; the limit is ${LIMITS.reads}. ` +
        'Each branch reads again what is before it.',
    )
  }
  if (size.steps > LIMITS.steps) {
    throw tooComplex(`there are ${size.steps} transformations in sequence; the limit is ${LIMITS.steps}.`)
  }
  if (size.groupings > LIMITS.groupings) {
    throw tooComplex(
      `there are ${size.groupings} transformations in sequence that group rows; the limit is ${LIMITS.groupings}.`,
    )
  }
}

function sizeOf(steps: readonly Step[]): Size {
  let [reads, length, groupings] = [1, 0, 0]
  for (const step of steps) {
    length += 1
    if (step.kind === 'concat') {
      const branches = step.branches.map((branch) => sizeOf(branch.steps))
      reads *= branches.reduce((sum, branch) => sum + branch.reads, 0)
      length += Math.max(...branches.map((branch) => branch.steps))
      groupings += Math.max(...branches.map((branch) => branch.groupings))
    } else if (step.kind === 'group' || ('partition' in step && step.partition.length > 0)) {
      groupings += 1
    }
  }
  return { reads, steps: length, groupings }
}

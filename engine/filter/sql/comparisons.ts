import { FLIPPED } from '../check/check-comparison.ts'
import { type Expression, literal, literalOf } from '../check/expression.ts'
import { daysOf } from '../syntax/calendar.ts'
import type { ComparisonOperator } from '../syntax/tree.ts'
import { FIRST_DAY, LAST_DAY, type LiteralValue, TYPE, type ValueType } from '../values.ts'
import {
  all,
  any,
  atom,
  call,
  caseWhen,
  cast,
  comparison,
  FALSE,
  INFINITY,
  NAN,
  not,
  orFalse,
  orTrue,
  postfix,
  type Sql,
  type SqlDialect,
  TRUE,
} from './dialect.ts'
import { byKey, type Keyed, narrow } from './narrow.ts'

/**
 * How a condition must treat nulls, which depends on where it stands. In a `filter`, which is the top and the operands
 * of `and` and `or` there, a null drops the row just as false does, so plain operators are enough, and DuckDB can skip
 * row groups by them. In a `value`, such as an operand of `not` or `eq`, a comparison must give true or false and never
 * null, as the standard demands.
 */
export type NullHandling = 'filter' | 'value'

/** The interface through which the files of the compiler get the SQL of operands and new parameters. */
export interface SqlWriter {
  readonly dialect: SqlDialect
  /** SQL of an expression. @throws EngineError `filter_too_complex` */
  sql(node: Expression, nulls: NullHandling): Sql
  /** A new parameter, bound as VARCHAR. */
  parameter(text: string): Sql
  /** A value of a type: texts as parameters, numbers and dates as they are. */
  typed(text: string, type: ValueType): Sql
}

type Comparison = Extract<Expression, { kind: 'comparison' }>
type Order = 'gt' | 'ge' | 'lt' | 'le'

const SIGNS = { gt: '>', ge: '>=', lt: '<', le: '<=' } as const

/**
 * DuckDB 1.5 takes `x IS DISTINCT FROM 5 OR x = 6` for a condition that no null meets, and skips row groups in which x
 * is null throughout. It also turns `NOT (x IS NOT DISTINCT FROM 5)` into such a comparison, and brings together those
 * in `p AND … OR p AND …`. coalesce() changes no value here, but DuckDB doesn't look into it for what to skip.
 */
function different(left: Sql, right: Sql): Sql {
  return orTrue(comparison(left, 'IS DISTINCT FROM', right))
}

function same(left: Sql, right: Sql): Sql {
  return orFalse(comparison(left, 'IS NOT DISTINCT FROM', right))
}

/** Comparisons as sections 5.1.1.1.1 to 5.1.1.1.6 define them, although DuckDB treats null and NaN in another way. */
export function comparisonSql(compiler: SqlWriter, node: Comparison, nulls: NullHandling): Sql {
  const value = literalOf(node.right)
  if (value) return withLiteral(compiler, node, value, nulls)
  const left = compiler.sql(node.left, 'value')
  const right = compiler.sql(node.right, 'value')
  const kinds = [node.left.type.kind, node.right.type.kind]
  if (kinds[0] === 'integer' && kinds[1] === 'double') return mixed(node.operator, left, right, nulls)
  if (kinds[0] === 'double' && kinds[1] === 'integer')
    return mixed(FLIPPED[node.operator], right, left, nulls)
  const doubles = kinds[0] === 'double'
  switch (node.operator) {
    case 'eq':
      return doubles ? all([same(left, right), different(simpler(left, right), NAN)]) : same(left, right)
    case 'ne':
      return doubles ? any([different(left, right), same(simpler(left, right), NAN)]) : different(left, right)
    default:
      return ordered(node, node.operator, left, right, nulls)
  }
}

function simpler(left: Sql, right: Sql): Sql {
  return left.text.length <= right.text.length ? left : right
}

/** @param operator that of the node, or a narrower one in the same direction */
function ordered(node: Comparison, operator: Order, left: Sql, right: Sql, nulls: NullHandling): Sql {
  const sign = SIGNS[operator]
  const onLeft = operator === 'gt' || operator === 'ge'
  // DuckDB sorts NaN above all numbers, so it must be excluded from the side that is greater.
  const greater = onLeft ? node.left : node.right
  let sql = comparison(left, sign, right)
  // Both are comparisons of the column itself, because only by such can DuckDB skip row groups.
  if (greater.type.kind === 'double' && greater.kind === 'column') {
    sql = all([sql, comparison(onLeft ? left : right, '<=', INFINITY)])
  } else if (greater.type.kind === 'double' && greater.kind !== 'literal') {
    const known = (side: Sql) => call('nullif', side, NAN)
    sql = onLeft ? comparison(known(left), sign, right) : comparison(left, sign, known(right))
  }
  return nulls === 'filter' ? sql : orFalse(sql)
}

function withLiteral(compiler: SqlWriter, node: Comparison, value: LiteralValue, nulls: NullHandling): Sql {
  const { operator, left: operand } = node
  if (value.kind === 'null') return withNull(compiler, operator, operand)
  const range = nulls === 'filter' ? asRange(node) : undefined
  if (range) return all(range.map((bound) => comparisonSql(compiler, bound, nulls)))
  if (nulls === 'filter' && operator === 'eq' && value.kind === 'boolean' && value.value) {
    return compiler.sql(operand, 'filter')
  }
  const narrowed = narrow(operator === 'ne' ? 'eq' : operator, value, operand.type)
  if (narrowed.kind === 'none') return operator === 'ne' ? TRUE : FALSE
  const left = compiler.sql(operand, 'value')
  if (narrowed.kind === 'every') return postfix(left, 'IS NOT NULL')
  const right =
    value.kind === 'boolean' ? (value.value ? TRUE : FALSE) : compiler.typed(narrowed.text, operand.type)
  if (operator === 'ne') return different(left, right)
  if (narrowed.operator === 'eq') {
    return nulls === 'filter' ? equalsLiteral(operand, left, right, narrowed) : same(left, right)
  }
  return ordered(node, narrowed.operator, left, right, nulls)
}

function withNull(compiler: SqlWriter, operator: ComparisonOperator, operand: Expression): Sql {
  if (operator !== 'eq' && operator !== 'ne') return FALSE
  const known = literalOf(operand)
  if (known) return (known.kind === 'null') === (operator === 'eq') ? TRUE : FALSE
  return postfix(compiler.sql(operand, 'value'), operator === 'eq' ? 'IS NULL' : 'IS NOT NULL')
}

/**
 * Compares an integer with a double exactly. The comparison as doubles is right unless the two come out equal, because
 * the integer may have been rounded. In that case the double is a whole number, and both are compared in the wide type.
 */
function mixed(operator: ComparisonOperator, integer: Sql, double: Sql, nulls: NullHandling): Sql {
  const rounded = cast(integer, 'DOUBLE')
  const known = call('nullif', double, NAN)
  const whole = (part: Sql): Sql => cast(part, 'DECIMAL(38,0)')
  const by = (sign: string): Sql =>
    caseWhen(
      [[comparison(rounded, '=', double), comparison(whole(integer), sign, whole(double))]],
      comparison(rounded, sign, known),
    )
  if (operator !== 'eq' && operator !== 'ne') {
    const sql = by(SIGNS[operator])
    return nulls === 'filter' ? sql : orFalse(sql)
  }
  const same = call('coalesce', by('='), all([postfix(integer, 'IS NULL'), postfix(double, 'IS NULL')]))
  return operator === 'eq' ? same : not(same)
}

/**
 * Whether an operand equals a literal; null where the operand is null. 0 as a double equals -0, but the Bloom filter of
 * a row group knows only their bits, so DuckDB 1.5 would leave out row groups that have only the other zero. So for a
 * column, zero is written as a range. DuckDB may find that another operand is just a column, as in `case(true:x)`;
 * coalesce() keeps such a comparison away from Bloom filters.
 */
function equalsLiteral(operand: Expression, x: Sql, value: Sql, { key }: Keyed): Sql {
  if (key !== 0) return comparison(x, '=', value)
  if (operand.kind !== 'column') return orFalse(comparison(x, '=', value))
  return all([comparison(x, '>=', value), comparison(x, '<=', value)])
}

/**
 * The longest `IN` list that DuckDB compares value by value. It turns a longer list into a join, and a join gives the
 * rows in any order. Our API promises the order of rows, so longer lists are written in other ways.
 */
const LONGEST_IN = 4
/** Up to this many values, one comparison for each value pays, because each can rule out row groups. */
const LONGEST_CHAIN = 64
/** Bounds for the search tree: few long leaves cost comparisons, many short leaves cost DuckDB's overhead per leaf. */
const SHORTEST_LEAF = 16
const MOST_LEAVES = 300

/** Section 5.1.1.1.11: whether a value equals one of a list. A null in the list equals a null value. */
export function memberSql(
  compiler: SqlWriter,
  node: Extract<Expression, { kind: 'in' }>,
  nulls: NullHandling,
): Sql {
  const { operand, items } = node
  const { type } = operand
  const values = new Map<string, Keyed>()
  for (const item of items) {
    const narrowed = item.kind === 'null' ? undefined : narrow('eq', item, type)
    if (narrowed?.kind === 'compare') values.set(narrowed.text, narrowed)
  }
  const orNull = items.some((item) => item.kind === 'null')
  if (values.size === 0 && !orNull) return FALSE
  const x = compiler.sql(operand, 'value')
  const isNull = postfix(x, 'IS NULL')
  if (values.size === 0) return isNull
  const member = memberOf(compiler, operand, x, [...values.values()], nulls)
  if (orNull) return any([isNull, member])
  return nulls === 'filter' ? member : orFalse(member)
}

function memberOf(
  compiler: SqlWriter,
  operand: Expression,
  x: Sql,
  values: readonly Keyed[],
  nulls: NullHandling,
): Sql {
  const { type } = operand
  const skipping = operand.kind === 'column' && nulls === 'filter'
  if (values.length <= LONGEST_IN || (values.length <= LONGEST_CHAIN && skipping)) {
    const items = values.map(({ text }) => compiler.typed(text, type))
    return items.length === 1 || items.length > LONGEST_IN
      ? any(items.map((item, index) => equalsLiteral(operand, x, item, values[index]!)))
      : comparison(x, 'IN', atom(`(${items.map((item) => item.text).join(', ')})`))
  }
  const sorted = values.toSorted(byKey).map(({ text }) => text)
  const tree = searchTree(compiler, x, type, sorted)
  if (!skipping) return tree
  return all([
    comparison(x, '>=', compiler.typed(sorted[0]!, type)),
    comparison(x, '<=', compiler.typed(sorted.at(-1)!, type)),
    tree,
  ])
}

/** A binary search written out as SQL: each step halves the list, and a short remainder is searched value by value. */
function searchTree(compiler: SqlWriter, x: Sql, type: ValueType, sorted: readonly string[]): Sql {
  const leaf = Math.max(SHORTEST_LEAF, Math.ceil(sorted.length / MOST_LEAVES))
  const separator = type.kind === 'string' ? absentFrom(sorted) : ','
  const separatorSql = type.kind === 'string' ? compiler.parameter(separator) : atom("','")
  const search = (values: readonly string[]): Sql => {
    if (values.length <= leaf) {
      const joined = compiler.parameter(values.join(separator))
      return compiler.dialect.isAmong(x, joined, separatorSql, type)
    }
    const middle = values.length >> 1
    const below = comparison(x, '<', compiler.typed(values[middle]!, type))
    return caseWhen([[below, search(values.slice(0, middle))]], search(values.slice(middle)))
  }
  return search(sorted)
}

/** A character that occurs in no text of a list, so that it can separate the texts when they are joined. */
function absentFrom(texts: readonly string[]): string {
  const used = new Set(texts.join(''))
  let point = 0x1f
  while (used.has(String.fromCodePoint(point))) point = point === 0xd7ff ? 0xe000 : point + 1
  return String.fromCodePoint(point)
}

/**
 * Turns `x eq 1 or x eq 2` into `x in (1, 2)`, and `x ne 1 and x ne 2` into `not (x in (1, 2))`, because a list can be
 * searched, while a chain is evaluated comparison by comparison. Both forms give the same result where x is null, too.
 */
export function gathered(operands: readonly Expression[], joined: 'and' | 'or'): readonly Expression[] {
  const operator = joined === 'or' ? 'eq' : 'ne'
  const lists = Map.groupBy(
    operands.filter((operand) => comparesWithLiteral(operand, operator)),
    ({ left }) => left.name,
  )
  return operands.flatMap((operand): readonly Expression[] => {
    const list = comparesWithLiteral(operand, operator) ? lists.get(operand.left.name)! : []
    if (list.length < 2) return [operand]
    // The list takes the place of its first comparison; the other comparisons of the list are dropped.
    if (operand !== list[0]) return []
    const { left, type, at } = list[0]!
    const member: Expression = {
      kind: 'in',
      operand: left,
      items: list.map(({ right }) => right.value),
      type,
      at,
    }
    return [joined === 'or' ? member : { kind: 'not', operand: member, type, at }]
  })
}

type Of<Kind extends Expression['kind']> = Extract<Expression, { kind: Kind }>

function comparesWithLiteral(
  node: Expression,
  operator: 'eq' | 'ne',
): node is Of<'comparison'> & { left: Of<'column'>; right: Of<'literal'> } {
  return (
    node.kind === 'comparison' &&
    node.operator === operator &&
    node.left.kind === 'column' &&
    node.right.kind === 'literal'
  )
}

/**
 * Rewrites `year(Day) eq 2024` as `Day ge 2024-01-01 and Day lt 2025-01-01`. That keeps the same rows, but lets DuckDB
 * skip row groups. Undefined unless year() or date() of a column is compared with a literal.
 */
export function asRange(node: Comparison): readonly Comparison[] | undefined {
  const { left, right, operator } = node
  if (left.kind !== 'call' || right.kind !== 'literal' || operator === 'ne') return undefined
  if (right.value.kind === 'null') return undefined
  const [column] = left.args
  const starts = STARTS[left.name]
  if (!starts || column?.kind !== 'column') return undefined
  const narrowed = narrow(operator, right.value, left.type)
  if (narrowed.kind !== 'compare') return undefined
  const bounds = BOUNDS[narrowed.operator].map(([bound, later]) => {
    return { bound, day: starts(Number(narrowed.key) + later) }
  })
  if (!bounds.every(({ day }) => day >= FIRST_DAY && day <= LAST_DAY)) return undefined
  return bounds.map(({ bound, day }) => ({
    kind: 'comparison',
    operator: bound,
    left: column,
    right: literal({ kind: 'date', days: day }, right.at, TYPE.date),
    type: node.type,
    at: node.at,
  }))
}

/** By the name of a function: the first day of the year, or the day itself, that the function returned. */
const STARTS: Readonly<Record<string, ((unit: number) => number) | undefined>> = {
  date: (day) => day,
  year: (year) => daysOf(year, 1, 1),
}

/** Bounds on the day in place of a comparison of years or days, each from the first day of that unit or of the next. */
const BOUNDS = {
  eq: [
    ['ge', 0],
    ['lt', 1],
  ],
  gt: [['ge', 1]],
  ge: [['ge', 0]],
  lt: [['lt', 0]],
  le: [['lt', 1]],
} as const

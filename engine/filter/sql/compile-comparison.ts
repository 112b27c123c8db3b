import { literalOf } from '../check/checked.ts'
import type { Expression } from '../check/expression.ts'
import type { LiteralValue } from '../syntax/literals.ts'
import type { ComparisonOperator } from '../syntax/tree.ts'
import { columnEquals } from './column-equals.ts'
import { asRange } from './compile-range.ts'
import type { Dialect } from './dialect.ts'
import {
  all,
  any,
  call,
  caseWhen,
  cast,
  comparison,
  FALSE,
  not,
  orFalse,
  postfix,
  type Sql,
  TRUE,
} from './fragments.ts'
import { narrow } from './narrow.ts'
import type { Place, SqlWriter } from './sql-writer.ts'

type Comparison = Extract<Expression, { kind: 'comparison' }>
type Order = 'gt' | 'ge' | 'lt' | 'le'

const SIGNS = { gt: '>', ge: '>=', lt: '<', le: '<=' } as const
const SAME = 'IS NOT DISTINCT FROM'
const OTHER = 'IS DISTINCT FROM'

/** Comparisons as sections 5.1.1.1.1 to 5.1.1.1.6 define them, although DuckDB treats null and NaN in another way. */
export function comparisonSql(compiler: SqlWriter, node: Comparison, place: Place): Sql {
  const value = literalOf(node.right)
  if (value) return withLiteral(compiler, node, value, place)
  const left = compiler.sql(node.left, 'value')
  const right = compiler.sql(node.right, 'value')
  const kinds = [node.left.type.kind, node.right.type.kind]
  if (kinds[0] === 'integer' && kinds[1] === 'double')
    return mixed(compiler, node.operator, left, right, place)
  if (kinds[0] === 'double' && kinds[1] === 'integer')
    return mixed(compiler, FLIPPED[node.operator], right, left, place)
  const doubles = kinds[0] === 'double'
  const { nan } = compiler.dialect
  switch (node.operator) {
    case 'eq':
      return doubles
        ? all([comparison(left, SAME, right), comparison(simpler(left, right), OTHER, nan)])
        : comparison(left, SAME, right)
    case 'ne':
      return doubles
        ? any([comparison(left, OTHER, right), comparison(simpler(left, right), SAME, nan)])
        : comparison(left, OTHER, right)
    default:
      return ordered(compiler, node.operator, left, right, doubles ? greaterSide(node) : undefined, place)
  }
}

const FLIPPED = { eq: 'eq', ne: 'ne', gt: 'lt', ge: 'le', lt: 'gt', le: 'ge' } as const

function simpler(left: Sql, right: Sql): Sql {
  return left.text.length <= right.text.length ? left : right
}

/**
 * The side that is greater if the comparison is true. DuckDB sorts NaN above all numbers, so it must be excluded here.
 */
function greaterSide(node: Comparison): Expression {
  return node.operator === 'gt' || node.operator === 'ge' ? node.left : node.right
}

function ordered(
  compiler: SqlWriter,
  operator: Order,
  left: Sql,
  right: Sql,
  guarded: Expression | undefined,
  place: Place,
): Sql {
  const sql = withoutNaN(compiler.dialect, operator, left, right, guarded)
  return place === 'filter' ? sql : orFalse(sql)
}

function withoutNaN(
  dialect: Dialect,
  operator: Order,
  left: Sql,
  right: Sql,
  guarded: Expression | undefined,
): Sql {
  const sign = SIGNS[operator]
  if (!guarded) return comparison(left, sign, right)
  const onLeft = operator === 'gt' || operator === 'ge'
  const greater = onLeft ? left : right
  // The column is compared without a function around it, because only then can DuckDB skip row groups.
  if (guarded.kind === 'column') {
    return all([comparison(left, sign, right), not(dialect.isNaN(greater))])
  }
  const known = call('nullif', greater, dialect.nan)
  return onLeft ? comparison(known, sign, right) : comparison(left, sign, known)
}

function withLiteral(compiler: SqlWriter, node: Comparison, value: LiteralValue, place: Place): Sql {
  const { operator, left: operand } = node
  if (value.kind === 'null') return withNull(compiler, operator, operand)
  const range = place === 'filter' ? asRange(node) : undefined
  if (range) return all(range.map((bound) => comparisonSql(compiler, bound, place)))
  if (place === 'filter' && operator === 'eq' && value.kind === 'boolean' && value.value) {
    return compiler.sql(operand, 'filter')
  }
  const narrowed = narrow(operator === 'ne' ? 'eq' : operator, value, operand.type)
  if (narrowed.kind === 'none') return operator === 'ne' ? TRUE : FALSE
  const left = compiler.sql(operand, 'value')
  if (narrowed.kind === 'every') return postfix(left, 'IS NOT NULL')
  const right =
    value.kind === 'boolean' ? (value.value ? TRUE : FALSE) : compiler.typed(narrowed.text, operand.type)
  if (operator === 'ne') return comparison(left, OTHER, right)
  switch (narrowed.operator) {
    case 'eq':
      if (place !== 'filter') return comparison(left, SAME, right)
      return operand.kind === 'column' ? columnEquals(left, right, narrowed) : comparison(left, '=', right)
    case 'gt':
    case 'ge':
      return ordered(
        compiler,
        narrowed.operator,
        left,
        right,
        operand.type.kind === 'double' ? operand : undefined,
        place,
      )
    case 'lt':
    case 'le':
      return ordered(compiler, narrowed.operator, left, right, undefined, place)
    default:
      return narrowed.operator satisfies never
  }
}

function withNull(compiler: SqlWriter, operator: ComparisonOperator, operand: Expression): Sql {
  if (operator !== 'eq' && operator !== 'ne') return FALSE
  if (literalOf(operand)) {
    const same = literalOf(operand)!.kind === 'null'
    return same === (operator === 'eq') ? TRUE : FALSE
  }
  return postfix(compiler.sql(operand, 'value'), operator === 'eq' ? 'IS NULL' : 'IS NOT NULL')
}

/**
 * Compares an integer with a double exactly. The comparison as doubles is right unless the two come out equal, because
 * the integer may have been rounded. In that case the double is a whole number, and both are compared in the wide type.
 */
function mixed(
  compiler: SqlWriter,
  operator: ComparisonOperator,
  integer: Sql,
  double: Sql,
  place: Place,
): Sql {
  const rounded = cast(integer, 'DOUBLE')
  const known = call('nullif', double, compiler.dialect.nan)
  const whole = (part: Sql): Sql => cast(part, compiler.dialect.wide)
  const by = (sign: string): Sql =>
    caseWhen(
      [[comparison(rounded, '=', double), comparison(whole(integer), sign, whole(double))]],
      comparison(rounded, sign, known),
    )
  if (operator !== 'eq' && operator !== 'ne') {
    const sql = by(SIGNS[operator])
    return place === 'filter' ? sql : orFalse(sql)
  }
  const same = call('coalesce', by('='), all([postfix(integer, 'IS NULL'), postfix(double, 'IS NULL')]))
  return operator === 'eq' ? same : not(same)
}

import type { Expression } from '../check/expression.ts'
import { literalOf } from '../check/expression.ts'
import type { LiteralValue } from '../syntax/literals.ts'
import type { ComparisonOperator } from '../syntax/tree.ts'
import { asRange } from './compile-range.ts'
import { equalsLiteral } from './equals-literal.ts'
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
  orTrue,
  postfix,
  type Sql,
  TRUE,
} from './fragments.ts'
import { narrow } from './narrow.ts'
import type { NullHandling, SqlWriter } from './sql-writer.ts'

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
  if (kinds[0] === 'integer' && kinds[1] === 'double')
    return mixed(compiler, node.operator, left, right, nulls)
  if (kinds[0] === 'double' && kinds[1] === 'integer')
    return mixed(compiler, FLIPPED[node.operator], right, left, nulls)
  const doubles = kinds[0] === 'double'
  const { nan } = compiler.dialect
  switch (node.operator) {
    case 'eq':
      return doubles ? all([same(left, right), different(simpler(left, right), nan)]) : same(left, right)
    case 'ne':
      return doubles ? any([different(left, right), same(simpler(left, right), nan)]) : different(left, right)
    default:
      return ordered(compiler, node.operator, left, right, doubles ? greaterSide(node) : undefined, nulls)
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
  { dialect }: SqlWriter,
  operator: Order,
  left: Sql,
  right: Sql,
  guarded: Expression | undefined,
  nulls: NullHandling,
): Sql {
  const sign = SIGNS[operator]
  const onLeft = operator === 'gt' || operator === 'ge'
  let sql = comparison(left, sign, right)
  // Both are comparisons of the column itself, because only by such can DuckDB skip row groups.
  if (guarded?.kind === 'column') {
    sql = all([sql, comparison(onLeft ? left : right, '<=', dialect.infinity)])
  } else if (guarded) {
    const known = (side: Sql) => call('nullif', side, dialect.nan)
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
  const isAbove = narrowed.operator === 'gt' || narrowed.operator === 'ge'
  const guarded = isAbove && operand.type.kind === 'double' ? operand : undefined
  return ordered(compiler, narrowed.operator, left, right, guarded, nulls)
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
  nulls: NullHandling,
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
    return nulls === 'filter' ? sql : orFalse(sql)
  }
  const same = call('coalesce', by('='), all([postfix(integer, 'IS NULL'), postfix(double, 'IS NULL')]))
  return operator === 'eq' ? same : not(same)
}

import { mistyped } from '../errors.ts'
import { literalType, NULL } from '../syntax/literals.ts'
import type { ComparisonOperator, Syntax } from '../syntax/tree.ts'
import { arithmetic, negate } from './check-arithmetic.ts'
import { call } from './check-call.ts'
import { comparison, membership } from './check-comparison.ts'
import { convert, isLocal, isNull, literal, requireZone, show, tightType } from './checked.ts'
import { columnsOf } from './column-names.ts'
import type { Expression } from './expression.ts'
import type { FilterColumn, Scope } from './scope.ts'
import { unknownColumns } from './unknown-columns.ts'
import { common, isMoment, TYPE, typeName, type ValueType, valueType } from './value-types.ts'

/**
 * Gives every part a type, and refuses what doesn't fit.
 * @throws EngineError `invalid_columns`, all of them at once; `filter_type_error`; `invalid_filter`
 */
export function check(
  tree: Syntax,
  columns: readonly FilterColumn[],
  options: { readonly text: string; readonly now?: Date },
): { tree: Expression; columns: readonly string[] } {
  const names = columnsOf(tree)
  const known = new Map<string, FilterColumn>()
  for (const column of columns) {
    if (known.size === names.size) break
    if (names.has(column.name)) known.set(column.name, column)
  }
  const unknown = new Map([...names].filter(([name]) => !known.has(name)))
  if (unknown.size > 0) throw unknownColumns(unknown, options.text)
  const scope: Scope = { text: options.text, now: options.now ?? new Date(), columns: known }
  const checked = checkNode(tree, scope)
  if (checked.type.kind !== 'boolean' && !isNull(checked)) {
    throw mistyped(
      tree.at,
      `a filter is a condition, but ${show(tree, scope)} is ${typeName(checked.type)}. Compare it with something, as in x eq 5.`,
    )
  }
  return { tree: checked, columns: [...names.keys()] }
}

function checkNode(node: Syntax, scope: Scope): Expression {
  switch (node.kind) {
    case 'literal':
      return { kind: 'literal', value: node.value, type: literalType(node.value), at: node.at }
    case 'column': {
      const { name, type, sql } = scope.columns.get(node.name)!
      return { kind: 'column', name, sql, type: valueType(type), at: node.at }
    }
    case 'unary':
      return node.operator === '-'
        ? negate(node, checkNode(node.operand, scope), scope)
        : negation(node, scope)
    case 'logical': {
      const operands = node.operands.map((operand) => condition(operand, `'${node.operator}'`, scope))
      return { kind: 'logical', operator: node.operator, operands, type: TYPE.boolean, at: node.at }
    }
    case 'binary': {
      const left = checkNode(node.left, scope)
      const right = checkNode(node.right, scope)
      return isComparison(node.operator)
        ? comparison(node.operator, node, left, right, scope)
        : arithmetic(node.operator, node, left, right, scope)
    }
    case 'in':
      return membership(node, checkNode(node.operand, scope), scope)
    case 'call':
      return call(
        node,
        node.args.map((arg) => checkNode(arg, scope)),
        scope,
      )
    case 'case':
      return choice(node, scope)
    default:
      return node satisfies never
  }
}

const COMPARISONS: ReadonlySet<string> = new Set(['eq', 'ne', 'gt', 'ge', 'lt', 'le'])

function isComparison(operator: string): operator is ComparisonOperator {
  return COMPARISONS.has(operator)
}

const CASE_TAKER = 'case()'

function condition(node: Syntax, taker: string, scope: Scope): Expression {
  const checked = checkNode(node, scope)
  if (checked.type.kind === 'boolean' || isNull(checked)) return checked
  const alone = checked.kind === 'literal' && taker !== CASE_TAKER
  const hint = alone ? ' Write x eq 1 or x eq 2, or x in (1, 2).' : ''
  throw mistyped(
    node.at,
    `${taker} takes conditions, but ${show(node, scope)} is ${typeName(checked.type)}.${hint}`,
  )
}

/** `not` binds more tightly than `eq`, so what stands behind it alone must be a condition. */
function negation(node: Extract<Syntax, { kind: 'unary' }>, scope: Scope): Expression {
  const operand = checkNode(node.operand, scope)
  if (isNull(operand)) return literal(NULL, node.at)
  if (operand.type.kind !== 'boolean') {
    const shown = show(node.operand, scope)
    throw mistyped(
      node.at,
      `'not' takes a condition, but ${shown} is ${typeName(operand.type)}. 'not' binds more tightly than eq: write not (${shown} eq …).`,
    )
  }
  return { kind: 'not', operand, type: TYPE.boolean, at: node.at }
}

function choice(node: Extract<Syntax, { kind: 'case' }>, scope: Scope): Expression {
  const branches = node.branches.map(({ when, result }) => ({
    when: condition(when, CASE_TAKER, scope),
    result: checkNode(result, scope),
  }))
  const results = branches.map((branch) => branch.result)
  const exact = results.some((result) => result.type.kind === 'decimal')
  const type = common(results.map((result) => (exact ? tightType(result) : result.type)))
  if (!type) throw mixedResults(node, results, scope)
  if (type.kind === 'null') return literal(NULL, node.at)
  const settled = isMoment(type) && results.some((result) => result.kind !== 'literal' && !isLocal(result))
  for (const result of results) {
    if (isLocal(result) && !(settled && type.kind === 'timestamp')) throw requireZone(result, scope)
  }
  return {
    kind: 'case',
    branches: branches.map(({ when, result }) => ({ when, result: convert(result, type) })),
    type: floatless(type),
    at: node.at,
  }
}

/** What a condition chooses is no literal any more. */
function floatless(type: ValueType): ValueType {
  return type.kind === 'decimal' ? { ...type, floating: false } : type
}

function mixedResults(
  node: Extract<Syntax, { kind: 'case' }>,
  results: readonly Expression[],
  scope: Scope,
): Error {
  const known = results.findIndex((result) => !isNull(result))
  const other = results.findIndex((result) => common([results[known]!.type, result.type]) === undefined)
  const [a, b] = [known, other].map(
    (index) => `${show(node.branches[index]!.result, scope)} (${typeName(results[index]!.type)})`,
  )
  return mistyped(
    node.at,
    `the results of case() must be of one type, or all numbers, but it gives ${a} and ${b}.`,
  )
}

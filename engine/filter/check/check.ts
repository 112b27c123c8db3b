import { invalid, mistyped, type Span } from '../errors.ts'
import type { Syntax } from '../syntax/tree.ts'
import { CAST } from '../tables/functions.ts'
import { common, isMoment, literalType, NULL, TYPE, typeName, valueType } from '../values.ts'
import { arithmetic, negate } from './check-arithmetic.ts'
import { call, checkCast } from './check-call.ts'
import { comparison, isComparison, membership } from './check-comparison.ts'
import {
  beside,
  columnsOf,
  convert,
  type Expression,
  isLocal,
  isNull,
  literal,
  type Scope,
  type SqlColumn,
  show,
  tightType,
  withoutOffset,
} from './expression.ts'
import { unknownColumns } from './unknown-columns.ts'

/** The text that expressions are parts of, and the word with which messages about its columns begin: `Apply`. */
export interface Source {
  readonly text: string
  readonly option: 'Filter' | 'Apply' | 'Compute' | 'Search' | 'Expression' | 'Orderby'
}

/**
 * Gives every part of an expression a type, and refuses what doesn't fit.
 * @param now what now() returns
 * @param kind whether it must be a condition; a value in JSON is read as text if nothing tells its type
 * @throws EngineError `invalid_columns` with all unknown names; `filter_type_error`; `invalid_filter`
 */
export function check(
  tree: Syntax,
  columns: readonly SqlColumn[],
  { text, option }: Source,
  now: () => Date,
  kind: 'filter' | 'value',
): Expression {
  const names = columnsOf(tree)
  const known = new Map<string, SqlColumn>()
  for (const column of columns) {
    if (known.size === names.size) break
    if (names.has(column.name)) known.set(column.name, column)
  }
  const unknown = new Map([...names].filter(([name]) => !known.has(name)))
  if (unknown.size > 0) throw unknownColumns(unknown, text, columns, option)
  const scope = { text, now, columns: known }
  if (kind === 'value') return beside(checkNode(tree, scope), TYPE.string)
  return condition(tree, scope, (shown, type) => {
    return `a filter is a condition, but ${shown} is ${type}. Compare it with something, as in x eq 5.`
  })
}

function checkNode(node: Syntax, scope: Scope): Expression {
  switch (node.kind) {
    case 'literal':
      return { kind: 'literal', value: node.value, type: literalType(node.value), at: node.at }
    case 'column': {
      const column = scope.columns.get(node.name)!
      if (node.path) return path(node, node.path, column)
      const { name, type, sql, stored } = column
      return { kind: 'column', name, sql, stored, type: valueType(type), at: node.at }
    }
    case 'type':
      throw invalid(node.at, `'${node.name}' is a type, which can stand only in cast().`)
    case 'unary': {
      if (node.operator === '-') return negate(node, checkNode(node.operand, scope), scope)
      // `not` binds more tightly than `eq`, so the operand right after it must itself be a condition.
      const refusal = (shown: string, type: string) =>
        `'not' takes a condition, but ${shown} is ${type}. 'not' binds more tightly than eq: write not (${shown} eq …).`
      const operand = condition(node.operand, scope, refusal, node.at)
      return isNull(operand)
        ? literal(NULL, node.at)
        : { kind: 'not', operand, type: TYPE.boolean, at: node.at }
    }
    case 'logical': {
      const operands = node.operands.map((operand) =>
        condition(operand, scope, (shown, type, { kind }) => {
          const hint = kind === 'literal' ? ' Write x eq 1 or x eq 2, or x in (1, 2).' : ''
          return `'${node.operator}' takes conditions, but ${shown} is ${type}.${hint}`
        }),
      )
      return { kind: 'logical', operator: node.operator, operands, type: TYPE.boolean, at: node.at }
    }
    case 'binary': {
      const left = checkNode(node.left, scope)
      const right = checkNode(node.right, scope)
      return isComparison(node) ? comparison(node, left, right, scope) : arithmetic(node, left, right, scope)
    }
    case 'in':
      return membership(node, checkNode(node.operand, scope), scope)
    case 'call':
      if (node.name.toLowerCase() === CAST.name) return checkCast(node, (arg) => checkNode(arg, scope), scope)
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

/** A value in the JSON of a column, with its path as a pointer (RFC 6901). */
function path(node: Span, steps: readonly string[], { name, type, sql, stored }: SqlColumn): Expression {
  if (type !== 'json') {
    throw mistyped(
      node.at,
      `${name} is ${type}; only json columns have paths. To divide, write div or divby.`,
    )
  }
  const pointer = steps.map((step) => `/${step.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
  return { kind: 'path', sql, stored, pointer, type: TYPE.json, at: node.at }
}

/** @param refusal what is said of an expression that is none, as it was written, and its type */
function condition(
  node: Syntax,
  scope: Scope,
  refusal: (shown: string, type: string, checked: Expression) => string,
  at = node.at,
): Expression {
  const checked = beside(checkNode(node, scope), TYPE.boolean)
  if (checked.type.kind === 'boolean' || isNull(checked)) return checked
  throw mistyped(at, refusal(show(node, scope), typeName(checked.type), checked))
}

function choice(node: Extract<Syntax, { kind: 'case' }>, scope: Scope): Expression {
  const branches = node.branches.map(({ when, result }) => ({
    when: condition(when, scope, (shown, type) => `case() takes conditions, but ${shown} is ${type}.`),
    result: checkNode(result, scope),
  }))
  // Values in JSON are read as the type of the other results, or as text where all results are values in JSON.
  const known = branches.find(({ result: { type } }) => type.kind !== 'json' && type.kind !== 'null')
  const results = branches.map(({ result }) =>
    result.type.kind === 'json' ? beside(result, known?.result.type ?? TYPE.string) : result,
  )
  const exact = results.some((result) => result.type.kind === 'decimal')
  const type = common(results.map((result) => (exact ? tightType(result) : result.type)))
  if (!type) throw mixedResults(node, results, scope)
  if (type.kind === 'null') return literal(NULL, node.at)
  const settled = isMoment(type) && results.some((result) => result.kind !== 'literal' && !isLocal(result))
  for (const result of results) {
    if (isLocal(result) && !(settled && type.kind === 'timestamp')) throw withoutOffset(result, scope)
  }
  return {
    kind: 'case',
    branches: branches.map(({ when }, index) => ({ when, result: convert(results[index]!, type) })),
    // Only literals have a floating scale, and the result of case() is no literal.
    type: type.kind === 'decimal' ? { ...type, floating: false } : type,
    at: node.at,
  }
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

import { invalid, mistyped } from '../errors.ts'
import { NULL } from '../syntax/literals.ts'
import type { Syntax } from '../syntax/tree.ts'
import { type CastTarget, castTable, castTarget } from '../tables/casts.ts'
import type { Expression } from './expression.ts'
import { beside, isLocal, isNull, literal, requireZone, showTyped } from './expression.ts'
import type { Scope } from './scope.ts'
import { TYPE } from './value-types.ts'

type Call = Extract<Syntax, { kind: 'call' }>

/** Checks `cast(Price, Edm.Int32)`. The type may also be given as a text (section 5.1.1.10.1). */
export function checkCast(node: Call, check: (node: Syntax) => Expression, scope: Scope): Expression {
  const [value, type] = node.args
  if (!value || !type || node.args.length > 2) {
    throw invalid(node.at, 'cast() takes a value and a type, as in cast(Price, Edm.String).')
  }
  const target = targetOf(type)
  const operand = beside(check(value), TYPE.string)
  if (isLocal(operand)) throw requireZone(operand, scope)
  if (isNull(operand)) return literal(NULL, node.at)
  if (!target.duckdb[operand.type.kind]) {
    throw mistyped(node.at, `cast() makes no ${target.name} of ${showTyped(value, operand, scope)}.`)
  }
  return { kind: 'cast', operand, target, type: target.type, at: node.at }
}

function targetOf(node: Syntax): CastTarget {
  const name =
    node.kind === 'type'
      ? node.name
      : node.kind === 'literal' && node.value.kind === 'string'
        ? node.value.value
        : undefined
  const target = name === undefined ? undefined : castTarget(name)
  if (target) return target
  throw invalid(node.at, `cast() takes one of the types ${castTable.map((row) => row.name).join(', ')}.`)
}

import { invalid, mistyped } from '../errors.ts'
import { dateOf, floorDivide } from '../syntax/calendar.ts'
import type { Syntax } from '../syntax/tree.ts'
import { type CastTarget, castTable, castTargets } from '../tables/casts.ts'
import { functionRow } from '../tables/functions.ts'
import type { FunctionRow, MomentPart, Overload } from '../tables/overloads.ts'
import { type LiteralValue, NULL, PICOS_PER_DAY, TYPE, type ValueKind, type ValueType } from '../values.ts'
import { readsAs } from './check-comparison.ts'
import {
  beside,
  called,
  convert,
  type Expression,
  isLocal,
  isNull,
  literal,
  literalOf,
  type Scope,
  show,
  showTyped,
  withoutOffset,
} from './expression.ts'

type Call = Extract<Syntax, { kind: 'call' }>

/** Checks a function call (sections 5.1.1.5 to 5.1.1.9). If an argument is the literal null, the result is null. */
export function call(node: Call, args: readonly Expression[], scope: Scope): Expression {
  const row = functionRow(node.name)!
  requireCount(row, node)
  if (row.constant) return literal(row.constant(scope.now), node.at)
  const overload = overloadFor(row, args)
  if (!overload) throw unsuitable(row, node, args, scope)
  if (args.some(isNull)) return literal(NULL, node.at)
  const settled = args.map((arg, index) => settle(arg, overload.takes[index]!))
  const known = row.ofMoment && foldMoment(row.ofMoment, settled[0]!)
  if (known) return known
  for (const arg of settled) checkZone(row, arg, scope)
  return called(row.name, overload, overload.prepare?.(settled) ?? settled, node.at)
}

/** The order in which types are tried for a value in JSON: first the types that JSON has, and moments before dates. */
const JSON_ORDER: readonly ValueKind[] = ['string', 'double', 'timestamptz', 'date', 'time', 'boolean']

function overloadFor({ overloads }: FunctionRow, args: readonly Expression[]): Overload | undefined {
  const fitting = overloads.filter((candidate) => accepts(candidate, args))
  const json = args.findIndex((arg) => arg.type.kind === 'json')
  if (json < 0) return fitting[0]
  const rank = ({ takes }: Overload) => (JSON_ORDER.indexOf(takes[json]!) + 100) % 100
  return fitting.toSorted((a, b) => rank(a) - rank(b))[0]
}

/** The part of a literal moment or date, computed before the query runs. */
function foldMoment({ name, anyOffset }: MomentPart, arg: Expression): Expression | undefined {
  const value = literalOf(arg)
  if (value?.kind === 'date')
    return literal(partOfMoment(name, BigInt(value.days) * PICOS_PER_DAY, 0), arg.at)
  if (value?.kind !== 'moment' || value.offset === undefined) return undefined
  if (value.offset !== 0 && !anyOffset) return undefined
  return literal(partOfMoment(name, value.picos, value.offset), arg.at)
}

function requireCount(row: FunctionRow, node: Call): void {
  const counts = row.constant ? [0] : row.overloads.map(({ takes }) => takes.length)
  if (counts.includes(node.args.length)) return
  const expected = [...new Set(counts)].sort()
  const noun = expected.at(-1) === 1 ? 'argument' : 'arguments'
  const count = expected.join(' or ').replace(/^0$/, 'no')
  throw invalid(node.at, `${signature(row)} takes ${count} ${noun}, not ${node.args.length}.`)
}

function signature(row: FunctionRow): string {
  return `${row.name}(${row.args.join(', ')})`
}

function accepts({ takes }: Overload, args: readonly Expression[]): boolean {
  return takes.length === args.length && takes.every((kind, index) => fits(args[index]!, kind))
}

function fits(arg: Expression, kind: ValueKind): boolean {
  if (arg.type.kind === 'json') return JSON_ORDER.includes(kind)
  return isNull(arg) || settle(arg, kind).type.kind === kind
}

/**
 * Fits an argument to the type of a parameter: a date becomes its midnight, a text that reads as a duration becomes
 * that duration, and a value in JSON is read as the type.
 */
function settle(arg: Expression, kind: ValueKind): Expression {
  if (kind === 'timestamp' && arg.type.kind === 'date') return convert(arg, TYPE.timestamp)
  if (kind === 'duration') return beside(arg, TYPE.duration)
  return arg.type.kind === 'json' ? beside(arg, typeOf(kind)) : arg
}

function typeOf(kind: ValueKind): ValueType {
  return kind === 'decimal' ? TYPE.double : TYPE[kind]
}

function checkZone(row: FunctionRow, arg: Expression, scope: Scope): void {
  if (isLocal(arg)) throw withoutOffset(arg, scope)
  const value = literalOf(arg)
  if (row.ofMoment?.anyOffset !== false || value?.kind !== 'moment' || value.offset === 0) return
  throw invalid(
    arg.at,
    `${row.name}() looks at a moment in UTC, so its literal must be in UTC, too: write it with Z, not with another offset.`,
  )
}

function unsuitable(row: FunctionRow, node: Call, args: readonly Expression[], scope: Scope): Error {
  const same = row.overloads.filter((overload) => overload.takes.length === args.length)
  const wrong = args.findIndex((arg, index) => !same.some((overload) => fits(arg, overload.takes[index]!)))
  const index = Math.max(wrong, 0)
  const expected = [...new Set(same.map((overload) => overload.takes[index]!))]
  const at = node.args[index]!.at
  const given = showTyped(node.args[index]!, args[index]!, scope)
  const hint = hintFor(expected, args[index]!, show(node.args[index]!, scope))
  return mistyped(
    at,
    `${signature(row)} takes ${listed(expected)} as ${row.args[index]}, not ${given}.${hint}`,
  )
}

function listed(kinds: readonly ValueKind[]): string {
  return kinds.length === 1 ? kinds[0]! : `${kinds.slice(0, -1).join(', ')} or ${kinds.at(-1)}`
}

function hintFor(expected: readonly ValueKind[], arg: Expression, shown: string): string {
  const value = literalOf(arg)
  if (value?.kind === 'string') {
    const kind = expected.find((kind) => readsAs(value.value, typeOf(kind), arg.at))
    return kind ? ` Write ${value.value} without quotes.` : ''
  }
  return value && expected.includes('string') ? ` Write it as text: '${shown}'.` : ''
}

/** Checks `cast(Price, Edm.Int32)`. The type may also be given as a text (section 5.1.1.10.1). */
export function checkCast(node: Call, check: (node: Syntax) => Expression, scope: Scope): Expression {
  const [value, type] = node.args
  if (!value || !type || node.args.length > 2) {
    throw invalid(node.at, 'cast() takes a value and a type, as in cast(Price, Edm.String).')
  }
  const target = targetOf(type)
  const operand = beside(check(value), TYPE.string)
  if (isLocal(operand)) throw withoutOffset(operand, scope)
  if (isNull(operand)) return literal(NULL, node.at)
  const overload = target.overloads.find(({ takes: [kind] }) => kind === operand.type.kind)
  if (!overload) {
    throw mistyped(node.at, `cast() makes no ${target.name} of ${showTyped(value, operand, scope)}.`)
  }
  return called(`cast to ${target.name}`, overload, [operand], node.at)
}

function targetOf(node: Syntax): CastTarget {
  const name =
    node.kind === 'type'
      ? node.name
      : node.kind === 'literal' && node.value.kind === 'string'
        ? node.value.value
        : undefined
  const target = castTargets.get(String(name).toLowerCase())
  if (target) return target
  throw invalid(node.at, `cast() takes one of the types ${castTable.map((row) => row.name).join(', ')}.`)
}

const PICOS_PER_SECOND = 1_000_000_000_000n

/** A part of a moment, as it reads in its own offset. */
function partOfMoment(name: MomentPart['name'], utc: bigint, offset: number): LiteralValue {
  const picos = utc + BigInt(offset) * 60n * PICOS_PER_SECOND
  const days = floorDivide(picos, PICOS_PER_DAY)
  const clock = picos - days * PICOS_PER_DAY
  if (name === 'date') return { kind: 'date', days: Number(days) }
  if (name === 'time') return { kind: 'time', picos: clock }
  const second = Number(clock / PICOS_PER_SECOND)
  const [hour, minute] = [Math.floor(second / 3600), Math.floor(second / 60) % 60]
  const parts = { ...dateOf(Number(days)), hour, minute, second: second % 60, offset }
  return { kind: 'number', digits: BigInt(parts[name]), scale: 0, whole: true }
}

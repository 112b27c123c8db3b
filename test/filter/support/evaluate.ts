import { Failure, isDecimalType, isNumber, type Model, type Row, type Type, type Value } from './model.ts'
import { arithmetic, commonDecimal, int64, order, round, toDecimal, toDouble } from './numbers.ts'

const DAY = 86_400_000_000n

export interface Outcome {
  /** Undefined where the row makes the request fail. */
  readonly value: Value | undefined
  /** A part failed, so the request may fail; whether it does may depend on the order of evaluation. */
  readonly failing: boolean
}

/** One row through one expression. */
export function evaluate(node: Model, row: Row): Outcome {
  const run = new Evaluation(row)
  try {
    return { value: run.value(node), failing: run.failed }
  } catch (error) {
    if (error instanceof Failure) return { value: undefined, failing: true }
    throw error
  }
}

/** Whether some part fails that no column takes part in. Such a part may be evaluated before any row is read. */
export function failsEarly(node: Model): boolean {
  return (
    partsOf(node).some(failsEarly) ||
    (isConstant(node) ? evaluate(node, {}).value === undefined : gathersTooMuch(node))
  )
}

/**
 * DuckDB gathers the constants of a sum or of a product of integers (`x mul 3 mul 5` is `x mul 15` to it), and fails
 * where together they are too large, whatever the other operands are.
 */
function gathersTooMuch(node: Model): boolean {
  if (node.kind !== 'apply' || (node.name !== 'add' && node.name !== 'mul')) return false
  const constants = gathered(node, node.name)
  const total = constants.reduce((a, b) => (node.name === 'add' ? a + b : a * b))
  return BigInt.asIntN(64, total) !== total
}

/** First the neutral element. */
function gathered(node: Model, name: 'add' | 'mul'): bigint[] {
  const neutral = name === 'add' ? 0n : 1n
  if (isConstant(node)) {
    const { value } = evaluate(node, {})
    return typeof value === 'bigint' ? [neutral, value] : [neutral]
  }
  if (node.kind !== 'apply') return [neutral]
  if (node.name === name) return [neutral, ...node.args.flatMap((arg) => gathered(arg, name))]
  // Days are counted, and then made microseconds.
  const days = node.name === 'sub' && node.args.every(({ type }) => type === 'date')
  return days && name === 'mul' ? [neutral, DAY] : [neutral]
}

function isConstant(node: Model): boolean {
  return node.kind !== 'column' && partsOf(node).every(isConstant)
}

function partsOf(node: Model): readonly Model[] {
  switch (node.kind) {
    case 'literal':
    case 'column':
      return []
    case 'list':
      return [node.operand]
    case 'case':
      return node.pairs.flat()
    case 'apply':
      return node.args
  }
}

class Evaluation {
  failed = false
  readonly #row: Row

  constructor(row: Row) {
    this.#row = row
  }

  value(node: Model): Value {
    switch (node.kind) {
      case 'literal':
        return node.value
      case 'column':
        return this.#row[node.name]!
      case 'list':
        return member(this.value(node.operand), node)
      case 'case': {
        const chosen = node.pairs.find(([when]) => this.value(when) === true)
        return chosen ? widen(this.value(chosen[1]), chosen[1].type, node.type) : null
      }
      case 'apply':
        return node.name === 'and' || node.name === 'or'
          ? this.#logical(node)
          : apply(
              node,
              node.args.map((arg) => this.value(arg)),
            )
    }
  }

  /** What fails does no harm beside what decides. */
  #logical(node: Extract<Model, { kind: 'apply' }>): Value {
    const decisive = node.name === 'or'
    const values: Value[] = []
    let failure: unknown
    for (const arg of node.args) {
      try {
        values.push(this.value(arg))
      } catch (error) {
        if (!(error instanceof Failure)) throw error
        this.failed = true
        failure = error
      }
    }
    if (values.includes(decisive)) return decisive
    if (failure) throw failure
    return values.includes(null) ? null : !decisive
  }
}

/** What a branch of case() gives takes the type that all of them share. */
function widen(value: Value, from: Type, to: Type): Value {
  if (value === null || from === to) return value
  if (to === 'double') return typeof value === 'number' ? value : Number(decimalText(value))
  if (isDecimalType(to)) return toDecimal(value)
  if (to === 'timestamp' || to === 'timestamptz') return from === 'date' ? (value as bigint) * DAY : value
  return value
}

function decimalText(value: Value): string {
  const { digits, scale } = toDecimal(value)
  return `${digits}e${-scale}`
}

function member(value: Value, { operand, items }: Extract<Model, { kind: 'list' }>): boolean {
  return items.some((item) =>
    compare('eq', value, (item as { value: Value }).value, [operand.type, item.type]),
  )
}

function compare(name: string, a: Value, b: Value, types: readonly Type[]): boolean {
  if (a === null || b === null) {
    if (name === 'eq') return a === b
    return name === 'ne' && a !== b
  }
  const sign = signOf(a, b, types)
  switch (name) {
    case 'eq':
      return sign === 0
    case 'ne':
      return sign !== 0
    case 'gt':
      return sign !== undefined && sign > 0
    case 'ge':
      return sign !== undefined && sign >= 0
    case 'lt':
      return sign !== undefined && sign < 0
    default:
      return sign !== undefined && sign <= 0
  }
}

function signOf(a: Value, b: Value, types: readonly Type[]): number | undefined {
  if (isNumber(types[0]!)) return order(a, b)
  if (typeof a === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(b as string))
  const [x, y] = types.map((type, index) => {
    const value = [a, b][index] as bigint | boolean
    return type === 'date' && !types.every((other) => other === 'date') ? (value as bigint) * DAY : value
  })
  return x! < y! ? -1 : x! > y! ? 1 : 0
}

const COMPARISONS = ['eq', 'ne', 'gt', 'ge', 'lt', 'le']
const ARITHMETIC = ['add', 'sub', 'mul', 'div', 'divby', 'mod']

function apply({ name, type, args }: Extract<Model, { kind: 'apply' }>, values: readonly Value[]): Value {
  const types = args.map((arg) => arg.type)
  const [a, b, c] = values
  if (COMPARISONS.includes(name)) {
    // Decimals that no 38 digits hold together meet as doubles.
    const wide = !args.some(isLiteral) && types.some(isDecimalType) && types.every((one) => one !== 'double')
    return wide && a !== null && b !== null && commonDecimal(types[0]!, types[1]!) === 'double'
      ? compare(name, toDouble(a!), toDouble(b!), ['double', 'double'])
      : compare(name, a!, b!, types)
  }
  if (values.includes(null)) return null
  if (name === 'not') return !a
  if (name === '-') return negate(a!)
  if (ARITHMETIC.includes(name)) {
    if (!types.every(isNumber)) return shift(name, a!, b!, types)
    return arithmetic(name, [a!, b!], type, types, floats(args[0]!))
  }
  if (typeof a === 'string') return textFunction(name, a, b!, c!)
  return name === 'round' || name === 'floor' || name === 'ceiling'
    ? round(name, a!)
    : momentFunction(name, a as bigint, types[0]!)
}

function isLiteral(node: Model): boolean {
  return node.kind === 'literal' || (node.kind === 'apply' && node.name === '-' && isLiteral(node.args[0]!))
}

/** A decimal made of literals and whole numbers alone has a scale that floats. */
function floats(node: Model): boolean {
  if (!isDecimalType(node.type)) return false
  if (node.kind === 'literal') return true
  return (
    node.kind === 'apply' &&
    [...ARITHMETIC, '-', 'round', 'floor', 'ceiling'].includes(node.name) &&
    node.args.every((arg) => arg.type === 'integer' || floats(arg))
  )
}

function negate(value: Value): Value {
  if (typeof value === 'bigint') return int64(-value)
  if (typeof value === 'number') return -value
  const { digits, scale } = toDecimal(value)
  return { digits: -digits, scale }
}

/** Days, moments and durations. */
function shift(name: string, a: Value, b: Value, types: readonly Type[]): Value {
  const [left, right] = types
  const sign = name === 'add' ? 1n : -1n
  if (right === 'duration' && left === 'date') {
    return floorDivide(held((a as bigint) * DAY + sign * (b as bigint)), DAY)
  }
  if (name === 'mul') return int64((a as bigint) * (b as bigint))
  if (name === 'div' || name === 'divby') {
    if (b === 0n) throw new Failure('division by zero')
    return (a as bigint) / (b as bigint)
  }
  if (right === 'duration') {
    const moved = (a as bigint) + sign * (b as bigint)
    return left === 'duration' ? int64(moved) : held(moved)
  }
  const micros = types.map((type, index) => ([a, b][index] as bigint) * (type === 'date' ? DAY : 1n))
  return int64(micros[0]! - micros[1]!)
}

/** The moments that DuckDB holds. */
function held(micros: bigint): bigint {
  if (micros < -9_223_372_022_400_000_000n || micros > 9_223_372_036_854_775_806n) {
    throw new Failure('beyond all moments')
  }
  return micros
}

function floorDivide(a: bigint, b: bigint): bigint {
  const quotient = a / b
  return a % b < 0n ? quotient - 1n : quotient
}

function textFunction(name: string, a: string, b: Value, c: Value): Value {
  const letters = [...a]
  switch (name) {
    case 'length':
      return BigInt(letters.length)
    case 'tolower':
      return letters.map((letter) => letter.toLowerCase()).join('')
    case 'toupper':
      return letters.map((letter) => letter.toUpperCase()).join('')
    case 'trim':
      return a.replace(/^\p{White_Space}+|\p{White_Space}+$/gu, '')
    case 'concat':
      return a + (b as string)
    case 'contains':
      return a.includes(b as string)
    case 'startswith':
      return a.startsWith(b as string)
    case 'endswith':
      return a.endsWith(b as string)
    case 'indexof': {
      const at = a.indexOf(b as string)
      return at < 0 ? -1n : BigInt([...a.slice(0, at)].length)
    }
    case 'matchesPattern':
      return new RegExp(b as string, 'u').test(a)
    default: {
      if ((b as bigint) < 0n || (c !== undefined && (c as bigint) < 0n))
        throw new Failure('negative substring')
      const start = Number(b)
      return letters.slice(start, c === undefined ? undefined : start + Number(c)).join('')
    }
  }
}

function momentFunction(name: string, value: bigint, type: Type): Value {
  const micros = type === 'date' ? value * DAY : value
  const days = type === 'time' ? 0n : floorDivide(micros, DAY)
  const time = micros - days * DAY
  const calendar = new Date(Number(days) * 86_400_000)
  switch (name) {
    case 'year':
      return BigInt(calendar.getUTCFullYear())
    case 'month':
      return BigInt(calendar.getUTCMonth() + 1)
    case 'day':
      return BigInt(calendar.getUTCDate())
    case 'hour':
      return time / 3_600_000_000n
    case 'minute':
      return (time / 60_000_000n) % 60n
    case 'second':
      return (time / 1_000_000n) % 60n
    case 'fractionalseconds':
      return { digits: time % 1_000_000n, scale: 6 }
    case 'date':
      return days
    case 'time':
      return time
    case 'totaloffsetminutes':
      return 0n
    case 'totalseconds':
      return { digits: value, scale: 6 }
    default:
      throw new Error(`no such function: ${name}`)
  }
}

import { type Decimal, Failure, isDecimal, isDecimalType, type Type, type Value } from './model.ts'

const MOST = 2n ** 63n - 1n
const LEAST = -(2n ** 63n)

export function int64(value: bigint): bigint {
  if (value > MOST || value < LEAST) throw new Failure('integer overflow')
  return value
}

export function toDecimal(value: Value): Decimal {
  return isDecimal(value) ? value : { digits: value as bigint, scale: 0 }
}

export function toDouble(value: Value): number {
  if (isDecimal(value)) return Number(`${value.digits}e${-value.scale}`)
  return Number(value as bigint | number)
}

export function rescale({ digits, scale }: Decimal, to: number): bigint {
  return digits * 10n ** BigInt(to - scale)
}

function fitting(digits: bigint, type: { precision: number; scale: number }): Decimal {
  if ((digits < 0n ? -digits : digits) >= 10n ** BigInt(type.precision)) throw new Failure('decimal overflow')
  return { digits, scale: type.scale }
}

/** `types` are those of the operands, `floats` says whether the first is a decimal whose scale floats. */
export function arithmetic(
  name: string,
  [a, b]: readonly [Value, Value],
  type: Type,
  types: readonly Type[],
  floats: boolean,
): Value {
  if (name === 'divby') return quotient(a, b, types)
  if (name === 'div') {
    if (type === 'integer') return zeroless(b, () => int64((a as bigint) / (b as bigint)))
    const free = floats || types.includes('double')
    return free ? quotient(a, b, types) : zeroless(b, () => quotient(a, b, types))
  }
  if (type === 'double') {
    const [x, y] = [toDouble(a), toDouble(b)]
    if (name === 'mod') return zeroless(y, () => x % y)
    return name === 'add' ? x + y : name === 'sub' ? x - y : x * y
  }
  if (type === 'integer') {
    const [x, y] = [a as bigint, b as bigint]
    // The one remainder that DuckDB refuses, with the quotient that overflows.
    if (name === 'mod') return zeroless(y, () => (y === -1n ? int64(x / y) && 0n : x % y))
    return int64(name === 'add' ? x + y : name === 'sub' ? x - y : x * y)
  }
  if (!isDecimalType(type)) throw new Error(`no such arithmetic: ${name}`)
  const [x, y] = [toDecimal(a), toDecimal(b)]
  if (name === 'mul') {
    // A branch of case() may have brought fewer places than its type has.
    return fitting(rescale({ digits: x.digits * y.digits, scale: x.scale + y.scale }, type.scale), type)
  }
  const [p, q] = [rescale(x, type.scale), rescale(y, type.scale)]
  if (name === 'mod') return zeroless(q, () => fitting(p % q, type))
  return fitting(name === 'add' ? p + q : p - q, type)
}

function zeroless<T>(divisor: Value, compute: () => T): T {
  const zero = isDecimal(divisor) ? divisor.digits === 0n : Number(divisor) === 0
  if (zero) throw new Failure('division by zero')
  return compute()
}

/** Doubles and integers divide as IEEE has it; the quotient of decimals of at most fifteen digits has fifteen. */
function quotient(a: Value, b: Value, types: readonly Type[]): number {
  const result = toDouble(a) / toDouble(b)
  // Zero keeps its sign, which its digits don't have.
  const [x, y] = types.map((type) => decimalType(type))
  const isLong = Math.abs(toDouble(a)) >= 10 ** (15 - Math.max(x!.scale, y!.scale))
  const isExact = types.includes('double') || types.every((type) => type === 'integer') || isLong
  const exact = isExact || result === 0 || !Number.isFinite(result)
  return exact ? result : Number(result.toPrecision(15))
}

/** The type of a result: exact as long as 38 digits hold it. */
export function arithmeticType(name: string, a: Type, b: Type): Type {
  if (a === 'double' || b === 'double') return 'double'
  if (a === 'integer' && b === 'integer') return name === 'divby' ? 'double' : 'integer'
  if (name === 'div' || name === 'divby') return 'double'
  const common = commonDecimal(a, b)
  if (name === 'mod') return common
  const [x, y] = [decimalType(a), decimalType(b)]
  const result = name === 'mul' ? productType(x, y) : isDecimalType(common) ? sumType(x, y) : common
  // Two operands of up to 18 digits outgrow them with the first widened to 19.
  const outgrown = isDecimalType(result) && result.precision > 18 && Math.max(x.precision, y.precision) <= 18
  if (!outgrown) return result
  const wide = { precision: 19, scale: x.scale }
  return name === 'mul' ? productType(wide, y) : sumType(wide, y)
}

function productType(x: ReturnType<typeof decimalType>, y: ReturnType<typeof decimalType>): Type {
  const scale = x.scale + y.scale
  return scale > 38 ? 'double' : { precision: Math.min(38, x.precision + y.precision), scale }
}

function sumType(x: ReturnType<typeof decimalType>, y: ReturnType<typeof decimalType>): Type {
  const scale = Math.max(x.scale, y.scale)
  const precision = Math.max(x.precision - x.scale, y.precision - y.scale) + scale + 1
  return { precision: Math.min(38, precision), scale }
}

export function decimalType(type: Type): { precision: number; scale: number } {
  return isDecimalType(type) ? type : { precision: 19, scale: 0 }
}

export function commonDecimal(a: Type, b: Type): Type {
  const [x, y] = [decimalType(a), decimalType(b)]
  const scale = Math.max(x.scale, y.scale)
  const precision = Math.max(x.precision - x.scale, y.precision - y.scale) + scale
  return precision > 38 ? 'double' : { precision, scale }
}

export function round(name: string, value: Value): Value {
  if (typeof value === 'bigint') return value
  if (typeof value === 'number') {
    if (name === 'floor') return Math.floor(value)
    if (name === 'ceiling') return Math.ceil(value)
    const whole = Math.trunc(value)
    return Math.abs(value - whole) >= 0.5 ? whole + Math.sign(value) : whole
  }
  const { digits, scale } = toDecimal(value)
  const unit = 10n ** BigInt(scale)
  const rest = digits % unit
  const whole = digits / unit
  const up = { digits: whole + 1n, scale: 0 }
  const down = { digits: whole - 1n, scale: 0 }
  if (name === 'floor') return rest < 0n ? down : { digits: whole, scale: 0 }
  if (name === 'ceiling') return rest > 0n ? up : { digits: whole, scale: 0 }
  if (rest * 2n >= unit) return up
  return rest * 2n <= -unit ? down : { digits: whole, scale: 0 }
}

/** Negative, zero, positive; undefined where NaN takes part. Whole numbers meet doubles as the numbers that they are. */
export function order(a: Value, b: Value): number | undefined {
  if (typeof a === 'number' || typeof b === 'number') {
    if (Number.isNaN(a) || Number.isNaN(b)) return undefined
    if (typeof a === 'bigint' || typeof b === 'bigint') return exactOrder(a, b)
    const [x, y] = [toDouble(a), toDouble(b)]
    return x < y ? -1 : x > y ? 1 : 0
  }
  const [x, y] = [toDecimal(a), toDecimal(b)]
  const scale = Math.max(x.scale, y.scale)
  const difference = rescale(x, scale) - rescale(y, scale)
  return difference < 0n ? -1 : difference > 0n ? 1 : 0
}

/** JavaScript compares a BigInt with a number exactly. */
function exactOrder(a: Value, b: Value): number {
  const [x, y] = [a as bigint | number, b as bigint | number]
  return x < y ? -1 : x > y ? 1 : 0
}

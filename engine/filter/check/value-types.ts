import { type ColumnType, decimalParts } from '../../types/index.ts'

/**
 * The type of an expression. It is one of the column types (a JSON column counts as its text), or one that no column
 * has, such as `duration`, the difference of two moments, which is held as a BIGINT of microseconds.
 */
export type ValueType =
  | { readonly kind: PlainKind }
  | {
      readonly kind: 'decimal'
      readonly precision: number
      readonly scale: number
      /**
       * Whether it is made of literals alone and so has a floating scale; division by zero then gives INF (section
       * 5.1.1.2.5).
       */
      readonly floating: boolean
    }

type PlainKind = keyof typeof TYPE

export type ValueKind = PlainKind | 'decimal'

export const TYPE = {
  null: { kind: 'null' },
  boolean: { kind: 'boolean' },
  integer: { kind: 'integer' },
  double: { kind: 'double' },
  string: { kind: 'string' },
  date: { kind: 'date' },
  time: { kind: 'time' },
  timestamp: { kind: 'timestamp' },
  timestamptz: { kind: 'timestamptz' },
  duration: { kind: 'duration' },
  uuid: { kind: 'uuid' },
  binary: { kind: 'binary' },
  /** A value in the JSON of a column. The value beside it decides as which type it is read. */
  json: { kind: 'json' },
} as const

/** The precision of DuckDB's widest decimal. */
export const MOST_DIGITS = 38

export type Decimal = Extract<ValueType, { kind: 'decimal' }>

export function decimal(precision: number, scale: number, floating = false): Decimal {
  return { kind: 'decimal', precision, scale, floating }
}

export function valueType(type: ColumnType): ValueType {
  if (type === 'json') return TYPE.string
  const parts = decimalParts(type)
  if (parts) return decimal(parts.precision, parts.scale)
  return TYPE[type as Exclude<ColumnType, 'json' | `decimal(${number},${number})`>]
}

/** The type of a column that holds the value. A column of nothing but null becomes text. */
export function columnType(type: ValueType): ColumnType {
  switch (type.kind) {
    case 'null':
    case 'json':
      return 'string'
    case 'decimal':
      return typeName(type) as ColumnType
    case 'duration':
      throw new TypeError('no column holds a duration')
    default:
      return type.kind
  }
}

/** The name of a type in error messages. */
export function typeName(type: ValueType): string {
  return type.kind === 'decimal' ? `decimal(${type.precision},${type.scale})` : type.kind
}

export function isNumeric(type: ValueType): boolean {
  return type.kind === 'integer' || type.kind === 'decimal' || type.kind === 'double'
}

/**
 * Whether a type is a date or a moment. All of these can be compared with each other; a date counts as midnight UTC.
 */
export function isMoment(type: ValueType): boolean {
  return type.kind === 'date' || type.kind === 'timestamp' || type.kind === 'timestamptz'
}

/**
 * The decimal that holds every 64-bit integer in its 19 digits. It is marked as floating, so that together with a
 * literal the result floats; together with a decimal column it doesn't.
 */
const INTEGER_AS_DECIMAL = decimal(19, 0, true)

/**
 * The type to which two numbers are promoted (section 5.1.1.17). Decimals that together need more digits than DuckDB
 * has become doubles.
 */
export function promote(left: ValueType, right: ValueType): ValueType {
  if (left.kind === 'double' || right.kind === 'double') return TYPE.double
  if (left.kind === 'integer' && right.kind === 'integer') return TYPE.integer
  const a = asDecimal(left)
  const b = asDecimal(right)
  const scale = Math.max(a.scale, b.scale)
  const precision = Math.max(a.precision - a.scale, b.precision - b.scale) + scale
  return precision <= MOST_DIGITS ? decimal(precision, scale, a.floating && b.floating) : TYPE.double
}

export function asDecimal(type: ValueType): Decimal {
  return type.kind === 'decimal' ? type : INTEGER_AS_DECIMAL
}

/** The type to which values of all these types can be converted, or undefined if there is none. */
export function common(types: readonly ValueType[]): ValueType | undefined {
  const real = types.filter((type) => type.kind !== 'null')
  if (real.length === 0) return TYPE.null
  if (real.every(isNumeric)) return real.reduce(promote)
  if (real.every(isMoment)) {
    const widest = ['timestamptz', 'timestamp', 'date'] as const
    return TYPE[widest.find((kind) => real.some((type) => type.kind === kind))!]
  }
  return real.every((type) => type.kind === real[0]!.kind) ? real[0] : undefined
}

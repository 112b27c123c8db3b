import { binary, type Field, i32, nested, type Struct, structWith, TYPE } from '../../parquet/thrift.ts'
import { type ColumnType, decimalParts, type TypeName, typeName } from '../../types/index.ts'
import { DAY_MICROS } from '../text/value-text.ts'

/** A value as Parquet stores it: days or microseconds, a decimal without its point, bytes of a text or a UUID. */
export type PlainValue = boolean | number | bigint | Buffer

/** Parquet's physical types (parquet.thrift, Type). */
const [BOOLEAN, INT32, INT64, DOUBLE, BYTE_ARRAY, FIXED] = [0, 1, 2, 5, 6, 7]
const FIXED_BYTES = 16
/** parquet.thrift, FieldRepetitionType. */
const OPTIONAL = 1

/** How DuckDB stores a column type in a Parquet file. */
export interface PlainType {
  readonly physical: number
  /** What says what the values mean, as fields of a `SchemaElement`. */
  readonly meaning: Readonly<Record<number, Field>>
  /** The value that DuckDB makes of a text which has been checked; undefined if that is left to DuckDB. */
  readonly parse: (text: string) => PlainValue | undefined
}

const SIXTEEN_BYTES: PlainType['meaning'] = { 2: i32(FIXED_BYTES) }
const CONVERTED = 6
const LOGICAL = 10
const flag = (value: boolean): Field => ({ type: TYPE.true, value })
/** A time in microseconds. @param member of the union LogicalType */
const inMicros = (converted: number, member: number, utc: boolean) => ({
  [CONVERTED]: i32(converted),
  [LOGICAL]: nested({ [member]: nested({ 1: flag(utc), 2: nested({ 2: nested() }) }) }),
})
const TEXT = {
  physical: BYTE_ARRAY,
  meaning: { [CONVERTED]: i32(0) },
  parse: (text: string) => Buffer.from(text),
}

const TYPES: Readonly<Record<Exclude<TypeName, 'decimal'>, PlainType>> = {
  boolean: {
    physical: BOOLEAN,
    meaning: {},
    parse: (value) => (value === 'true' ? true : value === 'false' ? false : undefined),
  },
  integer: {
    physical: INT64,
    meaning: { [CONVERTED]: i32(18) },
    parse: (value) => (/^-?\d{1,18}$/.test(value) ? BigInt(value) : undefined),
  },
  double: {
    physical: DOUBLE,
    meaning: {},
    parse: (value) => (/^-?\d+(\.\d+)?([eE][-+]?\d+)?$/.test(value) ? Number(value) : undefined),
  },
  string: TEXT,
  json: TEXT,
  date: { physical: INT32, meaning: { [CONVERTED]: i32(6) }, parse: daysOf },
  time: { physical: INT64, meaning: inMicros(8, 7, false), parse: clockOf },
  timestamp: { physical: INT64, meaning: inMicros(10, 8, false), parse: momentOf },
  timestamptz: { physical: INT64, meaning: inMicros(10, 8, true), parse: momentOf },
  uuid: {
    physical: FIXED,
    meaning: { ...SIXTEEN_BYTES, [LOGICAL]: nested({ 14: nested() }) },
    parse: (value) => Buffer.from(value.replaceAll('-', ''), 'hex'),
  },
  binary: { physical: BYTE_ARRAY, meaning: {}, parse: (value) => Buffer.from(value, 'base64') },
}

export function plainType(type: ColumnType): PlainType {
  const parts = decimalParts(type)
  if (!parts) return TYPES[typeName(type) as keyof typeof TYPES]
  const { precision, scale } = parts
  const physical = precision <= 9 ? INT32 : precision <= 18 ? INT64 : FIXED
  return {
    physical,
    meaning: {
      ...(physical === FIXED ? SIXTEEN_BYTES : undefined),
      [CONVERTED]: i32(5),
      7: i32(scale),
      8: i32(precision),
      [LOGICAL]: nested({ 5: nested({ 1: i32(scale), 2: i32(precision) }) }),
    },
    parse: (value) => decimalOf(value, scale),
  }
}

/** A column as an element of a file's schema. */
export function elementOf({ physical, meaning }: PlainType, name: string, fieldId: number): Struct {
  return structWith({
    1: i32(physical),
    3: i32(OPTIONAL),
    4: binary(name),
    9: i32(fieldId),
    ...meaning,
  })
}

/** A value in the plain encoding, without the length that a text has before it in a page. */
export function boundBytes({ physical }: PlainType, value: PlainValue): Buffer {
  if (value instanceof Buffer) return value
  if (physical === BOOLEAN) return Buffer.from([Number(value)])
  const bytes = Buffer.alloc(physical === INT32 ? 4 : physical === FIXED ? FIXED_BYTES : 8)
  if (physical === INT32) bytes.writeInt32LE(Number(value))
  else if (physical === INT64) bytes.writeBigInt64LE(BigInt(value as bigint))
  else if (physical === DOUBLE) bytes.writeDoubleLE(value as number)
  else {
    bytes.writeBigInt64BE((value as bigint) >> 64n)
    bytes.writeBigUInt64BE(BigInt.asUintN(64, value as bigint), 8)
  }
  return bytes
}

/** Values in the plain encoding (https://parquet.apache.org/docs/file-format/data-pages/encodings/). */
export function pageBytes(type: PlainType, values: readonly PlainValue[]): Buffer {
  if (type.physical === BOOLEAN) {
    const bits = Buffer.alloc(Math.ceil(values.length / 8))
    for (const [index, value] of values.entries()) if (value) bits[index >> 3]! |= 1 << (index & 7)
    return bits
  }
  const pieces = values.map((value) => boundBytes(type, value))
  if (type.physical !== BYTE_ARRAY) return Buffer.concat(pieces)
  return Buffer.concat(
    pieces.flatMap((piece) => {
      const length = Buffer.alloc(4)
      length.writeUInt32LE(piece.length)
      return [length, piece]
    }),
  )
}

function decimalOf(value: string, scale: number): bigint | undefined {
  const [, sign, whole, fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(value) ?? []
  if (whole === undefined || /[1-9]/.test(fraction.slice(scale))) return undefined
  return BigInt(`${sign}${whole}${fraction.slice(0, scale).padEnd(scale, '0')}`)
}

function daysOf(value: string): number | undefined {
  const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(value) ?? []
  if (day === undefined) return undefined
  return new Date(0).setUTCFullYear(Number(year), Number(month) - 1, Number(day)) / 86_400_000
}

function clockOf(value: string): bigint | undefined {
  const [, hours, minutes, seconds = '0', fraction = ''] =
    /^(\d\d):(\d\d)(?::(\d\d)(?:\.(\d+))?)?$/.exec(value) ?? []
  if (minutes === undefined) return undefined
  const whole = (Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)
  return BigInt(whole * 1_000_000 + Number(fraction.slice(0, 6).padEnd(6, '0')))
}

/** A day, or a time on it with or without an offset; in UTC. */
function momentOf(value: string): bigint | undefined {
  const [, day, clock, zone = 'Z'] =
    /^([-\d]{10})(?:[T ]([:.\d]+)(Z|[-+]\d\d(?::?\d\d)?)?)?$/.exec(value) ?? []
  const days = day === undefined ? undefined : daysOf(day)
  const micros = clock === undefined ? 0n : clockOf(clock)
  if (days === undefined || micros === undefined) return undefined
  const [, sign, hours = '0', minutes = '0'] = /^([-+])(\d\d):?(\d\d)?$/.exec(zone) ?? []
  const offset = BigInt((Number(hours) * 60 + Number(minutes)) * 60_000_000)
  return BigInt(days) * BigInt(DAY_MICROS) + micros - (sign === '-' ? -offset : offset)
}

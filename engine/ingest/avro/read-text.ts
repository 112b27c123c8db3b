import { isUtf8 } from 'node:buffer'
import avsc, { type types as AvroTypes, type Type } from 'avsc'
import type { ColumnType } from '../../types/index.ts'
import { BadValue, floorDivide, momentOfOurYears, ofDay, ofDigits, ofOurYears } from '../text/bounds.ts'
import { malformed, tooFine } from '../text/errors.ts'
import {
  clockText,
  dayText,
  decimalText,
  doubleText,
  durationText,
  jsonText,
  quotedText,
  timestampText,
} from '../text/value-text.ts'

const { types } = avsc

/** A column: its type, and its values as csv would write them. */
export interface AvroColumn {
  readonly name: string
  readonly type: ColumnType
  /** @throws BadValue */
  readonly text: (value: unknown) => string | null
}

/** The schema's own words about a value: `decimal` with its digits, `date` … (Avro 1.12, Logical Types). */
interface Words {
  readonly logicalType: string
  readonly precision?: number
  readonly scale?: number
}

/** Keeps the words of a logical type, and its values as they are stored. */
class Logical extends types.LogicalType {
  readonly words: Words

  constructor(schema: unknown, options?: unknown) {
    super({ ...(schema as Words), isStored: true } as never, options)
    this.words = schema as Words
  }

  protected override _fromValue(value: unknown): unknown {
    return value
  }

  protected override _toValue(value: unknown): unknown {
    return value
  }
}

const LOGICAL = [
  ...['decimal', 'uuid', 'date', 'duration', 'time-millis', 'time-micros'],
  ...['millis', 'micros', 'nanos'].flatMap((unit) => [`timestamp-${unit}`, `local-timestamp-${unit}`]),
]

/** Numbers of 64 bits with all of their digits. */
const LONG = types.LongType.__with({
  fromBuffer: (bytes: Buffer) => bytes.readBigInt64LE(),
  toBuffer: (value: bigint) => {
    const bytes = Buffer.alloc(8)
    bytes.writeBigInt64LE(value)
    return bytes
  },
  fromJSON: BigInt,
  toJSON: String,
  isValid: (value: unknown) => typeof value === 'bigint',
  compare: (one: bigint, other: bigint) => (one < other ? -1 : one > other ? 1 : 0),
})

/** Texts. The library alone reads invalid UTF-8 as U+FFFD. */
class Text extends types.StringType {
  /** @throws BadValue */
  _read(tap: Tap): string {
    const { pos } = tap
    const text = tap.readString()
    if (!text.includes('\ufffd')) return text
    tap.pos = pos
    if (!isUtf8(tap.readBytes())) throw new BadValue()
    return text
  }
}
const STRING = new Text()

/** Maps as lists of their entries. The library alone makes objects, in which a key `__proto__` is lost. */
class Entries extends types.MapType {
  _read(tap: Tap): [key: string, value: unknown][] {
    const { valuesType } = this as unknown as { valuesType: { _read(tap: Tap): unknown } }
    const entries: [string, unknown][] = []
    for (let left = tap.readLong(); left !== 0; left = tap.readLong()) {
      // The size of a block in bytes follows where its count is negative.
      if (left < 0) tap.readLong()
      for (let more = Math.abs(left); more > 0; more--)
        entries.push([STRING._read(tap), valuesType._read(tap)])
    }
    return entries
  }
}

/** What the library reads from. */
interface Tap {
  pos: number
  readLong(): number
  readString(): string
  readBytes(): Buffer
}

/**
 * The type that reads values of a schema.
 * @throws Error if the schema is not valid
 */
export function typeOfSchema(schema: unknown): Type {
  return avsc.Type.forSchema(
    schema as never,
    {
      typeHook: (one: unknown, options: unknown) => {
        const name = plainName(one)
        if (name === 'string') return STRING
        if (name === 'long') return LONG
        return name === 'map' ? new Entries(one as never, options) : undefined
      },
      wrapUnions: true,
      logicalTypes: Object.fromEntries(LOGICAL.map((name) => [name, Logical])),
    } as never,
  )
}

/** The name of the type that reads the values of a schema as they are stored; undefined for a logical type. */
function plainName(schema: unknown): unknown {
  if (typeof schema !== 'object' || schema === null) return schema
  const { type, logicalType, isStored } = schema as Partial<Words> & { type?: unknown; isStored?: boolean }
  return isStored || !LOGICAL.includes(logicalType ?? '') ? type : undefined
}

/**
 * The columns of a file, which are the fields of its records.
 * @param truncate cuts times off behind their microseconds; otherwise finer ones are errors
 */
export function columnsOf(type: Type, truncate: boolean): AvroColumn[] {
  if (!(type instanceof types.RecordType))
    throw malformed('The Avro file holds no records, which rows are made of.')
  return type.fields.map(({ name, type }) => ({ name, ...columnOf(name, type as Type, truncate) }))
}

type Reader = Omit<AvroColumn, 'name'>

function columnOf(name: string, type: Type, truncate: boolean): Reader {
  if (type instanceof Logical) return logical(name, type, truncate)
  if (type instanceof types.WrappedUnionType) return union(name, type, truncate)
  switch (type.typeName) {
    case 'null':
      return { type: 'string', text: () => null }
    case 'boolean':
      return { type: 'boolean', text: String }
    case 'int':
    // The name that the library gives to `LONG`.
    case 'abstract:long' as never:
      return { type: 'integer', text: String }
    case 'float':
    case 'double':
      return { type: 'double', text: (value) => doubleText(value as number) }
    case 'string':
    case 'enum':
      return { type: 'string', text: (value) => value as string }
    case 'bytes':
    case 'fixed':
      return { type: 'binary', text: (value) => Buffer.from(value as Buffer).toString('base64') }
    default:
      return json(type, truncate)
  }
}

/** A union of null and one type is that type; of several, where these give the same type of column. */
function union(name: string, type: AvroTypes.WrappedUnionType, truncate: boolean): Reader {
  const branches = new Map(
    type.types.map((one: Type) => [one.branchName!, columnOf(name, one, truncate)] as const),
  )
  const given = [...branches].filter(([branch]) => branch !== 'null').map(([, { type }]) => type)
  if (new Set(given).size > 1) {
    const { text } = json(type, truncate)
    return { type: 'json', text: (value) => (value === null ? null : text(value)) }
  }
  const text = (value: unknown) => {
    if (value === null) return null
    const [[branch, inner]] = Object.entries(value as object) as [[string, unknown]]
    return branches.get(branch)!.text(inner)
  }
  return { type: given[0] ?? 'string', text }
}

const NANOS = 1000n

function logical(name: string, type: Logical, truncate: boolean): Reader {
  const { logicalType, precision = 0, scale = 0 } = type.words
  const whole = (value: unknown) => BigInt(value as number | bigint)
  const micros = (value: unknown) => {
    if (logicalType.endsWith('millis')) return whole(value) * 1000n
    if (!logicalType.endsWith('nanos')) return whole(value)
    if (!truncate && whole(value) % NANOS !== 0n) throw new BadValue(tooFine)
    return floorDivide(whole(value), NANOS)
  }
  switch (logicalType) {
    case 'decimal':
      if (precision > 38 || scale > precision) {
        throw malformed(
          `Column ${JSON.stringify(name)} holds decimals of ${precision} digits; the most are 38.`,
        )
      }
      return {
        type: `decimal(${precision},${scale})`,
        text: (value) => decimalText(ofDigits(unitsOf(value as Buffer), precision), scale),
      }
    case 'uuid':
      return {
        type: 'uuid',
        text: (value) => (typeof value === 'string' ? value : uuidText(value as Buffer)),
      }
    case 'date':
      return { type: 'date', text: (value) => dayText(ofOurYears(value as number)) }
    case 'duration':
      return { type: 'string', text: (value) => intervalText(value as Buffer) }
    case 'time-millis':
    case 'time-micros':
      return { type: 'time', text: (value) => clockText(ofDay(micros(value))) }
    default: {
      const zoned = !logicalType.startsWith('local')
      return {
        type: zoned ? 'timestamptz' : 'timestamp',
        text: (value) => timestampText(momentOfOurYears(micros(value)), zoned),
      }
    }
  }
}

/** Big-endian two's complement. */
function unitsOf(bytes: Buffer): bigint {
  const hex = Buffer.from(bytes).toString('hex')
  return hex === '' ? 0n : BigInt.asIntN(4 * hex.length, BigInt(`0x${hex}`))
}

function uuidText(bytes: Buffer): string {
  return Buffer.from(bytes)
    .toString('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

/** Months, days and milliseconds, each of 32 bits, as ISO 8601. */
function intervalText(bytes: Buffer): string {
  const [months, days, millis] = [0, 4, 8].map((at) => Buffer.from(bytes).readUInt32LE(at)) as [
    number,
    number,
    number,
  ]
  return durationText(BigInt(millis) * 1000n, months, days)
}

function json(type: Type, truncate: boolean): Reader {
  const read = jsonReader(type, truncate)
  return { type: 'json', text: read }
}

type JsonReader = (value: unknown) => string

/** @param made those of types that may contain themselves */
function jsonReader(type: Type, truncate: boolean, made = new Map<Type, JsonReader>()): JsonReader {
  const before = made.get(type)
  if (before) return before
  made.set(type, (value) => read(value))
  const inner = (one: Type) => jsonReader(one, truncate, made)
  const read = nested(type, inner) ?? scalar(type, truncate)
  return read
}

function nested(type: Type, inner: (type: Type) => JsonReader): JsonReader | undefined {
  const object = (entries: readonly [string, unknown][], read: (key: string) => JsonReader) =>
    `{${entries.map(([key, one]) => `${quotedText(key)}:${read(key)(one)}`)}}`
  if (type instanceof types.WrappedUnionType) {
    const branches = new Map(type.types.map((one: Type) => [one.branchName!, inner(one)] as const))
    return (value) => {
      const [[branch, one] = []] = Object.entries(value ?? {})
      return branch === undefined ? 'null' : branches.get(branch)!(one)
    }
  }
  if (type instanceof types.RecordType) {
    const fields = new Map(type.fields.map(({ name, type: one }) => [name, inner(one as Type)] as const))
    return (value) => object(Object.entries(value as object), (key) => fields.get(key)!)
  }
  if (type instanceof types.ArrayType) {
    const item = inner(type.itemsType)
    return (value) => `[${(value as unknown[]).map(item)}]`
  }
  if (type instanceof types.MapType) {
    const item = inner(type.valuesType)
    return (value) => object(value as [string, unknown][], () => item)
  }
  return undefined
}

function scalar(type: Type, truncate: boolean): JsonReader {
  const { type: given, text } = columnOf('', type, truncate)
  return (value) => jsonText(given, text(value))
}

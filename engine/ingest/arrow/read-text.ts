import {
  Binary,
  BinaryView,
  type Data,
  DataType,
  type Decimal,
  Field,
  IntervalUnit,
  LargeBinary,
  TimeUnit,
  Vector,
} from 'apache-arrow'
import type { ColumnType } from '../../types/index.ts'
import { BadValue, floorDivide, momentOfOurYears, ofDay, ofDigits, ofOurYears } from '../text/bounds.ts'
import { dayWithTime, malformed, notUtf8, tooFine } from '../text/errors.ts'
import { periodsIn, periodText } from '../text/periods.ts'
import { accepts, TEXT_KIND } from '../text/text-kinds.ts'
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
import { utf8Text } from './arrow-messages.ts'

/** Reads one value of a column's data as text; null where it is missing. */
export type ReadText = (index: number) => string | null

/**
 * The column type for an Arrow type (Arrow columnar format 1.5). It is the one that DuckDB's type of the same meaning
 * gets.
 * @throws EngineError `invalid_upload` for unions and other types that have no counterpart
 */
export function typeOfArrow(field: Field): ColumnType {
  const type: DataType = field.type
  const extension = extensionOf(field)
  if (extension) return extension.type
  if (DataType.isDictionary(type)) return typeOfArrow({ ...field, type: type.dictionary } as Field)
  if (DataType.isInt(type)) return type.bitWidth === 64 && !type.isSigned ? 'decimal(20,0)' : 'integer'
  if (DataType.isFloat(type)) return 'double'
  if (DataType.isDecimal(type)) return decimalType(field, type)
  if (DataType.isBool(type)) return 'boolean'
  if (isText(type) || DataType.isNull(type)) return 'string'
  if (DataType.isInterval(type) || DataType.isDuration(type)) return 'string'
  if (isBinary(type)) return 'binary'
  if (DataType.isDate(type)) return 'date'
  if (DataType.isTime(type)) return 'time'
  if (DataType.isTimestamp(type)) return type.timezone ? 'timestamptz' : 'timestamp'
  if (isList(type) || DataType.isStruct(type) || DataType.isMap(type)) return 'json'
  throw malformed(
    `Column ${JSON.stringify(field.name)} has the Arrow type ${String(type)}, which is not supported.`,
  )
}

export function isText(type: DataType): boolean {
  return DataType.isUtf8(type) || DataType.isLargeUtf8(type) || DataType.isUtf8View(type)
}

/** The type of binary values that are stored as the texts of a type are. */
function bytesOf(type: DataType): DataType {
  if (DataType.isUtf8View(type)) return new BinaryView()
  return DataType.isLargeUtf8(type) ? new LargeBinary() : new Binary()
}

function decoded(bytes: Uint8Array): string {
  const text = utf8Text(bytes)
  if (text === undefined) throw new BadValue(notUtf8)
  return text
}

function isBinary(type: DataType): boolean {
  return (
    DataType.isBinary(type) ||
    DataType.isLargeBinary(type) ||
    DataType.isBinaryView(type) ||
    DataType.isFixedSizeBinary(type)
  )
}

function isList(type: DataType): boolean {
  return DataType.isList(type) || DataType.isLargeList(type) || DataType.isFixedSizeList(type)
}

const MOST_DIGITS = 38

/** The column type of a decimal. A scale below zero means that so many digits before the point are 0. */
function decimalType({ name }: Field, { precision, scale }: Decimal): ColumnType {
  const digits = Math.max(precision - Math.min(scale, 0), scale)
  if (digits < 1 || digits > MOST_DIGITS) {
    const limit = digits < 1 ? 'the least is 1' : `the most are ${MOST_DIGITS}`
    throw malformed(`Column ${JSON.stringify(name)} holds decimals of ${digits} digits; ${limit}.`, {
      column: name,
    })
  }
  return `decimal(${digits},${Math.max(scale, 0)})`
}

/** An extension type that corresponds to a column type, and how its values are read where its storage is another one. */
interface Extension {
  readonly type: ColumnType
  readonly storage: (type: DataType) => boolean
  readonly read?: (values: ArrayLike<unknown>, index: number) => string
}

/** Arrow's own extension types (Arrow 1.5, canonical extensions). */
const EXTENSIONS: Readonly<Record<string, Extension>> = {
  'arrow.uuid': {
    type: 'uuid',
    storage: (type) => DataType.isFixedSizeBinary(type) && type.byteWidth === 16,
    read: (values, index) => {
      const { buffer, byteOffset } = values as Uint8Array
      const hex = Buffer.from(buffer, byteOffset + 16 * index, 16).toString('hex')
      return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
    },
  },
  'arrow.bool8': {
    type: 'boolean',
    storage: (type) => DataType.isInt(type) && type.bitWidth === 8,
    read: (values, index) => String(values[index] !== 0),
  },
  'arrow.json': { type: 'json', storage: isText },
}

function extensionOf({ type, metadata }: Field): Extension | undefined {
  const period = periodsIn(metadata)
  const extension = period
    ? {
        type: period.type,
        storage: (type: DataType) => DataType.isInt(type) && type.bitWidth === 64,
        read: (values: ArrayLike<unknown>, index: number) =>
          periodText(period, BigInt(values[index] as bigint)),
      }
    : EXTENSIONS[metadata.get('ARROW:extension:name') ?? '']
  return extension?.storage(type) ? extension : undefined
}

/**
 * A reader of one batch's column. It returns each value as csv would write it for the same type.
 * @param truncate cuts times off behind their microseconds; otherwise finer ones are errors
 */
export function textReader(field: Field, data: Data, truncate: boolean): ReadText {
  const own = extensionOf(field)?.read
  const read = own
    ? (index: number) => own(data.values as ArrayLike<unknown>, index)
    : valueReader(field, data, truncate)
  return data.nullCount === 0 ? read : (index) => (data.getValid(index) ? read(index) : null)
}

function valueReader(field: Field, data: Data, truncate: boolean): ReadText {
  const { type, values } = data
  if (DataType.isDictionary(type)) {
    const readers = data.dictionary!.data.map((chunk) => ({
      length: chunk.length,
      read: textReader(new Field('', chunk.type), chunk, truncate),
    }))
    return (index) => {
      let at = Number(values[index])
      if (at >= 0) {
        for (const { length, read } of readers) {
          if (at < length) return read(at)
          at -= length
        }
      }
      throw malformed('A dictionary of the Arrow stream has no value for an index.')
    }
  }
  if (DataType.isInt(type)) return (index) => String(values[index])
  if (DataType.isFloat(type)) {
    const vector = new Vector([data])
    return (index) => doubleText(vector.get(index) as number)
  }
  if (DataType.isDecimal(type))
    return (index) =>
      decimalText(unitsOf(values as Uint32Array, index * (type.bitWidth / 32), type), Math.max(type.scale, 0))
  if (DataType.isBool(type)) {
    return (index) =>
      (values[(data.offset + index) >> 3]! >> ((data.offset + index) & 7)) & 1 ? 'true' : 'false'
  }
  if (DataType.isNull(type)) return () => null
  if (isText(type)) {
    const vector = new Vector([data.clone(bytesOf(type))])
    return (index) => decoded(vector.get(index) as Uint8Array)
  }
  if (isBinary(type)) {
    const vector = new Vector([data])
    return (index) => Buffer.from(vector.get(index) as Uint8Array).toString('base64')
  }
  if (DataType.isDate(type)) {
    const days = (index: number) =>
      type.unit === 0 ? Number(values[index]) : wholeDays(Number(values[index]))
    return (index) => dayText(ofOurYears(days(index)))
  }
  if (DataType.isTime(type)) return (index) => clockText(ofDay(micros(values[index], type.unit, truncate)))
  if (DataType.isTimestamp(type)) {
    const zoned = Boolean(type.timezone)
    return (index) => timestampText(momentOfOurYears(micros(values[index], type.unit, truncate)), zoned)
  }
  if (DataType.isDuration(type)) return (index) => durationText(micros(values[index], type.unit, truncate))
  if (DataType.isInterval(type)) return intervalReader(values as Int32Array, type.unit, truncate)
  if (isList(type) || DataType.isStruct(type) || DataType.isMap(type))
    return jsonReader(field, data, truncate)
  throw malformed(`The Arrow type ${String(type)} is not supported.`)
}

function micros(value: bigint | number | undefined, unit: TimeUnit, truncate: boolean): bigint {
  const count = BigInt(value!)
  switch (unit) {
    case TimeUnit.SECOND:
      return count * 1_000_000n
    case TimeUnit.MILLISECOND:
      return count * 1000n
    case TimeUnit.MICROSECOND:
      return count
    default:
      if (!truncate && count % 1000n !== 0n) throw new BadValue(tooFine)
      return floorDivide(count, 1000n)
  }
}

function intervalReader(values: Int32Array, unit: IntervalUnit, truncate: boolean): ReadText {
  if (unit === IntervalUnit.YEAR_MONTH) return (index) => durationText(0n, values[index])
  if (unit === IntervalUnit.DAY_TIME)
    return (index) => durationText(BigInt(values[2 * index + 1]!) * 1000n, 0, values[2 * index])
  return (index) => {
    const [months, days, low, high] = values.subarray(4 * index, 4 * index + 4)
    const nanos = (BigInt(high!) << 32n) | BigInt(low! >>> 0)
    return durationText(micros(nanos, TimeUnit.NANOSECOND, truncate), months, days)
  }
}

/** Dates in milliseconds are midnights (Arrow 1.5, Schema.fbs, Date). Some programs store moments in them. */
function wholeDays(millis: number): number {
  if (millis % 86_400_000 !== 0) throw new BadValue(dayWithTime)
  return millis / 86_400_000
}

/** The value of a decimal without its point, which Arrow stores as little-endian two's complement in 32-bit words. */
function unitsOf(words: Uint32Array, from: number, { bitWidth, precision, scale }: Decimal): bigint {
  let value = 0n
  for (let word = bitWidth / 32 - 1; word >= 0; word--) value = (value << 32n) | BigInt(words[from + word]!)
  value = BigInt.asIntN(bitWidth, value)
  ofDigits(value, precision)
  return scale < 0 ? value * 10n ** BigInt(-scale) : value
}

/** A reader of nested values as JSON, in which numbers keep all their digits. */
function jsonReader(field: Field, data: Data, truncate: boolean): (index: number) => string {
  const read = jsonValueReader(field, data, truncate)
  return (index) => (data.getValid(index) ? read(index) : 'null')
}

function jsonValueReader(field: Field, data: Data, truncate: boolean): (index: number) => string {
  const { type, children } = data
  if (DataType.isStruct(type)) {
    const fields = children.map((child, at) => ({
      key: JSON.stringify(type.children[at]!.name),
      read: jsonReader(type.children[at]!, child, truncate),
    }))
    return (index) => `{${fields.map(({ key, read }) => `${key}:${read(index)}`).join(',')}}`
  }
  if (DataType.isMap(type)) {
    const [keys, values] = children[0]!.children
    const [keyField, valueField] = type.children[0]!.type.children
    const key = textReader(keyField as Field, keys!, truncate)
    const value = jsonReader(valueField as Field, values!, truncate)
    return (index) => {
      const [from, to] = range(data, index)
      const pairs = Array.from(
        { length: to - from },
        (_, at) => `${quotedText(key(from + at) ?? '')}:${value(from + at)}`,
      )
      return `{${pairs.join(',')}}`
    }
  }
  if (isList(type)) {
    const item = jsonReader(type.children[0]!, children[0]!, truncate)
    return (index) => {
      const [from, to] = range(data, index)
      return `[${Array.from({ length: to - from }, (_, at) => item(from + at)).join(',')}]`
    }
  }
  const read = textReader(field, data, truncate)
  const scalar = typeOfArrow(field)
  return (index) => {
    const text = read(index)
    if (scalar === 'json' && !accepts(scalar, TEXT_KIND.text, true, () => text ?? 'null'))
      throw new BadValue()
    return jsonText(scalar, text)
  }
}

function range(data: Data, index: number): [from: number, to: number] {
  if (DataType.isFixedSizeList(data.type)) {
    const { listSize } = data.type
    return [index * listSize, (index + 1) * listSize]
  }
  const offsets = data.valueOffsets
  return [Number(offsets[index]), Number(offsets[index + 1])]
}

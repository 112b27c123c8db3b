import {
  Binary,
  BinaryView,
  type Data,
  DataType,
  type Decimal,
  type Field,
  LargeBinary,
  TimeUnit,
  Vector,
} from 'apache-arrow'
import type { ColumnType } from '../../types/index.ts'
import { BadValue, floorDivide, momentOfOurYears, ofDay, ofDigits, ofOurYears } from '../text/bounds.ts'
import { dayWithTime, malformed, notUtf8, tooFine } from '../text/errors.ts'
import {
  clockText,
  dayText,
  decimalText,
  doubleText,
  durationText,
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
  const extension = EXTENSIONS[field.metadata.get('ARROW:extension:name') ?? '']
  if (extension?.storage(type)) return extension.type
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

/** Arrow's own extension types (Arrow 1.5, canonical extensions) that correspond to a column type. */
const EXTENSIONS: Readonly<Record<string, { type: ColumnType; storage: (type: DataType) => boolean }>> = {
  'arrow.uuid': {
    type: 'uuid',
    storage: (type) => DataType.isFixedSizeBinary(type) && type.byteWidth === 16,
  },
  'arrow.json': { type: 'json', storage: isText },
}

/** A reader of values of sixteen bytes as the texts of UUIDs. */
export function uuidReader(data: Data): ReadText {
  const bytes = data.values as Uint8Array
  return (index) => {
    if (!data.getValid(index)) return null
    const hex = Buffer.from(bytes.buffer, bytes.byteOffset + 16 * index, 16).toString('hex')
    return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
  }
}

/**
 * A reader of one batch's column. It returns each value as csv would write it for the same type.
 * @param truncate cuts times off behind their microseconds; otherwise finer ones are errors
 */
export function textReader(data: Data, truncate: boolean): ReadText {
  const read = valueReader(data, truncate)
  return data.nullCount === 0 ? read : (index) => (data.getValid(index) ? read(index) : null)
}

function valueReader(data: Data, truncate: boolean): ReadText {
  const { type, values } = data
  if (DataType.isDictionary(type)) {
    const readers = data.dictionary!.data.map((chunk) => ({
      length: chunk.length,
      read: textReader(chunk, truncate),
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
  if (isList(type) || DataType.isStruct(type) || DataType.isMap(type)) return jsonReader(data, truncate)
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
function jsonReader(data: Data, truncate: boolean): (index: number) => string {
  const read = jsonValueReader(data, truncate)
  return (index) => (data.getValid(index) ? read(index) : 'null')
}

function jsonValueReader(data: Data, truncate: boolean): (index: number) => string {
  const { type, children } = data
  if (DataType.isStruct(type)) {
    const fields = children.map((child, at) => ({
      key: JSON.stringify(type.children[at]!.name),
      read: jsonReader(child, truncate),
    }))
    return (index) => `{${fields.map(({ key, read }) => `${key}:${read(index)}`).join(',')}}`
  }
  if (DataType.isMap(type)) {
    const [keys, values] = children[0]!.children
    const key = textReader(keys!, truncate)
    const value = jsonReader(values!, truncate)
    return (index) => {
      const [from, to] = range(data, index)
      const pairs = Array.from(
        { length: to - from },
        (_, at) => `${JSON.stringify(key(from + at) ?? '')}:${value(from + at)}`,
      )
      return `{${pairs.join(',')}}`
    }
  }
  if (isList(type)) {
    const item = jsonReader(children[0]!, truncate)
    return (index) => {
      const [from, to] = range(data, index)
      return `[${Array.from({ length: to - from }, (_, at) => item(from + at)).join(',')}]`
    }
  }
  const read = textReader(data, truncate)
  const scalar = DataType.isDictionary(type) ? type.dictionary : type
  if (DataType.isInt(scalar) || DataType.isDecimal(scalar) || DataType.isBool(scalar)) {
    return (index) => read(index) ?? 'null'
  }
  if (DataType.isFloat(scalar)) {
    return (index) => {
      const text = read(index) ?? 'null'
      return /[NI]/.test(text) ? JSON.stringify(text) : text
    }
  }
  return (index) => JSON.stringify(read(index))
}

function range(data: Data, index: number): [from: number, to: number] {
  if (DataType.isFixedSizeList(data.type)) {
    const { listSize } = data.type
    return [index * listSize, (index + 1) * listSize]
  }
  const offsets = data.valueOffsets
  return [Number(offsets[index]), Number(offsets[index + 1])]
}

import type { ColumnType } from '../../../client/index.ts'
import type { Field } from '../csv.ts'

/** The types that the user can choose for a text column, besides decimals. */
export const CHOICES = [
  'boolean',
  'integer',
  'double',
  'string',
  'date',
  'time',
  'timestamp',
  'timestamptz',
  'uuid',
  'binary',
  'json',
] as const satisfies readonly ColumnType[]

const INTEGER = /^-?(?:0|[1-9]\d*)$/
const NUMBER = /^-?(?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?$/
const SPECIAL = /^(?:nan|-?inf(?:inity)?)$/i
const BOOLEAN = /^(?:true|false)$/i
const DATE = /^\d{4}-\d{2}-\d{2}$/
const CLOCK = '(?:[01]\\d|2[0-3]):[0-5]\\d(?::[0-5]\\d(?:\\.\\d{1,6}0*)?)?'
const TIME = new RegExp(`^${CLOCK}$`)
const TIMESTAMP = new RegExp(`^\\d{4}-\\d{2}-\\d{2}[T ]${CLOCK}$`)
const ZONED = new RegExp(`^\\d{4}-\\d{2}-\\d{2}[T ]${CLOCK}(?:Z|[-+]\\d{2}(?::?\\d{2})?)$`)

const LARGEST = 2n ** 63n - 1n

/** Narrowest first. A column has the first type that accepts all its values. */
const TESTS: readonly (readonly [ColumnType, (text: string) => boolean])[] = [
  ['boolean', (text) => BOOLEAN.test(text)],
  ['integer', fitsInteger],
  ['decimal(38,0)', fitsDecimal],
  ['double', (text) => (INTEGER.test(text) ? fitsDecimal(text) : NUMBER.test(text) || SPECIAL.test(text))],
  ['date', isDate],
  ['timestamp', (text) => isDate(text) || (TIMESTAMP.test(text) && isDate(text.slice(0, 10)))],
  ['timestamptz', (text) => ZONED.test(text) && isDate(text.slice(0, 10))],
  ['time', (text) => TIME.test(text)],
]

/**
 * Predicts the type that the server will infer. Only the beginning of the file is known here, so the server may find
 * another.
 */
export function inferType(values: readonly Field[]): ColumnType {
  const present = values.filter((value): value is string => value !== null)
  if (present.length === 0) return 'string'
  return TESTS.find(([, test]) => present.every(test))?.[0] ?? 'string'
}

/** A decimal type for values like these, with the largest number of decimal places among them, and at least two. */
export function decimalFor(values: readonly Field[]): ColumnType {
  const behind = values.map((value) => /^-?\d*\.(\d+)$/.exec(value ?? '')?.[1]?.length ?? 0)
  const scale = Math.min(38, Math.max(2, ...behind))
  return `decimal(${Math.max(18, Math.min(38, scale + 12))},${scale})`
}

function fitsInteger(text: string): boolean {
  if (!INTEGER.test(text)) return false
  if (text.length <= 18) return true
  const value = BigInt(text)
  return value <= LARGEST && value >= -LARGEST - 1n
}

function fitsDecimal(text: string): boolean {
  return INTEGER.test(text) && text.replace('-', '').length <= 38
}

function isDate(text: string): boolean {
  return DATE.test(text) && !Number.isNaN(Date.parse(text)) && new Date(text).toISOString().startsWith(text)
}

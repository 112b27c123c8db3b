import type { Vector } from '../arrow/batch.ts'
import { type ColumnType, decimalParts } from '../types.ts'
import { date, MAX_MOMENT, time, timestamp } from './moments.ts'
import { decimal, double, int64, MAX_DECIMAL, MAX_DOUBLE, MAX_INTEGER } from './numbers.ts'
import { literal, type Output, writeLiteral } from './output.ts'

/** How a cell is written; small numbers, because the choice is made for every value. */
export const KIND = {
  boolean: 0,
  integer: 1,
  double: 2,
  decimal: 3,
  /** From here on json puts quotes around it. */
  date: 4,
  time: 5,
  timestamp: 6,
  timestamptz: 7,
  /** From here on values have no fixed width. */
  uuid: 8,
  binary: 9,
  string: 10,
  json: 11,
} as const
export type Kind = (typeof KIND)[keyof typeof KIND]

export function kindOf(type: ColumnType): Kind {
  return type.startsWith('decimal') ? KIND.decimal : KIND[type as keyof typeof KIND]
}

/** Room that a cell of any fixed-width kind needs at most, in any text format, with what surrounds it. */
export const MAX_CELL = MAX_DECIMAL + 4
if (Math.max(MAX_INTEGER, MAX_DOUBLE, MAX_MOMENT) > MAX_DECIMAL) throw new Error('MAX_CELL is too small')

/** Kinds and scales of columns, side by side. */
export interface Shape {
  readonly kinds: Uint8Array
  readonly scales: Uint8Array
}

export function shapeOf(types: readonly ColumnType[]): Shape {
  return {
    kinds: Uint8Array.from(types, kindOf),
    scales: Uint8Array.from(types, (type) => decimalParts(type)?.scale ?? 0),
  }
}

const TRUE = literal('true')
const FALSE = literal('false')
const NOT_A_NUMBER = literal('NaN')
const INFINITY = literal('INF')
const MINUS_INFINITY = literal('-INF')

/**
 * Writes a value of fixed width, not null, as text without quotes. Returns the position behind it.
 * @param kind one before `uuid`
 */
export function fixedCell(
  view: DataView,
  at: number,
  vector: Vector,
  row: number,
  kind: number,
  scale: number,
): number {
  const { words } = vector
  switch (kind) {
    case KIND.integer:
      return int64(view, at, words[2 * row]!, words[2 * row + 1]!)
    case KIND.double: {
      const value = vector.doubles[row]!
      // Infinities and NaN alone differ from themselves after this.
      if (value - value === 0) return double(view, at, value)
      return writeLiteral(view, at, value > 0 ? INFINITY : value < 0 ? MINUS_INFINITY : NOT_A_NUMBER)
    }
    case KIND.date:
      return date(view, at, words[row]!)
    case KIND.timestamp:
      return timestamp(view, at, words[2 * row]!, words[2 * row + 1]!, false)
    case KIND.timestamptz:
      return timestamp(view, at, words[2 * row]!, words[2 * row + 1]!, true)
    case KIND.decimal:
      return decimal(view, at, words, 4 * row, scale)
    case KIND.time:
      return time(view, at, words[2 * row]!, words[2 * row + 1]!)
    case KIND.boolean:
      return writeLiteral(view, at, (vector.bytes[row >> 3]! >> (row & 7)) & 1 ? TRUE : FALSE)
    default:
      throw new Error(`Kind ${kind} has no fixed width`)
  }
}

/** Copies bytes word by word into reserved room; up to three bytes more may be overwritten. */
export function copyBytes(out: Output, from: DataView, start: number, end: number): void {
  const { view, length } = out
  for (let i = start, at = length; i < end; i += 4, at += 4) view.setUint32(at, from.getUint32(i, true), true)
  out.length = length + end - start
}

const BASE64 = Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/')

/** Base64 with padding (RFC 4648, section 4); reserves its room, and `spare` bytes more. */
export function base64(out: Output, bytes: Uint8Array, start: number, end: number, spare: number): void {
  out.reserve((((end - start + 2) / 3) | 0) * 4 + spare)
  const target = out.bytes
  let at = out.length
  for (let i = start; i < end; i += 3) {
    const left = end - i
    const group = (bytes[i]! << 16) | (left > 1 ? bytes[i + 1]! << 8 : 0) | (left > 2 ? bytes[i + 2]! : 0)
    target[at] = BASE64[group >> 18]!
    target[at + 1] = BASE64[(group >> 12) & 63]!
    target[at + 2] = left > 1 ? BASE64[(group >> 6) & 63]! : 0x3d
    target[at + 3] = left > 2 ? BASE64[group & 63]! : 0x3d
    at += 4
  }
  out.length = at
}

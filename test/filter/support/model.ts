/**
 * A small model of the standard, made apart from the engine: its own values, its own rules, no SQL. Whole numbers are
 * BigInt, decimals a BigInt and its scale, doubles a number; days, times, moments and durations are BigInt counts.
 */
export interface Decimal {
  readonly digits: bigint
  readonly scale: number
}

export type Value = null | boolean | bigint | number | string | Decimal

export type Type =
  | 'boolean'
  | 'integer'
  | 'double'
  | 'string'
  | 'date'
  | 'time'
  | 'timestamp'
  | 'timestamptz'
  | 'duration'
  | 'uuid'
  | { readonly precision: number; readonly scale: number }

export type Model =
  | { readonly kind: 'literal'; readonly type: Type; readonly value: Value; readonly text: string }
  | { readonly kind: 'column'; readonly type: Type; readonly name: string }
  | { readonly kind: 'apply'; readonly type: Type; readonly name: string; readonly args: readonly Model[] }
  | {
      readonly kind: 'list'
      readonly type: 'boolean'
      readonly operand: Model
      readonly items: readonly Model[]
    }
  | { readonly kind: 'case'; readonly type: Type; readonly pairs: readonly (readonly [Model, Model])[] }

export type Row = Readonly<Record<string, Value>>

/** A request that fails on a row: overflow, division by zero, a negative start. */
export class Failure extends Error {}

export function isDecimal(value: Value): value is Decimal {
  return typeof value === 'object' && value !== null
}

export function isDecimalType(type: Type): type is { precision: number; scale: number } {
  return typeof type === 'object'
}

export function isNumber(type: Type): boolean {
  return type === 'integer' || type === 'double' || isDecimalType(type)
}

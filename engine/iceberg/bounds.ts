import { type ColumnType, typeName } from '../types/index.ts'

/** Whether a bound is the lower or the upper one. */
export type Side = 'lower' | 'upper'

/**
 * A bound of a part's statistics (`ColumnBounds`) in Iceberg's binary form (table spec, Appendix D, binary single-value
 * serialization). undefined if readers must not skip files by it.
 */
export function boundBytes(type: ColumnType, text: string | null, side: Side): Uint8Array | undefined {
  if (text === null) return undefined
  const name = typeName(type)
  switch (name) {
    case 'boolean':
      return Uint8Array.of(text === 'true' ? 1 : 0)
    case 'string':
    case 'json':
      return Buffer.from(text, 'utf8')
    case 'double':
      return doubleBytes(Number(text.replace('inf', 'Infinity')), side)
    case 'decimal':
      return shortestBytes(BigInt(text))
    case 'date':
      return wholeNumber(text, 32)
    case 'integer':
    case 'time':
    case 'timestamp':
    case 'timestamptz':
      return wholeNumber(text, 64)
    // Some Java readers compare the two halves of a UUID as signed numbers, and would skip files that match.
    case 'uuid':
    case 'binary':
      return undefined
    default:
      return name satisfies never
  }
}

/** Readers sort -0 before 0, though the two are equal, so a lower bound of zero is -0 and an upper one is 0. */
function doubleBytes(value: number, side: Side): Uint8Array | undefined {
  if (Number.isNaN(value)) return undefined
  const bytes = Buffer.alloc(8)
  bytes.writeDoubleLE(value === 0 ? (side === 'lower' ? -0 : 0) : value)
  return bytes
}

/** An integer of the given number of bits, the low byte first. */
function wholeNumber(text: string, bits: 32 | 64): Uint8Array | undefined {
  const value = BigInt(text)
  if (BigInt.asIntN(bits, value) !== value) return undefined
  const bytes = Buffer.alloc(8)
  bytes.writeBigInt64LE(value)
  return bytes.subarray(0, bits / 8)
}

/** An integer as two's complement in the fewest bytes that hold it, the high byte first. */
function shortestBytes(value: bigint): Uint8Array {
  let length = 1
  while (BigInt.asIntN(length * 8, value) !== value) length += 1
  const digits = BigInt.asUintN(length * 8, value).toString(16)
  return Buffer.from(digits.padStart(length * 2, '0'), 'hex')
}

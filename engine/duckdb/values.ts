import type { Layout } from '../types/index.ts'
import { type Arena, type Memory, type Vector, vectorOver, widthOf } from './batch.ts'

/** A value in the form of its layout (`Vector`): `bit` takes booleans, `int64` and `int128` take bigints. */
export type LaidValue = boolean | number | bigint | Uint8Array

/**
 * A column of a batch, filled value by value.
 * @param arena one that gives new memory each time, because nulls are left out and must be zeros
 */
export function vectorOf(values: readonly (LaidValue | null)[], layout: Layout, arena: Arena): Vector {
  const rows = values.length
  const bits = (rows + 7) >> 3
  let validity: Memory | undefined
  if (values.includes(null)) {
    validity = arena.take(bits)
    for (let row = 0; row < rows; row++) if (values[row] !== null) validity.bytes[row >> 3]! |= 1 << (row & 7)
  }
  if (layout === 'bytes') return bytesOf(values as readonly (Uint8Array | null)[], validity, arena)
  const data = arena.take(layout === 'bit' ? bits : rows * widthOf(layout))
  const { view } = data
  for (let row = 0; row < rows; row++) {
    const value = values[row]!
    if (value === null) continue
    switch (layout) {
      case 'bit':
        if (value === true) data.bytes[row >> 3]! |= 1 << (row & 7)
        break
      case 'int32':
        view.setInt32(4 * row, value as number, true)
        break
      case 'double':
        view.setFloat64(8 * row, value as number, true)
        break
      case 'int64':
        view.setBigInt64(8 * row, value as bigint, true)
        break
      case 'int128':
        view.setBigInt64(16 * row, BigInt.asIntN(64, value as bigint), true)
        view.setBigInt64(16 * row + 8, (value as bigint) >> 64n, true)
        break
      default:
        layout satisfies never
    }
  }
  return vectorOver(data, validity)
}

const NOTHING = new Uint8Array(0)

function bytesOf(values: readonly (Uint8Array | null)[], validity: Memory | undefined, arena: Arena): Vector {
  const offsets = arena.take(4 * (values.length + 1))
  const ends = offsets.words
  for (const [row, value] of values.entries()) ends[row + 1] = ends[row]! + (value ?? NOTHING).length
  const data = arena.take(ends[values.length]!)
  for (const [row, value] of values.entries()) data.bytes.set(value ?? NOTHING, ends[row])
  return vectorOver(data, validity, offsets)
}

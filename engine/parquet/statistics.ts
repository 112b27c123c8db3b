import {
  type Column,
  type ColumnBounds,
  type ColumnType,
  entryOf,
  type PartStatistics,
} from '../types/index.ts'
import { FIELD, groupsOf, metasOf, numberOf, structOf } from './footer.ts'
import type { Struct } from './thrift.ts'

/** Bounds that are longer texts are cut off: they would help less than they cost, since the catalog is read often. */
const MOST_CHARACTERS = 64
/** Tables with more columns than this get no statistics, because these might take more space than the rows. */
const MOST_COLUMNS = 1_000

/** What is known of a part's columns, from the statistics in its footer. */
export function partStatistics(footer: Struct, columns: readonly Pick<Column, 'type'>[]): PartStatistics {
  return statisticsOf(groupsOf(footer), columns)
}

/** The same for each row group. */
export function groupStatistics(footer: Struct, columns: readonly Pick<Column, 'type'>[]): PartStatistics[] {
  return groupsOf(footer).map((group) => statisticsOf([group], columns))
}

function statisticsOf(all: readonly Struct[], columns: readonly Pick<Column, 'type'>[]): PartStatistics {
  const groups = all.map(metasOf)
  // The ordinals, which parts of older programs lack, are behind the columns.
  const types: ColumnType[] = [...columns.map(({ type }) => type), 'integer']
  return types.map((type, index) => {
    if (columns.length > MOST_COLUMNS && index < columns.length) return null
    const chunks = groups.flatMap((group) => group[index] ?? [])
    return chunks.length === groups.length ? boundsOf(chunks, type) : null
  })
}

/** The bounds of a column, from the metadata of its chunk in each row group; null if nothing is known. */
export function boundsOf(chunks: readonly Struct[], type: ColumnType): ColumnBounds | null {
  let nulls = 0
  let bytes = 0
  let min: Bound | undefined
  let max: Bound | undefined
  let known = chunks.length > 0
  for (const meta of chunks) {
    bytes += numberOf(meta, FIELD.meta.compressedSize)
    const statistics = meta.has(FIELD.meta.statistics) ? structOf(meta, FIELD.meta.statistics) : undefined
    if (!statistics?.has(FIELD.statistics.nulls)) return null
    const missing = numberOf(statistics, FIELD.statistics.nulls)
    nulls += missing
    // A row group of nothing but nulls has no bounds and needs none. If any other row group lacks bounds, those of the
    // whole column are unknown.
    if (missing === numberOf(meta, FIELD.meta.values)) continue
    const low = boundOf(bytesOf(statistics, FIELD.statistics.min), type)
    const high = boundOf(bytesOf(statistics, FIELD.statistics.max), type)
    if (low === undefined || high === undefined) {
      known = false
      continue
    }
    if (min === undefined || compare(low, min) < 0) min = low
    if (max === undefined || compare(high, max) > 0) max = high
  }
  const texts = known ? shortened(textOf(min, type), textOf(max, type)) : { min: null, max: null }
  return { ...texts, nulls, bytes }
}

/** A bound of a chunk, in a form that can be compared: texts and UUIDs as bytes. */
type Bound = boolean | number | bigint | Buffer

/** Reads a bound from Parquet's plain encoding; undefined if it is not known. Binary columns have none. */
function boundOf(bytes: Buffer | undefined, type: ColumnType): Bound | undefined {
  if (bytes === undefined || type === 'binary') return undefined
  const { layout } = entryOf(type)
  switch (layout) {
    case 'bit':
      return bytes[0] === 1
    case 'double': {
      // Files of others have floats, too.
      const value = bytes.length === 4 ? bytes.readFloatLE() : bytes.readDoubleLE()
      return Number.isNaN(value) ? undefined : value
    }
    case 'int32':
    case 'int64':
      return signed(bytes)
    case 'int128':
      // Only decimals of more than 18 digits are stored with the high byte first.
      return signed(bytes.length > 8 ? Buffer.from(bytes).reverse() : bytes)
    case 'bytes':
      return bytes
    default:
      return layout satisfies never
  }
}

/** An integer in two's complement, the low byte first. */
function signed(bytes: Buffer): bigint {
  return BigInt.asIntN(8 * bytes.length, BigInt(`0x0${Buffer.from(bytes).reverse().toString('hex')}`))
}

function bytesOf(statistics: Struct, id: number): Buffer | undefined {
  const value = statistics.get(id)?.value
  return value instanceof Uint8Array ? Buffer.from(value.buffer, value.byteOffset, value.length) : undefined
}

function compare(a: Bound, b: Bound): number {
  if (a instanceof Buffer && b instanceof Buffer) return a.compare(b)
  return a < b ? -1 : a > b ? 1 : 0
}

function textOf(bound: Bound | undefined, type: ColumnType): string | null {
  if (bound === undefined) return null
  if (typeof bound === 'number') return String(bound).replace('Infinity', 'inf')
  if (!(bound instanceof Buffer)) return String(bound)
  if (type !== 'uuid') return bound.toString('utf8')
  return bound.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

/**
 * Shortens long bounds. The beginning of a text sorts no later than the text, so it can stand for a minimum that is too
 * long. It can't stand for a maximum: one that is too long becomes unknown.
 */
function shortened(min: string | null, max: string | null): { min: string | null; max: string | null } {
  if (min === null || max === null) return { min: null, max: null }
  const cut = min.length <= MOST_CHARACTERS ? min : [...min.slice(0, MOST_CHARACTERS)].slice(0, -1).join('')
  return { min: cut, max: max.length <= MOST_CHARACTERS ? max : null }
}

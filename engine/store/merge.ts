import type { Part } from '../catalog/records.ts'

/** Sizes form tiers, each this many times the one before. */
const FAN = 8
/** What a part weighs at the least, whatever is in it: opening a file costs as much as scanning some bytes. */
const SMALLEST = 4_096
/** Parts of this weight are left alone: merging them would gain nothing. */
const LARGE = 128 * 1024 * 1024

/**
 * Chooses the parts at the end of a version that are worth merging into one; none, mostly. A run is merged when what
 * comes out belongs to a higher tier, so a row is rewritten once a tier, and n appends leave about FAN · log n files.
 */
export function partsToMerge(parts: readonly Part[]): readonly Part[] {
  const weights = parts.map((part) => Math.max(part.rawBytes, SMALLEST))
  for (let limit = SMALLEST * FAN; limit <= LARGE; limit *= FAN) {
    let first = parts.length
    let total = 0
    while (first > 0 && weights[first - 1]! < limit) {
      first -= 1
      total += weights[first]!
    }
    if (parts.length - first >= FAN && total >= limit) return parts.slice(first)
  }
  return []
}

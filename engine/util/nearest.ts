/**
 * The candidate that was probably meant: at most two letters off, and fewer than half of them, or the same but for case.
 * Of paths in the same folder, only the letters after it count.
 */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  const lower = word.toLowerCase()
  const folder = lower.slice(0, lower.lastIndexOf('/') + 1)
  let best: string | undefined
  let least = 3
  for (const candidate of candidates) {
    const other = candidate.toLowerCase()
    const shared = other.startsWith(folder) ? folder.length : 0
    const limit = Math.min(least, Math.ceil((lower.length - shared) / 2))
    const distance = editDistance(lower, other, limit)
    if (distance < limit) {
      best = candidate
      least = distance
    }
  }
  return best
}

/**
 * The number of letters to insert, leave out, replace or swap with their neighbour to turn `a` into `b`; `limit` if the
 * number is not smaller.
 */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) >= limit) return limit
  let above: number[] = []
  let row = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const swapped = isSwapped ? above[j - 2]! + 1 : limit
      next.push(Math.min(replaced, row[j]! + 1, next[j - 1]! + 1, swapped))
    }
    above = row
    row = next
  }
  return Math.min(row[b.length]!, limit)
}

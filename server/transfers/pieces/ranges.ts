/** Bytes `from` (inclusive) to `to` (exclusive). */
export interface ByteRange {
  readonly from: number
  readonly to: number
}

/** The most ranges in one request. Readers of columns ask for fewer. */
const MOST_RANGES = 200

/**
 * The ranges that a `Range` header asks for, cut to the length of the content (RFC 9110, 14.1.2).
 * @returns undefined if everything is to be sent: there is no header, it has another unit, or it is malformed, in which
 * case RFC 9110, 14.2 says to ignore it; `none` if no range is within the content or there are too many (416)
 */
export function rangesIn(
  header: string | undefined,
  length: number,
): readonly ByteRange[] | 'none' | undefined {
  const match = /^bytes=(.+)$/i.exec(header?.trim() ?? '')
  if (!match) return undefined
  const ranges: ByteRange[] = []
  const specs = match[1]!.split(',')
  if (specs.length > MOST_RANGES) return 'none'
  for (const spec of specs) {
    const [, first, last] = /^\s*(\d*)-(\d*)\s*$/.exec(spec) ?? []
    if (first === undefined || (first === '' && last === '')) return undefined
    if (first !== '' && last !== '' && Number(last) < Number(first)) return undefined
    const from = first === '' ? Math.max(length - Number(last), 0) : Number(first)
    const to = first === '' || last === '' ? length : Math.min(Number(last) + 1, length)
    if (from < to) ranges.push({ from, to })
  }
  return ranges.length > 0 ? ranges : 'none'
}

/** Whether `If-Range` allows to send a range: its tag must be strong and the same (RFC 9110, 13.1.5). */
export function isSame(ifRange: string | undefined, tag: string): boolean {
  return ifRange === undefined || (ifRange.trim() === tag && !tag.startsWith('W/'))
}

/** The header `Content-Range` for a range. */
export function contentRange({ from, to }: ByteRange, length: number): string {
  return `bytes ${from}-${to - 1}/${length}`
}

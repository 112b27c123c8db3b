/** Bytes `from` (inclusive) to `to` (exclusive). */
export interface ByteRange {
  readonly from: number
  readonly to: number
}

/** More pieces than a reader of columns asks for at once. */
const MOST_RANGES = 200

/**
 * The ranges that a `Range` header asks for, within the length of what there is (RFC 9110, 14.1.2).
 * @returns undefined where everything is to be sent: no header, another unit, or a malformed one, which RFC 9110, 14.2
 * has passed over; `none` where nothing of what is asked for is there (416)
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

/** Whether a range counts, by `If-Range`: the tag must be strong and the same (RFC 9110, 13.1.5). */
export function isSame(ifRange: string | undefined, tag: string): boolean {
  return ifRange === undefined || ifRange.trim() === tag
}

/** A range as the header of its answer has it. */
export function contentRange({ from, to }: ByteRange, length: number): string {
  return `bytes ${from}-${to - 1}/${length}`
}

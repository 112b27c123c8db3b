/** The number of elements of a list that are measured; the others are assumed to be like them. */
const SAMPLE = 500

/** About how many bytes of memory a value of plain data takes. */
export function sizeOf(value: unknown): number {
  if (typeof value === 'string') return 24 + 2 * value.length
  if (typeof value !== 'object' || value === null) return 8
  if (Array.isArray(value)) {
    const sample = value.slice(0, SAMPLE)
    const measured = sample.reduce<number>((sum, each) => sum + sizeOf(each), 0)
    return 32 + 8 * value.length + (sample.length === 0 ? 0 : (measured / sample.length) * value.length)
  }
  if (value instanceof Map) return sizeOf([...value])
  if (value instanceof Set) return sizeOf([...value])
  return Object.values(value).reduce<number>((sum, each) => sum + 16 + sizeOf(each), 32)
}

import type { Page, SeriesInfo, SeriesPage } from './connector.ts'
import { notUnderstood } from './failures.ts'

/** A slice of a list that the provider sends as a whole. */
export function slice<T>(
  all: readonly T[],
  { limit, offset }: Page,
): { total: number; series: readonly T[] } {
  return { total: all.length, series: all.slice(offset, offset + limit) }
}

/**
 * A slice from a provider that numbers its pages from 1 and sends at most `largest` series per page. The page size is
 * the limit if the provider allows it, so that an offset which is a multiple of the limit takes one request.
 */
export async function fromPages(
  { limit, offset }: Page,
  fetch: (page: number, size: number) => Promise<SeriesPage>,
  largest = Number.POSITIVE_INFINITY,
): Promise<SeriesPage> {
  const size = Math.min(Math.max(1, limit), largest)
  const skipped = offset % size
  const series: SeriesInfo[] = []
  for (let page = Math.floor(offset / size) + 1; ; page++) {
    const { total, series: found } = await fetch(page, size)
    series.push(...found.slice(0, size))
    if (found.length < size || series.length >= skipped + limit) {
      return { total, series: series.slice(skipped, skipped + limit) }
    }
  }
}

/**
 * The rows of all pages of a size. `fetch` gives those from an offset on, and how many there are in all.
 * @throws Failure `unreadable` if a page after the first has none, but should
 */
export async function allPages<T>(
  size: number,
  fetch: (offset: number) => Promise<{ readonly rows: readonly T[]; readonly total: number | null }>,
): Promise<T[]> {
  const all: T[] = []
  for (let offset = 0; ; offset += size) {
    const { rows, total } = await fetch(offset)
    for (const row of rows) all.push(row)
    const end = total ?? 0
    if (rows.length === 0 && offset > 0 && offset < end) {
      throw notUnderstood(`the answer ends after ${all.length} of ${end} rows`)
    }
    if (rows.length === 0 || offset + size >= end) return all
  }
}

import type { SeriesInfo, SeriesPage } from './connector.ts'

export interface Page {
  readonly limit: number
  readonly offset: number
}

/** A slice of a list that the provider gives as a whole. */
export function slice<T>(
  all: readonly T[],
  { limit, offset }: Page,
): { total: number; series: readonly T[] } {
  return { total: all.length, series: all.slice(offset, offset + limit) }
}

/**
 * A slice from a provider that counts in pages, from 1, of at most `largest` series. The pages are as large as the
 * limit, so that an offset which is a multiple of it takes one request, where the provider allows.
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

import type { SeriesPage } from './connector.ts'

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
 * A slice from a provider that counts in pages, from 1: pages of the size of the limit, so that an offset which is a
 * multiple of it takes one request, any other two.
 */
export async function fromPages(
  { limit, offset }: Page,
  fetch: (page: number, size: number) => Promise<SeriesPage>,
): Promise<SeriesPage> {
  const size = Math.max(1, limit)
  const skipped = offset % size
  const number = Math.floor(offset / size) + 1
  const first = await fetch(number, size)
  const isFull = first.series.length >= size
  const second = skipped > 0 && isFull ? (await fetch(number + 1, size)).series : []
  const series = [...first.series.slice(0, size), ...second].slice(skipped, skipped + limit)
  return { total: first.total, series }
}

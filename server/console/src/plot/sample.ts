import { fetchRows, type RowsOf, type RowWindow, whereOf } from '../rows.ts'

const STRIPES = 20

/**
 * Fetches all rows if they are at most `size`, else stripes of rows at equal distances. The first rows alone would not
 * be representative, because most tables grow in the order of time.
 */
export async function fetchSample(
  datasetId: number,
  of: RowsOf,
  select: readonly string[],
  size: number,
  signal: AbortSignal,
  onProgress: (share: number) => void,
): Promise<RowWindow> {
  const stripe = Math.floor(size / STRIPES)
  const ask = (skip: number, top: number) =>
    fetchRows(datasetId, { ...whereOf(of), select, skip, top, signal })
  const first = await ask(0, stripe)
  const { rowCount } = first
  const rows = [...first.rows]
  if (rowCount <= size) {
    if (rowCount > stripe) rows.push(...(await ask(stripe, rowCount - stripe)).rows)
    return { ...first, rows }
  }
  for (let at = 1; at < STRIPES; at += 1) {
    const skip = Math.floor(((rowCount - stripe) * at) / (STRIPES - 1))
    rows.push(...(await ask(skip, stripe)).rows)
    onProgress((at + 1) / STRIPES)
  }
  return { ...first, rows }
}

import type { Dataset } from '../../../client/index.ts'
import type { Field } from '../csv.ts'
import { limiter } from '../limiter.ts'
import { fetchRows } from '../rows.ts'
import { type ColumnStats, type Gaps, statsOf } from './stats.ts'

/** Rows of a dataset, from which columns are described. */
export interface Sample {
  readonly columns: readonly string[]
  readonly rows: readonly (readonly Field[])[]
  /** The number of rows that match the filter. If the sample has as many, it is complete. */
  readonly rowCount: number
  readonly gaps: Gaps | undefined
}

export interface SampleQuery {
  readonly filter: string
  readonly select?: readonly string[]
  /** Approximate size of the sample, in rows. */
  readonly size: number
}

/** As many as a histogram has bars, so that every bar of a time axis gets rows. */
const MOST_STRIPES = 20
/** A shorter stripe isn't worth a request. */
const SHORTEST_STRIPE = 20
const background = limiter(3)

/**
 * Fetches all rows if they are few, else stripes of rows at equal distances. The first rows alone would not be
 * representative, because most tables grow in the order of time.
 */
export async function fetchSample(
  datasetId: number,
  query: SampleQuery,
  signal: AbortSignal,
  onProgress: (share: number) => void = () => undefined,
): Promise<Sample> {
  const stripes = Math.max(4, Math.min(MOST_STRIPES, Math.floor(query.size / SHORTEST_STRIPE)))
  const stripe = Math.max(1, Math.floor(query.size / stripes))
  const ask = (skip: number, top: number) =>
    background(() => {
      signal.throwIfAborted()
      return fetchRows(datasetId, { filter: query.filter, select: query.select, skip, top, signal })
    })

  const first = await ask(0, stripe)
  const { columns, rowCount } = first
  if (rowCount <= first.rows.length) return { columns, rows: first.rows, rowCount, gaps: undefined }
  if (rowCount <= query.size) {
    const rest = await ask(stripe, rowCount - stripe)
    return { columns, rows: [...first.rows, ...rest.rows], rowCount, gaps: undefined }
  }
  let done = 1
  const others = Array.from({ length: stripes - 1 }, async (_, at) => {
    const skip = Math.floor(((rowCount - stripe) * (at + 1)) / (stripes - 1))
    const window = await ask(skip, stripe)
    done += 1
    onProgress(done / stripes)
    return window.rows
  })
  const rows = [...first.rows, ...(await Promise.all(others)).flat()]
  return { columns, rows, rowCount, gaps: { stripe, rows: (rowCount - rows.length) / (stripes - 1) } }
}

export function isWhole(sample: Sample): boolean {
  return sample.rows.length >= sample.rowCount
}

export function profileOf(dataset: Dataset, sample: Sample): ReadonlyMap<string, ColumnStats> {
  return new Map(
    sample.columns.map((name, at) => {
      const column = dataset.columns.find((known) => known.name === name)
      const described = column ?? { name, type: 'string', nullable: true, description: '' }
      return [
        name,
        statsOf(
          described,
          sample.rows.map((row) => row[at] ?? null),
          sample.gaps,
        ),
      ]
    }),
  )
}

import type { Dataset, QueryOptions } from '../../client/index.ts'
import { api } from './api.ts'
import { type RowWindow, rowsIn } from './csv.ts'

/** Which rows of a dataset are meant. */
export interface RowsOf {
  /** `$filter`, or ''. */
  readonly filter: string
  /** Words, as the user types them, or ''. */
  readonly search: string
  /** An earlier version of the dataset. */
  readonly version?: number | undefined
}

type Query = QueryOptions & { readonly version?: number | undefined }

/** Fetches rows `skip` to `skip + top` of a query. @throws ParquetryError */
export async function fetchRows(
  datasetId: number,
  query: Query & { readonly top: number },
): Promise<RowWindow> {
  return rowsIn(await api().datasets.download(datasetId, 'csv', query))
}

/** A dataset whose rows were counted, as those of a saved query must be. */
export type CountedDataset = Dataset & { readonly rowCount: number }

/**
 * Counts the rows. No rows are exported, so it doesn't count towards the monthly quota. @throws ParquetryError
 */
export async function countRows(datasetId: number, rows: RowsOf, signal: AbortSignal): Promise<number> {
  return (await fetchRows(datasetId, { ...whereOf(rows), top: 0, signal })).rowCount
}

/** Combines two filters with `and`; either may be empty. */
export function bothFilters(one: string, other: string): string {
  return one === '' || other === '' ? one || other : `(${one}) and (${other})`
}

/** The rows as options of a query. */
export function whereOf({ filter, search, version }: RowsOf): Query {
  return { filter: filter || undefined, search: searchOf(search), version }
}

/** The rows as the first steps of `$apply`; '' for all. */
export function wherePart({ filter, search }: RowsOf): string {
  const words = searchOf(search)
  return [filter && `filter(${filter})`, words && `search(${words})`].filter(Boolean).join('/')
}

/** The `$apply` of a view. The filter refers to columns of the dataset, so it comes before the grouping. */
export function pipelineOf(rows: RowsOf, apply: string): string {
  return [wherePart(rows), apply].filter(Boolean).join('/')
}

/** Words as `$search` takes them: as they are if they have operators, else each word in quotes. */
function searchOf(typed: string): string | undefined {
  const text = typed.trim()
  if (text === '') return undefined
  if (/["()]|\b(?:AND|OR|NOT)\b/.test(text)) return text
  return text
    .split(/\s+/)
    .map((word) => `"${word}"`)
    .join(' ')
}

import { type Field, parseCsv } from '../csv.ts'
import { send } from './client.ts'

/** What is asked of a dataset. Absent options are not sent. */
export interface RowQuery {
  readonly filter?: string
  readonly orderBy?: OrderBy
  readonly select?: readonly string[]
  readonly top?: number
  readonly skip?: number
}

export interface OrderBy {
  readonly column: string
  readonly descending: boolean
}

export interface RowWindow {
  readonly columns: readonly string[]
  /** Cells as the service writes them in csv: exact digits, null where there is no value. */
  readonly rows: readonly (readonly Field[])[]
  /** Rows that match the filter, before any truncation. */
  readonly rowCount: number
}

export const FORMATS = ['csv', 'tsv', 'json', 'ndjson', 'xlsx', 'parquet', 'arrow'] as const
export type Format = (typeof FORMATS)[number]

/** A column name for `$select` and `$orderby`. */
export function quoteName(name: string): string {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`
}

export function formatOrderBy(order: OrderBy): string {
  return quoteName(order.column) + (order.descending ? ' desc' : '')
}

/** The path and query string that asks `query` of a dataset, also fit to be shown to people. */
export function dataPath(datasetId: number, query: RowQuery, format: Format): string {
  const parameters: [string, string][] = []
  if (format !== 'csv') parameters.push(['$format', format])
  if (query.filter) parameters.push(['$filter', query.filter])
  if (query.orderBy) parameters.push(['$orderby', formatOrderBy(query.orderBy)])
  if (query.select) parameters.push(['$select', query.select.map(quoteName).join(',')])
  if (query.skip) parameters.push(['$skip', String(query.skip)])
  if (query.top !== undefined) parameters.push(['$top', String(query.top)])
  const text = parameters.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&')
  return `/datasets/${datasetId}/data${text === '' ? '' : `?${text}`}`
}

/** Rows `skip` to `skip + top` of a query. @throws ApiError */
export async function fetchRows(
  datasetId: number,
  query: RowQuery & { readonly top: number },
  signal?: AbortSignal,
): Promise<RowWindow> {
  const response = await send(dataPath(datasetId, query, 'csv'), { signal })
  const [columns = [], ...rows] = parseCsv(await response.text())
  return {
    columns: columns.map((name) => name ?? ''),
    rows,
    rowCount: Number(response.headers.get('Row-Count') ?? rows.length),
  }
}

/** How many rows match. It moves no rows, so it costs nothing of the month's quota. @throws ApiError */
export async function countRows(datasetId: number, filter: string, signal?: AbortSignal): Promise<number> {
  const response = await send(dataPath(datasetId, { filter, top: 0 }, 'csv'), { signal })
  await response.body?.cancel()
  return Number(response.headers.get('Row-Count'))
}

/** Runs at most `size` tasks at once, so that background questions never crowd out what a person waits for. */
export function limiter(size: number): <T>(task: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = []
  let running = 0
  return async (task) => {
    if (running >= size) await new Promise<void>((resolve) => waiting.push(resolve))
    running += 1
    try {
      return await task()
    } finally {
      running -= 1
      waiting.shift()?.()
    }
  }
}

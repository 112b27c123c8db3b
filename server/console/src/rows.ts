import type { Question } from '../../client/index.ts'
import { api } from './api.ts'
import { type Field, parseCsv } from './csv.ts'

export interface RowWindow {
  readonly columns: readonly string[]
  /** Cells as text, with all digits as in the server's csv; null for no value. */
  readonly rows: readonly (readonly Field[])[]
  /** The number of rows that match the filter, regardless of `skip` and `top`. */
  readonly rowCount: number
}

/** Fetches rows `skip` to `skip + top` of a query. @throws ParquetryError */
export async function fetchRows(
  datasetId: number,
  question: Question & { readonly top: number },
): Promise<RowWindow> {
  const { filter, ...rest } = question
  const answer = await api().datasets.download(datasetId, 'csv', { ...rest, filter: filter || undefined })
  const [columns = [], ...rows] = parseCsv(await answer.text())
  return { columns: columns.map((name) => name ?? ''), rows, rowCount: answer.rowCount ?? rows.length }
}

/**
 * Counts the rows that match. No rows are exported, so it doesn't count towards the monthly quota. @throws
 * ParquetryError
 */
export function countRows(datasetId: number, filter: string, signal: AbortSignal): Promise<number> {
  return api().datasets.count(datasetId, { filter: filter || undefined, signal })
}

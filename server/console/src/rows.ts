import type { Question } from '../../client/index.ts'
import { api } from './api.ts'
import { type Field, parseCsv } from './csv.ts'

export interface RowWindow {
  readonly columns: readonly string[]
  /** Cells as the service writes them in csv: exact digits, null where there is no value. */
  readonly rows: readonly (readonly Field[])[]
  /** Rows that match the filter, before any truncation. */
  readonly rowCount: number
}

/** Rows `skip` to `skip + top` of a question. @throws ParquetryError */
export async function fetchRows(
  datasetId: number,
  question: Question & { readonly top: number },
): Promise<RowWindow> {
  const { filter, ...rest } = question
  const answer = await api().datasets.download(datasetId, 'csv', { ...rest, filter: filter || undefined })
  const [columns = [], ...rows] = parseCsv(await answer.text())
  return { columns: columns.map((name) => name ?? ''), rows, rowCount: answer.rowCount ?? rows.length }
}

/** How many rows match. It moves no rows, so it costs nothing of the month's quota. @throws ParquetryError */
export function countRows(datasetId: number, filter: string, signal: AbortSignal): Promise<number> {
  return api().datasets.count(datasetId, { filter: filter || undefined, signal })
}

import type { Column, Format } from '../../../client/index.ts'
import { api } from '../api.ts'
import { parseCsv } from '../csv.ts'
import type { RowWindow } from '../rows.ts'
import { saveBlob } from '../ui/save.ts'

/** Fetches rows of the result. @throws ParquetryError */
export async function fetchResult(
  sql: string,
  window: { readonly skip?: number; readonly top: number; readonly signal: AbortSignal },
): Promise<RowWindow> {
  const answer = await api().sql(sql, 'csv', window)
  const [columns = [], ...rows] = parseCsv(await answer.text())
  return { columns: columns.map((name) => name ?? ''), rows, rowCount: answer.rowCount ?? rows.length }
}

/** The columns of the result, whose types are read from a Parquet file without rows. */
export async function resultColumns(sql: string, signal: AbortSignal): Promise<readonly Column[]> {
  const body = await (await api().sql(sql, 'parquet', { top: 0, signal })).arrayBuffer()
  return (await api().datasets.preview({ format: 'parquet', body }, { signal })).columns
}

/** Saves the result as a file on this computer. */
export async function downloadResult(sql: string, format: Format): Promise<void> {
  saveBlob(new Blob([await (await api().sql(sql, format)).arrayBuffer()]), `query.${format}`)
}

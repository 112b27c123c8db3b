import type { Column, Dataset, Download } from '../../../client/index.ts'
import { api, isStatus } from '../api.ts'
import { countRows, pipelineOf, type RowsOf, wherePart } from '../rows.ts'
import { useResource } from '../ui/resource.tsx'

/** The server refused `$apply` itself, not the filter before it. */
export class ApplyRefused extends Error {
  override readonly name = 'ApplyRefused'
}

/** The columns of a Parquet file without rows, which doesn't count towards the monthly quota. */
export async function columnsIn(answer: Download, signal: AbortSignal): Promise<readonly Column[]> {
  const file = { format: 'parquet', body: await answer.arrayBuffer() } as const
  return (await api().datasets.preview(file, { signal })).columns
}

/** The columns of the result of `$apply`, or of the dataset if there is none. */
export function useResultColumns(
  dataset: Dataset,
  rows: RowsOf,
  apply: string,
): { readonly columns: readonly Column[] | undefined; readonly error: unknown } {
  const { value, error } = useResource(
    async (signal) =>
      apply === '' ? undefined : { apply, columns: await resultColumns(dataset, rows, apply, signal) },
    [dataset.id, dataset.version, apply, apply === '' ? '' : wherePart(rows)],
  )
  if (apply === '') return { columns: dataset.columns, error }
  const isCurrent = error === undefined && value?.apply === apply
  return { columns: isCurrent ? value.columns : undefined, error }
}

async function resultColumns(
  dataset: Dataset,
  rows: RowsOf,
  apply: string,
  signal: AbortSignal,
): Promise<readonly Column[]> {
  try {
    const answer = await api().datasets.download(dataset.id, 'parquet', {
      apply: pipelineOf(rows, apply),
      version: rows.version,
      top: 0,
      signal,
    })
    return await columnsIn(answer, signal)
  } catch (error) {
    if (!isStatus(error, 400)) throw error
    // Test the filter separately: its errors are shown below the filter, with positions in the filter.
    const before = wherePart(rows)
    if (before !== '') await countRows(dataset.id, rows, signal)
    throw new ApplyRefused(placed(error.message, before === '' ? 0 : before.length + 1))
  }
}

/** Converts positions in the whole pipeline to positions in the text that the user sees. */
function placed(message: string, before: number): string {
  return message
    .replace(/^\$apply: (.)/, (_, first: string) => first.toUpperCase())
    .replace(/\bposition (\d+)/gi, (text, place: string) =>
      text.replace(place, String(Number(place) - before)),
    )
}

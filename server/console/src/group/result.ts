import type { Column, Dataset } from '../../../client/index.ts'
import { api, isStatus } from '../api.ts'
import { countRows } from '../rows.ts'
import { previewParquet } from '../upload/preview-parquet.ts'
import { latest, type Resource, useResource } from '../use-resource.ts'

/** The `$apply` of a view. The filter refers to columns of the dataset, so it comes before the grouping. */
export function pipelineOf(filter: string, apply: string): string | undefined {
  if (apply === '') return undefined
  return filter === '' ? apply : `filter(${filter})/${apply}`
}

/** The server refused `$apply` itself, not the filter before it. */
export class ApplyRefused extends Error {
  override readonly name = 'ApplyRefused'
}

/**
 * The columns of the result of `$apply`, or of the dataset if there is none. The types are read from a Parquet file
 * without rows, which doesn't count towards the monthly quota.
 */
export function useResultColumns(
  dataset: Dataset,
  filter: string,
  apply: string,
): { readonly columns: readonly Column[] | undefined; readonly resource: Resource<unknown> } {
  const [resource] = useResource(
    async (signal) =>
      apply === '' ? undefined : { apply, columns: await resultColumns(dataset, filter, apply, signal) },
    [dataset.id, dataset.version, apply, apply === '' ? '' : filter],
  )
  if (apply === '') return { columns: dataset.columns, resource }
  const known = resource.state === 'failed' ? undefined : latest(resource)
  return { columns: known?.apply === apply ? known.columns : undefined, resource }
}

async function resultColumns(
  dataset: Dataset,
  filter: string,
  apply: string,
  signal: AbortSignal,
): Promise<readonly Column[]> {
  try {
    const question = { apply: pipelineOf(filter, apply), top: 0, signal }
    const answer = await api().datasets.download(dataset.id, 'parquet', question)
    const file = new File([await answer.arrayBuffer()], 'result.parquet')
    const { columns } = await previewParquet(file)
    return columns.map(({ name, type }) => ({ name, type, nullable: true, description: '' }))
  } catch (error) {
    if (!isStatus(error, 400)) throw error
    // Test the filter separately: its errors are shown below the filter, with positions in the filter.
    if (filter !== '') await countRows(dataset.id, filter, signal)
    throw new ApplyRefused(placed(error.message, filter === '' ? 0 : `filter(${filter})/`.length))
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

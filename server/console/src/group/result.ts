import type { Column, Dataset } from '../../../client/index.ts'
import { api, isStatus } from '../api.ts'
import { countRows } from '../rows.ts'
import { previewParquet } from '../upload/preview-parquet.ts'
import { latest, type Resource, useResource } from '../use-resource.ts'

/** The pipeline of a view: the filter speaks of the rows, so it comes before what groups them. */
export function pipelineOf(filter: string, apply: string): string | undefined {
  if (apply === '') return undefined
  return filter === '' ? apply : `filter(${filter})/${apply}`
}

/** The service refused `$apply` itself, not the filter before it. */
export class ApplyRefused extends Error {
  override readonly name = 'ApplyRefused'
}

/**
 * The columns that come out of a pipeline; those of the dataset where there is none. Their types stand in the footer of
 * a Parquet file without rows, which costs nothing of the month's quota.
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
    // The filter is asked on its own, so that what is wrong with it is shown below it, at its place.
    if (filter !== '') await countRows(dataset.id, filter, signal)
    throw new ApplyRefused(placed(error.message, filter === '' ? 0 : `filter(${filter})/`.length))
  }
}

/** The service counts from the start of the whole pipeline, people from that of what they see. */
function placed(message: string, before: number): string {
  return message
    .replace(/^\$apply: (.)/, (_, first: string) => first.toUpperCase())
    .replace(/\bposition (\d+)/gi, (text, place: string) =>
      text.replace(place, String(Number(place) - before)),
    )
}

import type { Dataset, Source } from '../../../client/index.ts'
import { api } from '../api.ts'
import { latest, useResource } from '../use-resource.ts'

export interface SourceState {
  /** What the dataset follows; undefined if nothing, and until that is known. */
  readonly source: Source | undefined
  /** Whether rows may be added: the service refuses them for a dataset that follows something. */
  readonly takesRows: boolean
}

export function useSource(dataset: Dataset): SourceState {
  const [resource] = useResource(
    async (signal) => (dataset.query ? undefined : api().datasets.source(dataset.id, { signal })),
    [dataset.id, dataset.version, dataset.query],
  )
  const source = latest(resource)
  return { source, takesRows: !dataset.query && resource.state !== 'loading' && source === undefined }
}

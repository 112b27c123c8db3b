import type { Dataset, Source } from '../../../client/index.ts'
import { api } from '../api.ts'
import { latest, useResource } from '../use-resource.ts'

export interface SourceState {
  /** What the dataset follows; undefined if nothing, and until that is known. */
  readonly source: Source | undefined
  /** Whether rows may be added: the service refuses them for a dataset that follows something. */
  readonly takesRows: boolean
}

export function useSource({ id, version, query }: Dataset): SourceState {
  const stored = query === undefined
  const [resource] = useResource(
    async (signal) => (stored && (await api().datasets.source(id, { signal }))) || null,
    [id, version, stored],
  )
  // It is null where nothing is followed, so that a later request changes nothing until it is answered.
  const known = latest(resource)
  const takesRows = stored && (known === null || (known === undefined && resource.state === 'failed'))
  return { source: known ?? undefined, takesRows }
}

import type { Column, Dataset, Source } from '../../../client/index.ts'
import { api } from '../api.ts'
import { latest, useResource } from '../use-resource.ts'

const FOLLOWED = ['series_id', 'name', 'unit', 'frequency', 'period', 'value', 'status']

/** Whether a dataset has the columns of datasets that follow series. The service knows whether it follows any. */
export function mayFollow(columns: readonly Column[]): boolean {
  const names = new Set(columns.map(({ name }) => name))
  return !names.has('provider') && FOLLOWED.every((name) => names.has(name))
}

export interface SourceState {
  /** The series that the dataset follows; undefined if it follows none, and until that is known. */
  readonly source: Source | undefined
  /** Whether rows may be added: the service refuses them for a dataset that follows series. */
  readonly takesRows: boolean
  /** Whether it may follow series: it does, could, or has no columns yet. */
  readonly mayFollow: boolean
}

export function useSource(dataset: Dataset): SourceState {
  const asks = !dataset.query && mayFollow(dataset.columns)
  const [resource] = useResource(
    async (signal) => (asks ? api().datasets.source(dataset.id, { signal }) : undefined),
    [dataset.id, dataset.version, asks],
  )
  const source = latest(resource)
  const takesRows = !dataset.query && (!asks || (resource.state !== 'loading' && source === undefined))
  return { source, takesRows, mayFollow: asks || dataset.columns.length === 0 }
}

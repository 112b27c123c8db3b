import { useMemo } from 'preact/hooks'
import { useResultColumns } from '../group/result.ts'
import { useProfile } from '../profile/use-profile.ts'
import type { Address } from '../router.ts'
import { type CountedDataset, fetchRows, type RowsOf } from '../rows.ts'
import { type RowSource, useRows } from '../table/windows.ts'
import { useRested } from '../ui/resource.tsx'
import { readShown } from '../view/shown-columns.ts'
import { parseOrder, type View, viewQuery } from '../view/view.ts'

export type Exploration = ReturnType<typeof useExploration>

/** What the address shows of a dataset, and what is known about it. */
export function useExploration(dataset: CountedDataset, query: Address['query']) {
  const { filter = '', apply = '', orderby = '', columns: shown } = query
  const search = useRested(query['search'] ?? '')
  const version = Number(query['version']) || undefined
  const of = useMemo((): RowsOf => ({ filter, search, version }), [filter, search, version])
  const { columns, error: refused } = useResultColumns(dataset, of, apply)
  // Undefined until its columns are known.
  const view = useMemo(
    (): View | undefined =>
      columns && { ...of, apply, order: parseOrder(orderby), columns, shown: readShown(shown, columns) },
    [of, apply, orderby, columns, shown],
  )
  const { id } = dataset
  const source = useMemo((): RowSource | undefined => {
    if (dataset.rowCount === 0 || !view) return
    const rows = viewQuery(view)
    return { columns: view.shown, fetch: (place) => fetchRows(id, { ...rows, ...place }) }
  }, [id, dataset.version, view])
  const found = useRows(source)
  // The error may be an `ApplyRefused`.
  const rows = refused === undefined ? found : { windows: undefined, error: refused, pending: false }
  // The rows come first. Past versions have no profile.
  const profile = useProfile(dataset, !dataset.query && version === undefined && found.windows !== undefined)
  return { dataset, query, of, apply, view, rows, profile, profiles: profile.value }
}

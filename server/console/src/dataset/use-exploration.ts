import { useLayoutEffect, useMemo, useReducer, useState } from 'preact/hooks'
import type { Column } from '../../../client/index.ts'
import { ApplyRefused, useResultColumns } from '../group/result.ts'
import { type Profiles, useProfile } from '../profile/use-profile.ts'
import type { Address } from '../router.ts'
import { type CountedDataset, fetchRows, type RowsOf } from '../rows.ts'
import { type FetchWindow, RowWindows } from '../table/windows.ts'
import { readShown } from '../view/shown-columns.ts'
import { parseOrder, type View, viewQuery } from '../view/view.ts'

/** What the address shows of a dataset, and what is known about it. */
export interface Exploration {
  readonly of: RowsOf
  readonly apply: string
  /** Undefined until its columns are known. */
  readonly view: View | undefined
  readonly rows: Rows
  /** Why the server refused `$apply`. */
  readonly applyError: ApplyRefused | undefined
  readonly profile: ReturnType<typeof useProfile>
  readonly profiles: Profiles | undefined
}

export function useExploration(dataset: CountedDataset, query: Address['query']): Exploration {
  const { filter = '', search = '', apply = '', orderby = '', columns: shown } = query
  const version = Number(query['version']) || undefined
  const of = useMemo((): RowsOf => ({ filter, search, version }), [filter, search, version])
  const { columns, error: refused } = useResultColumns(dataset, of, apply)
  const view = useMemo(
    (): View | undefined =>
      columns && { ...of, apply, order: parseOrder(orderby), columns, shown: readShown(shown, columns) },
    [of, apply, orderby, columns, shown],
  )
  const found = useRows(dataset, view)
  const rows =
    refused === undefined
      ? found
      : { ...found, windows: undefined, rowCount: undefined, error: refused, pending: false }
  // The rows come first. Past versions have no profile.
  const profile = useProfile(dataset, !dataset.query && version === undefined && found.windows !== undefined)
  return {
    of,
    apply,
    view,
    rows,
    applyError: refused instanceof ApplyRefused ? refused : undefined,
    profile,
    profiles: profile[0].value,
  }
}

interface Rows {
  readonly windows: RowWindows | undefined
  /** The columns of these rows, in the order of their cells. */
  readonly columns: readonly Column[]
  /** Increases with every change, so that components render again. */
  readonly revision: number
  readonly rowCount: number | undefined
  readonly error: unknown
  /**
   * Whether the view has changed and its first rows haven't arrived, so that the rows are still those of the last view.
   */
  readonly pending: boolean
}

interface Opened {
  readonly view: View
  readonly windows: RowWindows
}

/**
 * The rows of a view. When the view changes, the old rows stay until the first new ones arrive, so that the table
 * doesn't flicker. `view` is undefined as long as its columns are unknown; then nothing is fetched.
 */
function useRows(dataset: CountedDataset, view: View | undefined): Rows {
  const [opened, setOpened] = useState<Opened>()
  const [revision, changed] = useReducer((count: number, _: undefined) => count + 1, 0)
  const { id, version } = dataset
  // Asked for before the page is painted, which a slow machine takes a while for.
  useLayoutEffect(() => {
    if (dataset.rowCount === 0 || !view) return
    const query = viewQuery(view)
    const fetch: FetchWindow = (place) => fetchRows(id, { ...query, ...place })
    const windows: RowWindows = new RowWindows(fetch, view.shown.length, () => {
      setOpened((before) => (before?.windows === windows ? before : { view, windows }))
      changed(undefined)
    })
    return () => windows.close()
  }, [id, version, view])
  const windows = opened?.windows
  return {
    windows,
    columns: opened?.view.shown ?? view?.shown ?? [],
    revision,
    rowCount: windows?.rowCount,
    error: windows?.error,
    pending: opened?.view !== view,
  }
}

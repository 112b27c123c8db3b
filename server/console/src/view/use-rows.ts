import { useEffect, useReducer, useState } from 'preact/hooks'
import type { Column, Dataset } from '../../../client/index.ts'
import { RowWindows } from '../table/windows.ts'
import { type View, viewQuestion } from './view.ts'

export interface Rows {
  readonly windows: RowWindows | undefined
  /** The columns of these rows, in the order of their cells. */
  readonly columns: readonly Column[]
  /** Counts the changes, for those that draw. */
  readonly revision: number
  readonly rowCount: number | undefined
  readonly error: unknown
  /** The view has changed and the first rows are not here yet; what is shown is of those before. */
  readonly pending: boolean
}

interface Opened {
  readonly view: View
  readonly windows: RowWindows
}

/**
 * The rows of a view. A change of it begins anew, but the old rows stay until the first new ones have come, so that the
 * table does not flicker. Without a view, whose columns may still be unknown, there is nothing to fetch.
 */
export function useRows(dataset: Dataset, view: View | undefined): Rows {
  const [opened, setOpened] = useState<Opened>()
  const [revision, changed] = useReducer((count: number, _: undefined) => count + 1, 0)
  const { id, version } = dataset
  useEffect(() => {
    if (dataset.rowCount === 0 || !view) return
    const windows: RowWindows = new RowWindows(id, viewQuestion(view), view.shown.length, () => {
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

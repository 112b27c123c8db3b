import { useEffect, useReducer, useState } from 'preact/hooks'
import type { Column, Dataset } from '../../../client/index.ts'
import { RowWindows } from '../table/windows.ts'
import { type View, viewQuestion } from './view.ts'

export interface Rows {
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

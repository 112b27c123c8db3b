import { useEffect, useReducer, useState } from 'preact/hooks'
import type { Column, Dataset } from '../../../client/index.ts'
import { RowWindows } from '../table/windows.ts'
import type { Order } from './order.ts'
import { selectOf } from './shown-columns.ts'

export interface Rows {
  readonly windows: RowWindows | undefined
  /** The columns of these rows, in the order of their cells. */
  readonly columns: readonly Column[]
  /** Counts the changes, for those that draw. */
  readonly revision: number
  readonly rowCount: number | undefined
  readonly error: unknown
  /** Filter or order have changed and the first rows are not here yet; what is shown is of those before. */
  readonly pending: boolean
}

interface Opened {
  readonly filter: string
  readonly order: Order | undefined
  readonly columns: readonly Column[]
  readonly windows: RowWindows
}

/**
 * The rows of a dataset under a filter and an order. A change of either begins anew, but the old rows stay until the
 * first new ones have come, so that the table does not flicker.
 */
export function useRows(
  dataset: Dataset,
  shown: readonly Column[],
  filter: string,
  order: Order | undefined,
): Rows {
  const [opened, setOpened] = useState<Opened>()
  const [revision, changed] = useReducer((count: number, _: undefined) => count + 1, 0)
  const { id, version } = dataset
  useEffect(() => {
    if (dataset.rowCount === 0) return
    const question = { filter, orderBy: order && [order], select: selectOf(dataset, shown) }
    const windows: RowWindows = new RowWindows(id, question, shown.length, () => {
      const now = { filter, order, columns: shown, windows }
      setOpened((before) => (before?.windows === windows ? before : now))
      changed(undefined)
    })
    return () => windows.close()
  }, [id, version, filter, order, shown])
  const windows = opened?.windows
  return {
    windows,
    columns: opened?.columns ?? shown,
    revision,
    rowCount: windows?.rowCount,
    error: windows?.error,
    pending: opened?.filter !== filter || opened.order !== order || opened.columns !== shown,
  }
}

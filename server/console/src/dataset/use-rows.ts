import { useEffect, useReducer, useState } from 'preact/hooks'
import type { Dataset } from '../../../client/index.ts'
import { RowWindows } from '../table/windows.ts'
import type { Order } from './order.ts'

export interface Rows {
  readonly windows: RowWindows | undefined
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
  readonly windows: RowWindows
}

/**
 * The rows of a dataset under a filter and an order. A change of either begins anew, but the old rows stay until the
 * first new ones have come, so that the table does not flicker.
 */
export function useRows(dataset: Dataset, filter: string, order: Order | undefined): Rows {
  const [opened, setOpened] = useState<Opened>()
  const [revision, changed] = useReducer((count: number, _: undefined) => count + 1, 0)
  const { id, version, columns } = dataset
  useEffect(() => {
    if (dataset.rowCount === 0) return
    const windows: RowWindows = new RowWindows(
      id,
      { filter, orderBy: order && [order] },
      columns.length,
      () => {
        setOpened((before) => (before?.windows === windows ? before : { filter, order, windows }))
        changed(undefined)
      },
    )
    return () => windows.close()
  }, [id, version, filter, order, columns.length])
  const windows = opened?.windows
  return {
    windows,
    revision,
    rowCount: windows?.rowCount,
    error: windows?.error,
    pending: opened?.filter !== filter || opened.order !== order,
  }
}

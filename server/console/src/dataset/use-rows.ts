import { useEffect, useReducer, useState } from 'preact/hooks'
import type { Dataset } from '../api/records.ts'
import type { OrderBy } from '../api/rows.ts'
import { RowWindows } from '../table/windows.ts'

export interface Rows {
  readonly windows: RowWindows | undefined
  /** Counts the changes, for those that draw. */
  readonly revision: number
  readonly rowCount: number | undefined
  readonly error: unknown
}

/** The rows of a dataset under a filter and an order; a change of either begins anew. */
export function useRows(dataset: Dataset, filter: string, order: OrderBy | undefined): Rows {
  const [windows, setWindows] = useState<RowWindows>()
  const [revision, changed] = useReducer((count: number, _: undefined) => count + 1, 0)
  const { id, version, columns } = dataset
  useEffect(() => {
    if (dataset.rowCount === 0) return
    const opened = new RowWindows(id, { filter, orderBy: order }, columns.length, () => changed(undefined))
    setWindows(opened)
    return () => opened.close()
  }, [id, version, filter, order, columns.length])
  return { windows, revision, rowCount: windows?.rowCount, error: windows?.error }
}

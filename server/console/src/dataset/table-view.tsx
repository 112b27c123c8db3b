import { useEffect, useState } from 'preact/hooks'
import type { Dataset } from '../../../client/index.ts'
import { isStatus } from '../api.ts'
import { writeCondition } from '../filter/conditions.ts'
import { ApplyRefused } from '../group/result.ts'
import { bothFilters } from '../profile/exact.ts'
import type { ColumnStats } from '../profile/stats.ts'
import { Grid } from '../table/grid.tsx'
import type { CellPlace } from '../table/keys.ts'
import { copyText } from '../ui/copy.tsx'
import { Empty, Failure, Loading } from '../ui/feedback.tsx'
import type { Order } from '../view/order.ts'
import { nextOrder } from '../view/order.ts'
import type { Rows } from '../view/use-rows.ts'
import { CellBar } from './cell-bar.tsx'

/** The rows, and below them the selected cell in full. */
export function TableView(props: {
  readonly dataset: Dataset
  /** A column to scroll to. A new object scrolls again, even to the same column. */
  readonly goTo: { readonly column: string } | undefined
  readonly rows: Rows
  readonly order: Order | undefined
  readonly filter: string
  /** The `$apply` that groups the rows; '' if the rows themselves are shown. */
  readonly apply: string
  readonly profile: ReadonlyMap<string, ColumnStats> | undefined
  readonly onFilter: (filter: string) => void
  readonly onOrder: (order: Order | undefined) => void
}) {
  const { dataset, rows, filter } = props
  const [active, setActive] = useState<CellPlace>()
  useEffect(() => setActive(undefined), [rows.windows])
  useEffect(() => {
    const column = props.goTo ? rows.columns.findIndex(({ name }) => name === props.goTo!.column) : -1
    if (column >= 0) setActive((before) => ({ row: before?.row ?? 0, column }))
  }, [props.goTo])

  if (rows.error !== undefined && rows.rowCount === undefined) {
    if (rows.error instanceof ApplyRefused) {
      return (
        <Empty icon="sum" title="The transformations have an error">
          The error is shown below the text. Correct or clear it to see the result again.
        </Empty>
      )
    }
    if (isFilterError(rows.error) && filter !== '') {
      return (
        <Empty icon="filter" title="The filter has an error">
          The error is shown below the filter. Correct or clear it to see the rows again.
        </Empty>
      )
    }
    return (
      <Failure error={rows.error} onRetry={() => rows.windows?.retry()}>
        {props.order && (
          <button type="button" class="link" onClick={() => props.onOrder(undefined)}>
            Go back to the order of upload
          </button>
        )}
      </Failure>
    )
  }
  if (!rows.windows || rows.rowCount === undefined) return <Loading label="Loading rows" lines={12} />
  if (rows.rowCount === 0) {
    return (
      <Empty
        icon="filter"
        title="No row matches"
        action={
          <button type="button" class="button button-primary" onClick={() => props.onFilter('')}>
            Show all rows
          </button>
        }
      >
        No row of {dataset.name} matches this filter. Change it, or clear it.
      </Empty>
    )
  }

  const column = active && rows.columns[active.column]
  const value = active && rows.windows.row(active.row)?.[active.column]
  // Rows can be filtered only by columns of the dataset, not by calculated ones.
  const isOfRows = dataset.columns.some(({ name }) => name === column?.name)
  const narrow = (keep: boolean) => {
    if (!column || value === undefined) return
    const operator = value === null ? (keep ? 'empty' : 'present') : keep ? 'eq' : 'ne'
    const condition = writeCondition({ column: column.name, operator, value: value ?? '' }, column.type)
    props.onFilter(bothFilters(filter, condition))
  }
  return (
    <div class="table-view">
      {rows.error !== undefined && <Failure error={rows.error} onRetry={() => rows.windows?.retry()} />}
      <Grid
        label={props.apply === '' ? `Rows of ${dataset.name}` : `Groups of ${dataset.name}`}
        columns={rows.columns}
        windows={rows.windows}
        revision={rows.revision}
        busy={rows.pending}
        rowCount={rows.rowCount}
        order={props.order}
        profile={props.profile}
        active={active}
        onActive={setActive}
        onSort={(name) => props.onOrder(nextOrder(props.order, name))}
        onCopy={() => value !== undefined && copyText(value ?? '', 'Cell')}
      />
      <CellBar
        column={column}
        row={active?.row}
        value={value}
        onKeep={isOfRows ? () => narrow(true) : undefined}
        onLeaveOut={isOfRows ? () => narrow(false) : undefined}
      />
    </div>
  )
}

function isFilterError(error: unknown): boolean {
  return isStatus(error, 400)
}

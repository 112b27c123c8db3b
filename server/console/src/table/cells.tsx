// biome-ignore-all lint/a11y/useSemanticElements: a table element can't leave out the rows that are not in view
// biome-ignore-all lint/a11y/useFocusableInteractive: the focus is the grid's, which names the active cell, or a button's
// biome-ignore-all lint/a11y/useKeyWithClickEvents: keys are the grid's
import { useRef } from 'preact/hooks'
import type { OrderKey } from '../../../../engine/options.ts'
import type { ColumnProfile } from '../filter/types.ts'
import { formatCount } from '../format.ts'
import { Spark } from '../profile/shape.tsx'
import { Icon } from '../ui/icons.tsx'
import type { CellPlace } from './keys.ts'
import { alignsRight, type ColumnPlace, NARROWEST } from './layout.ts'
import type { RowWindows } from './windows.ts'

/** A column heading: name, type, sort direction and a small chart of the values. */
export function HeaderCell(props: {
  readonly place: ColumnPlace
  readonly order: OrderKey | undefined
  readonly profile: ColumnProfile | undefined
  readonly onSort: () => void
  readonly onWidth: (width: number) => void
}) {
  const { column, at, left, width } = props.place
  /** The width less the place of the pointer, while it resizes the column. */
  const start = useRef<number>(undefined)
  const sorted = props.order?.column === column.name
  const direction = props.order?.descending ? 'descending' : 'ascending'
  return (
    <div
      class={`grid-head ${alignsRight(column.type) ? 'is-right' : ''}`}
      role="columnheader"
      aria-colindex={at + 2}
      aria-sort={sorted ? direction : 'none'}
      style={{ left: `${left}px`, width: `${width}px` }}
    >
      <button type="button" class="grid-sort" title={`${column.name} — sort`} onClick={props.onSort}>
        <span class="grid-name">{column.name}</span>
        {sorted && <Icon name={props.order?.descending ? 'down' : 'up'} />}
        <span class="grid-type">{column.type}</span>
      </button>
      <Spark profile={props.profile} />
      {/* Only for the pointer: users of the keyboard see cells in full in the bar below the table. */}
      <span
        class="grid-resizer"
        aria-hidden="true"
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId)
          start.current = width - event.clientX
        }}
        onPointerMove={(event) => {
          if (start.current === undefined) return
          props.onWidth(Math.max(NARROWEST, start.current + event.clientX))
        }}
        onPointerUp={() => {
          start.current = undefined
        }}
      />
    </div>
  )
}

/** A row: its number and the cells of the columns in view. */
export function GridRow(props: {
  readonly grid: string
  readonly index: number
  readonly windows: RowWindows
  readonly places: readonly ColumnPlace[]
  readonly active: CellPlace | undefined
  readonly activate: (place: CellPlace) => void
  readonly top: number
}) {
  const { index, active } = props
  // Undefined until the row has arrived.
  const cells = props.windows.row(index)
  const isActive = active?.row === index
  return (
    <div
      class={isActive ? 'grid-row is-active' : 'grid-row'}
      role="row"
      aria-rowindex={index + 2}
      style={{ transform: `translateY(${props.top}px)` }}
    >
      <div class="grid-gutter" role="rowheader" aria-colindex={1}>
        {formatCount(index + 1)}
      </div>
      <div class="grid-cells" role="presentation">
        {props.places.map(({ column, at, left, width }) => (
          <div
            key={column.name}
            id={cellId(props.grid, index, at)}
            class={`grid-cell${alignsRight(column.type) ? ' is-right' : ''}${isActive && active.column === at ? ' is-active' : ''}`}
            role="gridcell"
            aria-colindex={at + 2}
            aria-selected={isActive && active.column === at}
            style={{ left: `${left}px`, width: `${width}px` }}
            onClick={() => props.activate({ row: index, column: at })}
          >
            {cells ? (
              (cells[at] ?? <span class="null">null</span>)
            ) : (
              <span class="skeleton" aria-label="loading" role="img" />
            )}
          </div>
        ))}
      </div>
    </div>
  )
}

export function cellId(grid: string, row: number, column: number): string {
  return `${grid}-${row}-${column}`
}

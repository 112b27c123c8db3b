// biome-ignore-all lint/a11y/useSemanticElements: a table element can't leave out the rows that are not in view
// biome-ignore-all lint/a11y/useFocusableInteractive: the focus is the grid's, which names the active cell, or a button's
// biome-ignore-all lint/a11y/useKeyWithClickEvents: keys are the grid's
import { useRef } from 'preact/hooks'
import type { OrderKey } from '../../../../engine/options.ts'
import { formatCount } from '../format.ts'
import { Spark } from '../profile/shape.tsx'
import type { ColumnProfile } from '../profile/use-profile.ts'
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
  const sorted = props.order?.column === column.name
  const direction = props.order?.descending ? 'descending' : 'ascending'
  return (
    <div
      class={`grid-head ${alignsRight(column.type) ? 'is-right' : ''} ${sorted ? 'is-sorted' : ''}`}
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
      <Resizer width={width} onWidth={props.onWidth} />
    </div>
  )
}

/**
 * The edge for resizing with the pointer. Keyboard users don't need it: the bar below the table shows cells in full.
 */
function Resizer(props: { readonly width: number; readonly onWidth: (width: number) => void }) {
  const start = useRef<{ x: number; width: number } | undefined>(undefined)
  return (
    <span
      class="grid-resizer"
      aria-hidden="true"
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId)
        start.current = { x: event.clientX, width: props.width }
      }}
      onPointerMove={(event) => {
        if (!start.current) return
        props.onWidth(Math.max(NARROWEST, start.current.width + event.clientX - start.current.x))
      }}
      onPointerUp={() => {
        start.current = undefined
      }}
    />
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
            class={cellClass(column.type, isActive && active.column === at)}
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

function cellClass(type: string, active: boolean): string {
  return `grid-cell${alignsRight(type) ? ' is-right' : ''}${active ? ' is-active' : ''}`
}

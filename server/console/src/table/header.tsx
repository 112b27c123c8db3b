// biome-ignore-all lint/a11y/useSemanticElements: a table element can't leave out the rows that are not in view
// biome-ignore-all lint/a11y/useFocusableInteractive: the button inside takes the focus
import { useRef } from 'preact/hooks'
import { Spark } from '../profile/shape.tsx'
import type { ColumnProfile } from '../profile/use-profile.ts'
import { Icon } from '../ui/icons.tsx'
import type { Order } from '../view/view.ts'
import { alignsRight, type ColumnPlace, NARROWEST } from './layout.ts'

/** A column heading: name, type, sort direction and a small chart of the values. */
export function HeaderCell(props: {
  readonly place: ColumnPlace
  readonly index: number
  readonly order: Order | undefined
  readonly profile: ColumnProfile | undefined
  readonly onSort: () => void
  readonly onWidth: (width: number) => void
}) {
  const { column, left, width } = props.place
  const sorted = props.order?.column === column.name
  const direction = props.order?.descending ? 'descending' : 'ascending'
  return (
    <div
      class={`grid-head ${alignsRight(column.type) ? 'is-right' : ''} ${sorted ? 'is-sorted' : ''}`}
      role="columnheader"
      aria-colindex={props.index + 2}
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

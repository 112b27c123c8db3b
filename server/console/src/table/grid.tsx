// biome-ignore-all lint/a11y/useSemanticElements: a table element can't leave out the rows that are not in view
// biome-ignore-all lint/a11y/useFocusableInteractive: the focus is the grid's, which names the active cell
import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { Column } from '../../../client/index.ts'
import type { Profiles } from '../profile/use-profile.ts'
import type { Order } from '../view/view.ts'
import { cellId, GridRow, HeaderCell } from './cells.tsx'
import { type CellPlace, moveByKey } from './keys.ts'
import {
  type ColumnPlace,
  columnsInView,
  gutterWidth,
  HEADER_HEIGHT,
  placeColumns,
  ROW_HEIGHT,
  textMeasure,
} from './layout.ts'
import { type Geometry, rowsInView, spacerHeight } from './scroll.ts'
import { type Scroll, useScroll } from './use-scroll.ts'
import type { RowWindows } from './windows.ts'

interface GridProps {
  readonly label: string
  readonly columns: readonly Column[]
  readonly windows: RowWindows
  /** Increases with every change of `windows`, so that the table renders again. */
  readonly revision: number
  /** Whether the table waits for other rows. */
  readonly busy: boolean
  readonly rowCount: number
  readonly order: Order | undefined
  readonly profiles?: Profiles | undefined
  readonly active: CellPlace | undefined
  readonly onActive: (place: CellPlace) => void
  readonly onSort: (column: string) => void
  readonly onCopy: () => void
  readonly onEdit?: (() => void) | undefined
}

/**
 * A table of any number of rows. Only the cells in view are rendered, and `windows` fetches their rows. The focus stays
 * on the grid; `aria-activedescendant` refers to the active cell.
 */
export function Grid(props: GridProps) {
  const { columns, windows, rowCount, active } = props
  const scroller = useRef<HTMLDivElement>(null)
  const id = useId()
  const gutter = gutterWidth(rowCount)
  const { places, setWidth } = usePlaces(scroller, columns, windows)
  const total = gutter + places.reduce((sum, { width }) => sum + width, 0)
  const scroll = useScroll(scroller, rowCount, gutter)
  const geometry = { rows: rowCount, viewport: scroll.height }
  const rows = rowsInView(geometry, scroll.virtualTop)
  const shown = columnsInView(places, scroll.scrollLeft, scroll.width)
  const visible = places.slice(shown.first, shown.end)

  useEffect(() => scroll.toTop(), [windows])
  useEffect(() => windows.want(rows.first, rows.end), [windows, rows.first, rows.end])
  // Scroll to a cell that was activated elsewhere, for example in the list of columns.
  const chosen = active && places[active.column]
  useEffect(() => {
    if (chosen) scroll.showRange(chosen.left, chosen.width)
  }, [active?.column, chosen === undefined])

  const activate = (place: CellPlace) => {
    props.onActive(place)
    scroll.showRow(place.row)
    const column = places[place.column]
    if (column) scroll.showRange(column.left, column.width)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target !== scroller.current) return
    const control = event.ctrlKey || event.metaKey
    if (control && event.key === 'c' && String(getSelection()) === '') return props.onCopy()
    const page = Math.max(1, Math.floor(scroll.height / ROW_HEIGHT) - 1)
    const extent = { rows: rowCount, columns: columns.length, page }
    const next = moveByKey(active ?? { row: rows.first, column: -1 }, event.key, control, extent)
    if (!next || rowCount === 0) return
    event.preventDefault()
    if (event.key === 'Enter') props.onEdit?.()
    else activate(active ? next : { row: rows.first, column: 0 })
  }

  return (
    <div
      ref={scroller}
      class="grid"
      role="grid"
      tabIndex={0}
      aria-label={props.label}
      aria-busy={props.busy}
      aria-rowcount={rowCount + 1}
      aria-colcount={columns.length + 1}
      aria-activedescendant={active ? cellId(id, active.row, active.column) : undefined}
      onScroll={scroll.onScroll}
      onKeyDown={onKeyDown}
    >
      <Header {...props} {...{ gutter, total, visible }} first={shown.first} onWidth={setWidth} />
      <Body {...props} {...{ id, gutter, total, visible, scroll, geometry, activate }} first={shown.first} />
    </div>
  )
}

/** The rows in view, in an element as high as all of them, or as high as browsers allow. */
function Body(
  props: Pick<GridProps, 'windows' | 'active'> & {
    readonly id: string
    readonly gutter: number
    readonly total: number
    readonly visible: readonly ColumnPlace[]
    readonly first: number
    readonly scroll: Scroll
    readonly geometry: Geometry
    readonly activate: (place: CellPlace) => void
  },
) {
  const { id, windows, active, total, gutter, geometry, scroll } = props
  const rows = rowsInView(geometry, scroll.virtualTop)
  const height = spacerHeight(geometry)
  return (
    <div class="grid-spacer" role="presentation" style={{ height: `${height}px`, width: `${total}px` }}>
      <div
        class="grid-window"
        role="rowgroup"
        style={{ top: `${HEADER_HEIGHT}px`, height: `${Math.min(scroll.height, height)}px` }}
      >
        {Array.from({ length: rows.end - rows.first }, (_, at) => {
          const index = rows.first + at
          return (
            <GridRow
              key={index}
              grid={id}
              index={index}
              cells={windows.row(index)}
              places={props.visible}
              firstColumn={props.first}
              activeColumn={active?.row === index ? active.column : undefined}
              top={index * ROW_HEIGHT - scroll.virtualTop}
              width={total}
              gutter={gutter}
              onChoose={(column) => props.activate({ row: index, column })}
            />
          )
        })}
      </div>
    </div>
  )
}

/** Where the columns are, and a function that gives one another width. */
function usePlaces(
  scroller: { readonly current: HTMLElement | null },
  columns: readonly Column[],
  { firstRows }: RowWindows,
) {
  const [widths, setWidths] = useState<ReadonlyMap<string, number>>(new Map())
  const [measure, setMeasure] = useState<(text: string) => number>()
  useLayoutEffect(() => setMeasure(() => textMeasure(scroller.current!)), [])
  const places = useMemo(
    () => (measure ? placeColumns(columns, firstRows, widths, measure) : []),
    [columns, firstRows, widths, measure],
  )
  const setWidth = (column: string, width: number) =>
    setWidths((before) => new Map(before).set(column, width))
  return { places, setWidth }
}

/** The headings of the columns in view. */
function Header(
  props: Pick<GridProps, 'order' | 'profiles' | 'onSort'> & {
    readonly gutter: number
    readonly total: number
    readonly visible: readonly ColumnPlace[]
    /** The index of the first column in view. */
    readonly first: number
    readonly onWidth: (column: string, width: number) => void
  },
) {
  const { gutter } = props
  return (
    <div class="grid-header" role="row" aria-rowindex={1} style={{ width: `${props.total}px` }}>
      <div
        class="grid-gutter grid-corner"
        role="columnheader"
        aria-colindex={1}
        style={{ width: `${gutter}px` }}
      >
        <span class="visually-hidden">Row number</span>
      </div>
      <div class="grid-cells" role="presentation" style={{ left: `${gutter}px` }}>
        {props.visible.map((place, at) => (
          <HeaderCell
            key={place.column.name}
            place={place}
            index={props.first + at}
            order={props.order}
            profile={props.profiles?.get(place.column.name)}
            onSort={() => props.onSort(place.column.name)}
            onWidth={(width) => props.onWidth(place.column.name, width)}
          />
        ))}
      </div>
    </div>
  )
}

// biome-ignore-all lint/a11y/useSemanticElements: a table element can't leave out the rows that are not in view
// biome-ignore-all lint/a11y/useFocusableInteractive: the focus is the grid's, which names the active cell
import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { OrderKey } from '../../../../engine/options.ts'
import type { Profiles } from '../filter/types.ts'
import { cellId, GridRow, HeaderCell } from './cells.tsx'
import { type CellPlace, moveByKey } from './keys.ts'
import { columnsInView, HEADER_HEIGHT, placeColumns, ROW_HEIGHT, textMeasure } from './layout.ts'
import { rowsInView, spacerHeight } from './scroll.ts'
import { useScroll } from './use-scroll.ts'
import type { RowWindows } from './windows.ts'

interface GridProps {
  readonly label: string
  readonly windows: RowWindows
  /** Whether the table waits for other rows. */
  readonly busy?: boolean
  readonly order?: OrderKey | undefined
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
  const { windows, active, order } = props
  const id = useId()
  const { scroller, scroll, geometry, rows, visible, frame, setWidth, activate, onKeyDown } = useGrid(props)
  const height = spacerHeight(geometry)
  return (
    <div
      ref={scroller}
      class="grid"
      role="grid"
      tabIndex={0}
      aria-label={props.label}
      aria-busy={props.busy ?? false}
      aria-rowcount={geometry.rows + 1}
      aria-colcount={windows.columns.length + 1}
      aria-activedescendant={active ? cellId(id, active.row, active.column) : undefined}
      style={frame}
      onScroll={scroll.onScroll}
      onKeyDown={onKeyDown}
    >
      <div class="grid-header" role="row" aria-rowindex={1}>
        <div class="grid-gutter grid-corner" role="columnheader" aria-colindex={1}>
          <span class="visually-hidden">Row number</span>
        </div>
        <div class="grid-cells" role="presentation">
          {visible.map((place) => (
            <HeaderCell
              key={place.column.name}
              {...{ place, order }}
              profile={props.profiles?.get(place.column.name)}
              onSort={() => props.onSort(place.column.name)}
              onWidth={(width) => setWidth(place.column.name, width)}
            />
          ))}
        </div>
      </div>
      <div class="grid-spacer" role="presentation" style={{ height: `${height}px` }}>
        <div
          class="grid-window"
          role="rowgroup"
          style={{ top: `${HEADER_HEIGHT}px`, height: `${Math.min(scroll.height, height)}px` }}
        >
          {Array.from({ length: rows.end - rows.first }, (_, at) => (
            <GridRow
              key={rows.first + at}
              grid={id}
              index={rows.first + at}
              {...{ windows, active, activate }}
              places={visible}
              top={(rows.first + at) * ROW_HEIGHT - scroll.virtualTop}
            />
          ))}
        </div>
      </div>
    </div>
  )
}

/** What of a table is in view, and how that changes by keys and the pointer. */
function useGrid({ windows, active, ...props }: GridProps) {
  const { columns, rowCount = 0 } = windows
  const scroller = useRef<HTMLDivElement>(null)
  // Wide enough for the highest number of a row.
  const gutter = Math.max(52, String(rowCount).length * 8 + 24)
  const { places, setWidth } = usePlaces(scroller, windows)
  const total = gutter + places.reduce((sum, { width }) => sum + width, 0)
  const scroll = useScroll(scroller, rowCount, gutter)
  const geometry = { rows: rowCount, viewport: scroll.height }
  const rows = rowsInView(geometry, scroll.virtualTop)

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
  const visible = columnsInView(places, scroll.scrollLeft, scroll.width)
  const frame = { '--gutter': `${gutter}px`, '--total': `${total}px` }
  return { scroller, scroll, geometry, rows, visible, frame, setWidth, activate, onKeyDown }
}

/** Where the columns are, and a function that gives one another width. */
function usePlaces(scroller: { readonly current: HTMLElement | null }, { columns, firstRows }: RowWindows) {
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

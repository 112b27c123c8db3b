// biome-ignore-all lint/a11y/useSemanticElements: a table element can't leave out the rows that are not in view
// biome-ignore-all lint/a11y/useFocusableInteractive: the focus is the grid's, which names the active cell
import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { Column } from '../../../client/index.ts'
import type { ColumnStats } from '../profile/stats.ts'
import type { Order } from '../view/order.ts'
import { HeaderCell } from './header.tsx'
import { type CellPlace, moveByKey } from './keys.ts'
import { columnsInView, gutterWidth, placeColumns, ROW_HEIGHT, textMeasure } from './layout.ts'
import { cellId, GridRow } from './row.tsx'
import { rowsInView, spacerHeight } from './scroll.ts'
import { useScroll } from './use-scroll.ts'
import type { RowWindows } from './windows.ts'

const HEADER_HEIGHT = 74

/**
 * A table of any number of rows. Only the cells in view are rendered, and `windows` fetches their rows. The focus stays
 * on the grid; `aria-activedescendant` refers to the active cell.
 */
export function Grid(props: {
  readonly label: string
  readonly columns: readonly Column[]
  readonly windows: RowWindows
  /** Increases with every change of `windows`, so that the table renders again. */
  readonly revision: number
  /** Whether the table waits for other rows. */
  readonly busy: boolean
  readonly rowCount: number
  readonly order: Order | undefined
  readonly profile: ReadonlyMap<string, ColumnStats> | undefined
  readonly active: CellPlace | undefined
  readonly onActive: (place: CellPlace) => void
  readonly onSort: (column: string) => void
  readonly onCopy: () => void
}) {
  const { columns, windows, rowCount, active } = props
  const scroller = useRef<HTMLDivElement>(null)
  const id = useId()
  const gutter = gutterWidth(rowCount)
  const [widths, setWidths] = useState<ReadonlyMap<string, number>>(new Map())
  const firstRows = windows.firstRows
  const [measure, setMeasure] = useState<(text: string) => number>()
  useLayoutEffect(() => setMeasure(() => textMeasure(scroller.current!)), [])
  const places = useMemo(
    () => (measure ? placeColumns(columns, firstRows, widths, measure) : []),
    [columns, firstRows, widths, measure],
  )
  const total = gutter + (places.at(-1) ? places.at(-1)!.left + places.at(-1)!.width : 0)

  const scroll = useScroll(scroller, rowCount, ROW_HEIGHT, HEADER_HEIGHT, gutter)
  const geometry = { rows: rowCount, rowHeight: ROW_HEIGHT, viewport: scroll.height }
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
    activate(active ? next : { row: rows.first, column: 0 })
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
      <div class="grid-header" role="row" aria-rowindex={1} style={{ width: `${total}px` }}>
        <div
          class="grid-gutter grid-corner"
          role="columnheader"
          aria-colindex={1}
          style={{ width: `${gutter}px` }}
        >
          <span class="visually-hidden">Row number</span>
        </div>
        <div class="grid-cells" role="presentation" style={{ left: `${gutter}px` }}>
          {visible.map((place, at) => (
            <HeaderCell
              key={place.column.name}
              place={place}
              index={shown.first + at}
              order={props.order}
              stats={props.profile?.get(place.column.name)}
              onSort={() => props.onSort(place.column.name)}
              onWidth={(width) => setWidths((before) => new Map(before).set(place.column.name, width))}
            />
          ))}
        </div>
      </div>
      <div
        class="grid-spacer"
        role="presentation"
        style={{ height: `${spacerHeight(geometry)}px`, width: `${total}px` }}
      >
        <div
          class="grid-window"
          role="rowgroup"
          style={{
            top: `${HEADER_HEIGHT}px`,
            height: `${Math.min(scroll.height, spacerHeight(geometry))}px`,
          }}
        >
          {Array.from({ length: rows.end - rows.first }, (_, at) => {
            const index = rows.first + at
            return (
              <GridRow
                key={index}
                grid={id}
                index={index}
                cells={windows.row(index)}
                places={visible}
                firstColumn={shown.first}
                activeColumn={active?.row === index ? active.column : undefined}
                top={index * ROW_HEIGHT - scroll.virtualTop}
                width={total}
                gutter={gutter}
                onChoose={(column) => activate({ row: index, column })}
              />
            )
          })}
        </div>
      </div>
    </div>
  )
}

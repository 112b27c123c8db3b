// biome-ignore-all lint/a11y/useSemanticElements: a table element can't leave out the rows that are not in view
// biome-ignore-all lint/a11y/useFocusableInteractive: the focus is the grid's, which names the active cell, or a button's
// biome-ignore-all lint/a11y/useKeyWithClickEvents: keys are the grid's
import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { OrderKey } from '../../../../engine/options.ts'
import type { ColumnProfile, Profiles } from '../filter/syntax.ts'
import { formatCount, formatPercent } from '../format.ts'
import { copyText } from '../ui/copy.tsx'
import { Icon } from '../ui/icons.tsx'
import {
  alignsRight,
  columnsInView,
  HEADER_HEIGHT,
  NARROWEST,
  type PlacedColumn,
  placeColumns,
  ROW_HEIGHT,
  textMeasure,
} from './layout.ts'
import { rowsInView, spacerHeight, useScroll } from './scroll.ts'
import type { RowWindows } from './windows.ts'

interface GridProps {
  readonly label: string
  readonly windows: RowWindows
  readonly busy?: boolean
  readonly order?: OrderKey | undefined
  readonly profiles?: Profiles | undefined
  /** How many rows the profiles are of. */
  readonly total?: number
  readonly active: CellPosition | undefined
  readonly onActive: (cell: CellPosition) => void
  readonly onSort: (column: string) => void
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
          {visible.map((cell) => (
            <HeaderCell
              key={cell.column.name}
              {...{ cell, order }}
              missing={missingIn(props.profiles?.get(cell.column.name), props.total)}
              profile={props.profiles?.get(cell.column.name)}
              onSort={() => props.onSort(cell.column.name)}
              onWidth={(width) => setWidth(cell.column.name, width)}
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
  // Scroll to a cell that was activated elsewhere, for example in the list of columns or by a link.
  const chosen = active && places[active.column]
  useEffect(() => {
    if (!chosen) return
    scroll.showRange(chosen.left, chosen.width)
    scroll.showRow(active.row)
  }, [active?.row, active?.column, chosen === undefined])

  const activate = (cell: CellPosition) => {
    props.onActive(cell)
    scroll.showRow(cell.row)
    const column = places[cell.column]
    if (column) scroll.showRange(column.left, column.width)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target !== scroller.current) return
    const control = event.ctrlKey || event.metaKey
    if (control && event.key === 'c' && String(getSelection()) === '') {
      const value = active && windows.row(active.row)?.[active.column]
      return value !== undefined && copyText(value ?? '', 'Cell')
    }
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

function HeaderCell(props: {
  readonly cell: PlacedColumn
  readonly order: OrderKey | undefined
  readonly profile: ColumnProfile | undefined
  /** Which share of its values is null, as text. */
  readonly missing: string
  readonly onSort: () => void
  readonly onWidth: (width: number) => void
}) {
  const { column, at, left, width } = props.cell
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
      <button
        type="button"
        class="grid-sort"
        title={`${column.name}${props.missing} — sort`}
        onClick={props.onSort}
      >
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
        }}
        onPointerMove={({ currentTarget, pointerId, movementX }) => {
          if (!currentTarget.hasPointerCapture(pointerId)) return
          props.onWidth(Math.max(NARROWEST, width + movementX))
        }}
      />
    </div>
  )
}

function GridRow(props: {
  readonly grid: string
  readonly index: number
  readonly windows: RowWindows
  readonly places: readonly PlacedColumn[]
  readonly active: CellPosition | undefined
  readonly activate: (cell: CellPosition) => void
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

/** The share of nulls, if there are any, as it follows the name of a column. */
function missingIn(profile: ColumnProfile | undefined, total = 0): string {
  if (!profile?.nulls || total === 0) return ''
  const share = profile.nulls / total
  return ` — ${share < 0.001 ? `<${formatPercent(0.001)}` : formatPercent(share)} null`
}

function cellId(grid: string, row: number, column: number): string {
  return `${grid}-${row}-${column}`
}

/** The values of a column in small: how many are in each range, or the shares of the most frequent ones; nulls last. */
function Spark({ profile }: { readonly profile: ColumnProfile | undefined }) {
  const { histogram, top = [], nulls = 0 } = profile ?? {}
  if (!histogram) {
    return (
      <span class="spark spark-shares" aria-hidden="true">
        {top.map(({ value, count }) => (
          <i key={value} style={{ flexGrow: count }} />
        ))}
        {nulls > 0 && top.length > 0 && <i class="is-null" style={{ flexGrow: nulls }} />}
      </span>
    )
  }
  const highest = Math.max(...histogram.map(({ count }) => count), nulls, 1)
  const size = (count: number) => ({
    blockSize: `${count === 0 ? 0 : Math.max(6, (count / highest) * 100)}%`,
  })
  return (
    <span class="spark spark-bins" aria-hidden="true">
      {histogram.map(({ from, count }) => (
        <i key={from} style={size(count)} />
      ))}
      {nulls > 0 && <i class="is-null" style={size(nulls)} />}
    </span>
  )
}

/** A cell by row and column, both counted from 0. */
export interface CellPosition {
  readonly row: number
  readonly column: number
}

/**
 * The cell that a key moves to, following the ARIA grid pattern; undefined for other keys.
 *
 * @param page the number of rows in view, for PageUp and PageDown
 */
function moveByKey(
  from: CellPosition,
  key: string,
  withControl: boolean,
  { rows, columns, page }: Readonly<Record<'rows' | 'columns' | 'page', number>>,
): CellPosition | undefined {
  const { row, column } = from
  const [bottom, right] = [rows - 1, columns - 1]
  const places: Readonly<Record<string, readonly [row: number, column: number]>> = {
    Enter: [row, column],
    ArrowUp: [withControl ? 0 : row - 1, column],
    ArrowDown: [withControl ? bottom : row + 1, column],
    ArrowLeft: [row, withControl ? 0 : column - 1],
    ArrowRight: [row, withControl ? right : column + 1],
    PageUp: [row - page, column],
    PageDown: [row + page, column],
    Home: [withControl ? 0 : row, 0],
    End: [withControl ? bottom : row, right],
  }
  const cell = places[key]
  const clamp = (value: number, most: number) => Math.max(0, Math.min(most, value))
  return cell && { row: clamp(cell[0], bottom), column: clamp(cell[1], right) }
}

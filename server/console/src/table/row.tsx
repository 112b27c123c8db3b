// biome-ignore-all lint/a11y/useSemanticElements: a table element can't leave out the rows that are not in view
// biome-ignore-all lint/a11y/useFocusableInteractive: the focus is the grid's, which names the active cell
// biome-ignore-all lint/a11y/useKeyWithClickEvents: keys are the grid's
import type { Field } from '../csv.ts'
import { formatCount } from '../format.ts'
import { alignsRight, type ColumnPlace } from './layout.ts'

/** A row: its number and the cells of the columns in view. */
export function GridRow(props: {
  readonly grid: string
  readonly index: number
  /** Undefined until the row has arrived. */
  readonly cells: readonly Field[] | undefined
  readonly places: readonly ColumnPlace[]
  /** Index of the first of `places` among all columns. */
  readonly firstColumn: number
  readonly activeColumn: number | undefined
  readonly top: number
  readonly width: number
  readonly gutter: number
  readonly onChoose: (column: number) => void
}) {
  const { index, cells, activeColumn } = props
  return (
    <div
      class={activeColumn === undefined ? 'grid-row' : 'grid-row is-active'}
      role="row"
      aria-rowindex={index + 2}
      style={{ transform: `translateY(${props.top}px)`, width: `${props.width}px` }}
    >
      <div class="grid-gutter" role="rowheader" aria-colindex={1} style={{ width: `${props.gutter}px` }}>
        {formatCount(index + 1)}
      </div>
      <div class="grid-cells" role="presentation" style={{ left: `${props.gutter}px` }}>
        {props.places.map((place, step) => {
          const column = props.firstColumn + step
          return (
            <div
              key={place.column.name}
              id={cellId(props.grid, index, column)}
              class={cellClass(place.column.type, activeColumn === column)}
              role="gridcell"
              aria-colindex={column + 2}
              aria-selected={activeColumn === column}
              style={{ left: `${place.left}px`, width: `${place.width}px` }}
              onClick={() => props.onChoose(column)}
            >
              {cells ? (
                (cells[column] ?? <span class="null">null</span>)
              ) : (
                <span class="skeleton" aria-label="loading" role="img" />
              )}
            </div>
          )
        })}
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

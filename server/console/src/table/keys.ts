/** A cell by row and column, both counted from 0. */
export interface CellPlace {
  readonly row: number
  readonly column: number
}

export interface Extent {
  readonly rows: number
  readonly columns: number
  /** The number of rows in view, for PageUp and PageDown. */
  readonly page: number
}

/** The cell that a key moves to, following the ARIA grid pattern; undefined for other keys. */
export function moveByKey(
  from: CellPlace,
  key: string,
  withControl: boolean,
  extent: Extent,
): CellPlace | undefined {
  const go = (row: number, column: number): CellPlace => ({
    row: Math.max(0, Math.min(extent.rows - 1, row)),
    column: Math.max(0, Math.min(extent.columns - 1, column)),
  })
  const { row, column } = from
  switch (key) {
    case 'ArrowUp':
      return go(withControl ? 0 : row - 1, column)
    case 'ArrowDown':
      return go(withControl ? extent.rows - 1 : row + 1, column)
    case 'ArrowLeft':
      return go(row, withControl ? 0 : column - 1)
    case 'ArrowRight':
      return go(row, withControl ? extent.columns - 1 : column + 1)
    case 'PageUp':
      return go(row - extent.page, column)
    case 'PageDown':
      return go(row + extent.page, column)
    case 'Home':
      return go(withControl ? 0 : row, 0)
    case 'End':
      return go(withControl ? extent.rows - 1 : row, extent.columns - 1)
    default:
      return undefined
  }
}

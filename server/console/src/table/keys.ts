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
  const { row, column } = from
  const [bottom, right] = [extent.rows - 1, extent.columns - 1]
  const places: Readonly<Record<string, readonly [row: number, column: number]>> = {
    Enter: [row, column],
    ArrowUp: [withControl ? 0 : row - 1, column],
    ArrowDown: [withControl ? bottom : row + 1, column],
    ArrowLeft: [row, withControl ? 0 : column - 1],
    ArrowRight: [row, withControl ? right : column + 1],
    PageUp: [row - extent.page, column],
    PageDown: [row + extent.page, column],
    Home: [withControl ? 0 : row, 0],
    End: [withControl ? bottom : row, right],
  }
  const place = places[key]
  const within = (value: number, most: number) => Math.max(0, Math.min(most, value))
  return place && { row: within(place[0], bottom), column: within(place[1], right) }
}

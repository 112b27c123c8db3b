/** A cell by row and column, both counted from 0. */
export interface CellPlace {
  readonly row: number
  readonly column: number
}

/**
 * The cell that a key moves to, following the ARIA grid pattern; undefined for other keys.
 *
 * @param page the number of rows in view, for PageUp and PageDown
 */
export function moveByKey(
  from: CellPlace,
  key: string,
  withControl: boolean,
  { rows, columns, page }: Readonly<Record<'rows' | 'columns' | 'page', number>>,
): CellPlace | undefined {
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
  const place = places[key]
  const within = (value: number, most: number) => Math.max(0, Math.min(most, value))
  return place && { row: within(place[0], bottom), column: within(place[1], right) }
}

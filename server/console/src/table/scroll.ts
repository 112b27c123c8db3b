/**
 * Scrolling through more rows than an element may be high. Browsers cap heights at some 17 to 33 million pixels;
 * 3,000,000 rows of 30 pixels need 90. So the scrolled element is shorter than the rows would be, and a position in
 * it stands for a row: small movements go pixel by pixel, large ones (the scroll bar) by proportion, and once the
 * movement rests, the bar is put where the rows in view say it belongs.
 */
export interface Geometry {
  readonly rows: number
  readonly rowHeight: number
  /** Height of the part in which rows are seen. */
  readonly viewport: number
}

export interface Position {
  /** Distance from the top of the first row to the top of the view, as if nothing were capped. */
  readonly virtualTop: number
  /** What the browser calls scrollTop. */
  readonly scrollTop: number
}

export const START: Position = { virtualTop: 0, scrollTop: 0 }

/** Well below every browser's cap, also at a zoom of 200 %. */
const HIGHEST = 6_000_000
/** Movements of more views than this at once come from the scroll bar, not from a wheel or a finger. */
const JUMP_VIEWS = 2

export function fullHeight(geometry: Geometry): number {
  return geometry.rows * geometry.rowHeight
}

/** The height to give the scrolled element. */
export function spacerHeight(geometry: Geometry): number {
  return Math.min(fullHeight(geometry), HIGHEST)
}

/** Where a scroll event leads. */
export function follow(geometry: Geometry, before: Position, scrollTop: number): Position {
  if (spacerHeight(geometry) === fullHeight(geometry)) return { virtualTop: scrollTop, scrollTop }
  const farthest = spacerHeight(geometry) - geometry.viewport
  if (scrollTop <= 0) return { virtualTop: 0, scrollTop }
  // Browsers report fractions of a pixel short of the end.
  if (scrollTop >= farthest - 1) return { virtualTop: lastTop(geometry), scrollTop }
  const moved = scrollTop - before.scrollTop
  const virtualTop =
    Math.abs(moved) <= JUMP_VIEWS * geometry.viewport
      ? before.virtualTop + moved
      : (scrollTop / farthest) * lastTop(geometry)
  return { virtualTop: clamp(virtualTop, 0, lastTop(geometry)), scrollTop }
}

/** The scrollTop that fits a virtual position, for when movement rests or a row is to be shown. */
export function scrollTopFor(geometry: Geometry, virtualTop: number): number {
  if (spacerHeight(geometry) === fullHeight(geometry)) return virtualTop
  if (lastTop(geometry) === 0) return 0
  return (virtualTop / lastTop(geometry)) * (spacerHeight(geometry) - geometry.viewport)
}

/** The virtual position nearest to the present one at which all of a row is in view. */
export function topToShow(geometry: Geometry, virtualTop: number, row: number): number {
  const top = row * geometry.rowHeight
  const bottom = top + geometry.rowHeight
  if (top < virtualTop) return top
  if (bottom > virtualTop + geometry.viewport) return Math.max(0, bottom - geometry.viewport)
  return virtualTop
}

/** The rows in view: from the first, to one after the last. */
export function rowsInView(geometry: Geometry, virtualTop: number): { first: number; end: number } {
  const first = Math.max(0, Math.floor(virtualTop / geometry.rowHeight))
  const end = Math.min(geometry.rows, Math.ceil((virtualTop + geometry.viewport) / geometry.rowHeight))
  return { first, end }
}

export function lastTop(geometry: Geometry): number {
  return Math.max(0, fullHeight(geometry) - geometry.viewport)
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(Math.max(value, low), high)
}

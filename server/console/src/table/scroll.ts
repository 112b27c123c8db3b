import { ROW_HEIGHT } from './layout.ts'

/**
 * Scrolling through more rows than fit into an element of the largest height: browsers limit heights to 17 to 33
 * million pixels, and 3,000,000 rows of 30 pixels need 90 million. So the scrolled element is shorter than the rows.
 * Small movements scroll by pixels, large ones (the scroll bar) by proportion. When scrolling stops, the bar is moved
 * to the position of the visible rows.
 */
export interface Geometry {
  readonly rows: number
  /** Height of the area that shows rows. */
  readonly viewport: number
}

export interface Position {
  /** Distance from the top of the first row to the top of the view, if the element had its full height. */
  readonly virtualTop: number
  /** The element's scrollTop. */
  readonly scrollTop: number
}

export const START: Position = { virtualTop: 0, scrollTop: 0 }

/** Well below the limit of every browser, also at 200 % zoom. */
const HIGHEST = 6_000_000
/** A movement by more than this many views at once comes from the scroll bar, not from a wheel or a finger. */
const JUMP_VIEWS = 2

function fullHeight(geometry: Geometry): number {
  return geometry.rows * ROW_HEIGHT
}

/** The height of the scrolled element. */
export function spacerHeight(geometry: Geometry): number {
  return Math.min(fullHeight(geometry), HIGHEST)
}

/** The position after a scroll event. */
export function follow(geometry: Geometry, before: Position, scrollTop: number): Position {
  if (spacerHeight(geometry) === fullHeight(geometry)) return { virtualTop: scrollTop, scrollTop }
  const farthest = spacerHeight(geometry) - geometry.viewport
  if (scrollTop <= 0) return { virtualTop: 0, scrollTop }
  // At the end, browsers may report a scrollTop that is a fraction of a pixel short.
  if (scrollTop >= farthest - 1) return { virtualTop: lastTop(geometry), scrollTop }
  const moved = scrollTop - before.scrollTop
  const virtualTop =
    Math.abs(moved) <= JUMP_VIEWS * geometry.viewport
      ? before.virtualTop + moved
      : (scrollTop / farthest) * lastTop(geometry)
  return { virtualTop: Math.min(Math.max(virtualTop, 0), lastTop(geometry)), scrollTop }
}

/** The scrollTop for a virtual position, used when scrolling stops or a row is to be shown. */
export function scrollTopFor(geometry: Geometry, virtualTop: number): number {
  if (spacerHeight(geometry) === fullHeight(geometry)) return virtualTop
  if (lastTop(geometry) === 0) return 0
  return (virtualTop / lastTop(geometry)) * (spacerHeight(geometry) - geometry.viewport)
}

/** The nearest virtual position at which a row is completely visible. */
export function topToShow(geometry: Geometry, virtualTop: number, row: number): number {
  const top = row * ROW_HEIGHT
  const bottom = top + ROW_HEIGHT
  if (top < virtualTop) return top
  if (bottom > virtualTop + geometry.viewport) return Math.max(0, bottom - geometry.viewport)
  return virtualTop
}

/** The rows in view; `end` is exclusive. */
export function rowsInView(geometry: Geometry, virtualTop: number): { first: number; end: number } {
  const first = Math.max(0, Math.floor(virtualTop / ROW_HEIGHT))
  const end = Math.min(geometry.rows, Math.ceil((virtualTop + geometry.viewport) / ROW_HEIGHT))
  return { first, end }
}

export function lastTop(geometry: Geometry): number {
  return Math.max(0, fullHeight(geometry) - geometry.viewport)
}

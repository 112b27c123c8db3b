import type { RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { useSize } from '../hooks.ts'
import { HEADER_HEIGHT, ROW_HEIGHT } from './layout.ts'

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

export function spacerHeight(geometry: Geometry): number {
  return Math.min(fullHeight(geometry), HIGHEST)
}

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

const REST_MS = 160

/** Connects an element's scroll bars with positions in rows; `Geometry` says why these differ. */
export function useScroll(element: RefObject<HTMLElement | null>, rows: number, gutter: number) {
  const size = useSize(element)
  // Of the area that shows cells.
  const width = size.width - gutter
  const height = Math.max(size.height - HEADER_HEIGHT, ROW_HEIGHT)
  const [position, setPosition] = useState<Position>(START)
  const [scrollLeft, setScrollLeft] = useState(0)
  const latest = useRef<Position>(START)
  const rest = useRef<ReturnType<typeof setTimeout>>(undefined)
  const geometry: Geometry = { rows, viewport: height }

  const move = (next: Position) => {
    latest.current = next
    setPosition(next)
  }
  /** Moves the scroll bar to where the visible rows belong. Browsers may round the position, so it is read back. */
  const settle = () => {
    const scrolled = element.current
    if (!scrolled) return
    const { virtualTop } = latest.current
    scrolled.scrollTop = scrollTopFor(geometry, virtualTop)
    latest.current = { virtualTop, scrollTop: scrolled.scrollTop }
  }

  useEffect(() => () => clearTimeout(rest.current), [])

  return {
    width,
    height,
    virtualTop: position.virtualTop,
    scrollLeft,
    onScroll: () => {
      const scrolled = element.current!
      setScrollLeft(scrolled.scrollLeft)
      if (scrolled.scrollTop === latest.current.scrollTop) return
      move(follow(geometry, latest.current, scrolled.scrollTop))
      clearTimeout(rest.current)
      rest.current = setTimeout(settle, REST_MS)
    },
    toTop: () => {
      clearTimeout(rest.current)
      element.current!.scrollTop = 0
      move(START)
    },
    /** Scrolls the shortest distance that makes a row visible. */
    showRow: (row: number) => {
      const virtualTop = topToShow(geometry, latest.current.virtualTop, row)
      if (virtualTop === latest.current.virtualTop) return
      move({ ...latest.current, virtualTop })
      settle()
    },
    /** Scrolls the shortest distance that makes a column visible. */
    showRange: (left: number, width: number) => {
      const scrolled = element.current!
      const room = scrolled.clientWidth - gutter
      if (left < scrolled.scrollLeft) scrolled.scrollLeft = left
      else if (left + width > scrolled.scrollLeft + room) {
        scrolled.scrollLeft = Math.min(left, left + width - room)
      }
    },
  }
}

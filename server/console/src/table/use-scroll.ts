import type { RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { useSize } from '../hooks.ts'
import { HEADER_HEIGHT, ROW_HEIGHT } from './layout.ts'
import { follow, type Geometry, type Position, START, scrollTopFor, topToShow } from './scroll.ts'

const REST_MS = 160

/** Connects an element's scroll bars with positions in rows; scroll.ts says why these differ. */
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
    showRange: (left: number, width: number) => showRange(element.current!, gutter, left, width),
  }
}

function showRange(scrolled: HTMLElement, gutter: number, left: number, width: number): void {
  const room = scrolled.clientWidth - gutter
  if (left < scrolled.scrollLeft) scrolled.scrollLeft = left
  else if (left + width > scrolled.scrollLeft + room) {
    scrolled.scrollLeft = Math.min(left, left + width - room)
  }
}

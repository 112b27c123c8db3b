import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  follow,
  type Geometry,
  lastTop,
  type Position,
  rowsInView,
  START,
  scrollTopFor,
  spacerHeight,
  topToShow,
} from '../../server/console/src/table/scroll.ts'

const SMALL: Geometry = { rows: 1_000, viewport: 600 }
const HUGE: Geometry = { rows: 3_000_000, viewport: 600 }

describe('scrolling through rows', () => {
  it('is plain scrolling where the rows fit into an element', () => {
    expect(spacerHeight(SMALL)).toBe(30_000)
    expect(follow(SMALL, START, 12_345).virtualTop).toBe(12_345)
  })

  it('never asks for an element higher than browsers allow', () => {
    expect(spacerHeight(HUGE)).toBeLessThan(16_000_000)
  })

  it('moves pixel by pixel with a wheel, however many rows there are', () => {
    const middle: Position = { virtualTop: 45_000_000, scrollTop: scrollTopFor(HUGE, 45_000_000) }
    const next = follow(HUGE, middle, middle.scrollTop + 100)
    expect(next.virtualTop).toBe(45_000_100)
  })

  it('moves by proportion with the scroll bar', () => {
    const half = (spacerHeight(HUGE) - HUGE.viewport) / 2
    expect(follow(HUGE, START, half).virtualTop).toBeCloseTo(lastTop(HUGE) / 2, 0)
  })

  it('reaches the last row and the first', () => {
    const end = follow(HUGE, START, spacerHeight(HUGE) - HUGE.viewport)
    expect(rowsInView(HUGE, end.virtualTop).end).toBe(3_000_000)
    expect(follow(HUGE, end, 0).virtualTop).toBe(0)
  })

  it('shows a row by the shortest way', () => {
    expect(topToShow(SMALL, 0, 5)).toBe(0)
    expect(topToShow(SMALL, 900, 3)).toBe(90)
    expect(topToShow(SMALL, 0, 100)).toBe(101 * 30 - 600)
  })

  it('never leaves the rows, whatever the movements', () => {
    const geometry = fc.record({
      rows: fc.integer({ min: 1, max: 10_000_000 }),

      viewport: fc.integer({ min: 30, max: 2_000 }),
    })
    fc.assert(
      fc.property(geometry, fc.array(fc.double({ min: 0, max: 1, noNaN: true })), (shape, moves) => {
        let position = START
        const farthest = Math.max(0, spacerHeight(shape) - shape.viewport)
        for (const share of moves) {
          position = follow(shape, position, share * farthest)
          const { first, end } = rowsInView(shape, position.virtualTop)
          expect(first).toBeGreaterThanOrEqual(0)
          expect(end).toBeLessThanOrEqual(shape.rows)
          expect(end).toBeGreaterThan(first)
        }
      }),
    )
  })
})

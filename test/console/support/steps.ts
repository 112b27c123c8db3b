import { afterAll, beforeAll, beforeEach, expect } from 'vitest'
import { picture, type Visitor, violations, visit } from './browser.ts'
import { FRED, openStage, type Stage } from './stage.ts'

export interface Walk {
  readonly stage: Stage
  readonly visitor: Visitor
  /** Every step leaves a view behind that axe finds nothing wrong with, and a quiet browser. */
  expectClean(name?: string): Promise<void>
  /** Goes to a place behind the `#`. */
  go(place: string): Promise<void>
}

/**
 * A stage and a visitor for all tests of a `describe`, each of which begins where the one before has ended; so once one
 * has failed, the others do.
 *
 * @param begin what is there before the first step
 */
export function walk(begin: (walk: Walk) => Promise<void> = async () => undefined): Walk {
  let stage: Stage
  let visitor: Visitor
  const walked: Walk = {
    get stage() {
      return stage
    },
    get visitor() {
      return visitor
    },
    async expectClean(name) {
      if (name !== undefined) await picture(visitor, name)
      expect(await violations(visitor.page)).toEqual([])
      expect(visitor.complaints).toEqual([])
    },
    async go(place) {
      await visitor.page.evaluate((hash) => {
        location.hash = hash
      }, `#/${place}`)
    },
  }
  beforeAll(async () => {
    stage = await openStage(FRED)
    visitor = await visit(stage.server.url)
    await begin(walked)
  }, 120_000)
  afterAll(async () => {
    await visitor?.[Symbol.asyncDispose]()
    await stage?.[Symbol.asyncDispose]()
  })
  let broken = false
  beforeEach(({ onTestFailed }) => {
    if (broken) throw new Error('an earlier step has failed')
    onTestFailed(() => {
      broken = true
    })
  })
  return walked
}

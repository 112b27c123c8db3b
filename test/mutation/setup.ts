import { beforeAll, beforeEach, inject } from 'vitest'

type Counts = Record<string, number>

/** What StrykerJS keeps in the process: which changes each test reached, and which were reached outside of tests. */
interface Kept {
  activeMutant?: string
  currentTestId?: string
  mutantCoverage?: { readonly static: Counts; readonly perTest: Record<string, Counts> }
}

const kept = ((globalThis as unknown as Record<string, Kept>)[inject('globalNamespace' as never)] ??= {})
if (process.env['PARQUETRY_MUTATION'] === 'children') {
  // Where some changes are reached in the process of the tests, StrykerJS would run no test for those that aren't.
  Object.defineProperty(kept, 'mutantCoverage', { configurable: true, get: () => undefined, set: () => {} })
}
const mutant = inject('activeMutant' as never) as string | undefined
if (mutant !== undefined) {
  // StrykerJS sets it in a hook, which may come after those that start a server.
  kept.activeMutant = mutant
  // Threads and processes that a test starts read there which change holds.
  process.env['__STRYKER_ACTIVE_MUTANT__'] = mutant
} else {
  // What the hooks of a file reach, as they start a server, is reached by each of its tests that follow. StrykerJS would
  // run none of them for it.
  const byHooks: Counts = {}
  const outside = () => ({ ...kept.mutantCoverage?.static })
  let before: Counts = {}
  beforeAll(() => {
    before = outside()
  })
  beforeEach(() => {
    for (const [id, count] of Object.entries(outside())) if (count !== before[id]) byHooks[id] = count
    before = outside()
    if (kept.mutantCoverage) Object.assign((kept.mutantCoverage.perTest[kept.currentTestId!] ??= {}), byHooks)
  })
}

import { expect, test } from 'vitest'
import { imports, sources, textOf } from './sources.ts'

/** Which rooms a room may import from, besides itself and packages. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  engine: [],
  connectors: [],
  server: ['engine', 'connectors'],
  // What makes damaged input for the tests makes it for the figures, too.
  bench: ['engine', 'connectors', 'server', 'test'],
}

/** What any room may import, since it knows nothing of data and imports nothing itself. */
const SHARED: readonly string[] = ['engine/util/nearest.ts', 'engine/util/semaphore.ts']

for (const [room, allowed] of Object.entries(MAY_IMPORT)) {
  test(`${room} imports ${['itself', ...allowed].join(', ')} and packages only`, () => {
    const files = sources(room)
    expect(files.length).toBeGreaterThan(0)
    const wrong = files.flatMap((file) =>
      imports(file)
        .filter((target) => ![room, ...allowed].includes(target.split('/')[0]!) && !SHARED.includes(target))
        .map((target) => `${file} imports ${target}`),
    )
    expect(wrong).toEqual([])
  })
}

test('the engine and the connectors know no HTTP server', () => {
  const wrong = [...sources('engine'), ...sources('connectors')].filter((file) =>
    /from '(@?fastify[^']*|commander)'/.test(textOf(file)),
  )
  expect(wrong).toEqual([])
})

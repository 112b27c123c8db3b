import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { expect, test } from 'vitest'

const root = resolve(import.meta.dirname, '../..')

/** Which rooms a room may import from, besides itself and packages. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  engine: [],
  connectors: [],
  server: ['engine', 'connectors'],
  bench: ['engine', 'connectors', 'server'],
}

function sources(room: string): string[] {
  return readdirSync(join(root, room), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name) && !/(^|\/)(dist|node_modules)\//.test(name))
    .map((name) => join(root, room, name))
}

function imports(file: string): string[] {
  const text = readFileSync(file, 'utf8')
  return [...text.matchAll(/(?:from|import)\s*\(?\s*'(\.{1,2}\/[^']+)'/g)].map((match) =>
    relative(root, resolve(dirname(file), match[1]!)),
  )
}

for (const [room, allowed] of Object.entries(MAY_IMPORT)) {
  test(`${room} imports ${['itself', ...allowed].join(', ')} and packages only`, () => {
    const files = sources(room)
    expect(files.length).toBeGreaterThan(0)
    const wrong = files.flatMap((file) =>
      imports(file)
        .filter((target) => ![room, ...allowed].includes(target.split('/')[0]!))
        .map((target) => `${relative(root, file)} imports ${target}`),
    )
    expect(wrong).toEqual([])
  })
}

test('the engine and the connectors know no HTTP server', () => {
  const wrong = [...sources('engine'), ...sources('connectors')].filter((file) =>
    /from '(@?fastify[^']*|commander)'/.test(readFileSync(file, 'utf8')),
  )
  expect(wrong).toEqual([])
})

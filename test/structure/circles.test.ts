import { expect, test } from 'vitest'
import { imports, sources } from './sources.ts'

/** Files of which each reaches itself by imports, in groups that belong together. Types count: a reader follows them, too. */
function circles(files: readonly string[]): string[][] {
  const known = new Set(files)
  const edges = new Map(files.map((file) => [file, imports(file).filter((target) => known.has(target))]))
  const reached = new Map(files.map((file) => [file, reachable(file, edges)]))
  const groups = new Map<string, string[]>()
  for (const file of files) {
    if (!reached.get(file)!.has(file)) continue
    const group = files.filter((other) => reached.get(file)!.has(other) && reached.get(other)!.has(file))
    groups.set(group[0]!, group)
  }
  return [...groups.values()]
}

function reachable(from: string, edges: ReadonlyMap<string, readonly string[]>): Set<string> {
  const seen = new Set<string>()
  const next = [...edges.get(from)!]
  for (let file = next.pop(); file; file = next.pop()) {
    if (seen.has(file)) continue
    seen.add(file)
    next.push(...edges.get(file)!)
  }
  return seen
}

for (const room of ['engine', 'connectors', 'server', 'bench']) {
  test(`no file of ${room} imports itself by way of others`, () => {
    const files = sources(room)
    expect(circles(files)).toEqual([])
  })
}

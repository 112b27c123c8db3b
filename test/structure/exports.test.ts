import { expect, test } from 'vitest'
import { imports, sources, textOf } from './sources.ts'

/** What other packages import, and the configuration of tools. */
const FACES = /(^|\/)(index|vite\.config)\.ts$/

test('everything exported is imported somewhere: what else is exported is dead, or only a part of its file', () => {
  const files = ['engine', 'connectors', 'server', 'bench', 'test', 'examples'].flatMap(sources)
  const importers = new Map<string, string[]>()
  for (const file of files) {
    for (const target of imports(file)) {
      importers.set(target, [...(importers.get(target) ?? []), file])
    }
  }
  const words = new Map(files.map((file) => [file, new Set(textOf(file).match(/\w+/g))]))
  const unused = files.flatMap((file) => {
    if (/^(test|bench|examples)\//.test(file) || FACES.test(file)) return []
    const exported = textOf(file).matchAll(/^export (?:async )?(?:function|const|class)\*? (\w+)/gm)
    const names = [...exported].map((match) => match[1]!)
    const by = importers.get(file) ?? []
    return names
      .filter((name) => !by.some((other) => words.get(other)!.has(name)))
      .map((name) => `${file}: ${name}`)
  })
  expect(unused).toEqual([])
})

import { basename, dirname } from 'node:path'
import { expect, test } from 'vitest'
import { sources } from './sources.ts'

const all = ['engine', 'connectors', 'server', 'bench', 'test'].flatMap(sources)

/** A folder of many more than fifteen is searched, not read. */
const MOST_FILES = 17

test(`no folder holds more than ${MOST_FILES} sources`, () => {
  const sizes = new Map<string, number>()
  for (const file of all) sizes.set(dirname(file), (sizes.get(dirname(file)) ?? 0) + 1)
  expect([...sizes].filter(([, size]) => size > MOST_FILES)).toEqual([])
})

test('names of files are in kebab case', () => {
  const wrong = all.filter(
    (file) => !/^[a-z0-9]+(-[a-z0-9]+)*(\.(d|config|test))?\.tsx?$/.test(basename(file)),
  )
  expect(wrong).toEqual([])
})

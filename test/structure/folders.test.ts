import { basename } from 'node:path'
import { expect, test } from 'vitest'
import { sources, textOf } from './sources.ts'

const all = ['engine', 'connectors', 'server', 'bench', 'test'].flatMap(sources)

test('names of files are in kebab case', () => {
  const wrong = all.filter(
    (file) => !/^[a-z0-9]+(-[a-z0-9]+)*(\.(d|config|test))?\.tsx?$/.test(basename(file)),
  )
  expect(wrong).toEqual([])
})

test('files have at most 400 lines', () => {
  const long = all.filter((file) => textOf(file).split('\n').length > 401)
  expect(long).toEqual([])
})

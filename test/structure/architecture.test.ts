import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root, textOf } from './sources.ts'

const page = textOf('ARCHITECTURE.md')

/** Paths in code marks: folders end with a slash, files with a point and some letters. */
function paths(text: string): string[] {
  return [...text.matchAll(/`((?:engine|connectors|server|bench|test|data)\/[\w./-]*)`/g)].map(
    (match) => match[1]!,
  )
}

test('each step of the walk names the files that a request meets in it', () => {
  const walk = page.split('## One request, followed')[1]!.split('\n## ')[0]!
  const steps = walk.split('\n').filter((line) => /^\d+\. /.test(line))
  expect(steps.length).toBeGreaterThan(5)
  expect(steps.filter((step) => paths(step).length === 0)).toEqual([])
})

test('the folders of the picture exist', () => {
  const picture = page.match(/```\nengine\/\n([\s\S]*?)```/)![0]
  const missing: string[] = []
  const at: string[] = []
  for (const [, indent, name] of picture.matchAll(/^( *)([\w.-]+\/?)(?= |$)/gm)) {
    at.splice(indent!.length / 2, at.length, name!.replace('/', ''))
    if (!existsSync(join(root, ...at))) missing.push(at.join('/'))
  }
  expect(missing).toEqual([])
})

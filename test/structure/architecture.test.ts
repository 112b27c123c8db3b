import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root, textOf } from './sources.ts'

const page = textOf('ARCHITECTURE.md')

/** Paths in code marks: folders end with a slash, files with a point and some letters. */
function paths(text: string): string[] {
  return [...text.matchAll(/`((?:engine|connectors|server|bench|test|data|docs)\/[\w./-]*)`/g)].map(
    (match) => match[1]!,
  )
}

test.each([
  'One request, followed',
  'One upload, followed',
])('%s: each step names the files in which it is done', (title) => {
  const walk = page.split(`## ${title}`)[1]!.split('\n## ')[0]!
  const steps = walk.split('\n').filter((line) => /^\d+\. /.test(line))
  expect(steps.length).toBeGreaterThan(5)
  expect(steps.filter((step) => paths(step).length === 0)).toEqual([])
})

test('files that are named without their folder exist', () => {
  const files = ['engine', 'connectors', 'server'].flatMap((room) =>
    readdirSync(join(root, room), { recursive: true, encoding: 'utf8' }).map((name) => `/${room}/${name}`),
  )
  const named = [...page.matchAll(/`([\w/-]+\.tsx?)`/g)].map((match) => match[1]!)
  expect(named.length).toBeGreaterThan(20)
  expect(named.filter((name) => !files.some((file) => file.endsWith(`/${name}`)))).toEqual([])
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

test('the page is short enough to be read in one go', () => {
  expect(page.split('\n').length).toBeLessThanOrEqual(151)
})

test('every decision is in the index, with its number and sections', () => {
  const index = textOf('docs/decisions/README.md')
  const files = readdirSync(join(root, 'docs/decisions')).filter((name) => name !== 'README.md')
  expect(files.filter((name) => !/^\d{4}-[\w-]+\.md$/.test(name) || !index.includes(`](${name})`))).toEqual(
    [],
  )
  const sections = ['Context', 'Decision', 'Figures', 'Consequences']
  const texts = files.map((name) => ({ name, text: textOf(`docs/decisions/${name}`) }))
  expect(texts.filter(({ text }) => sections.some((section) => !text.includes(`\n## ${section}\n`)))).toEqual(
    [],
  )
})

import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { testsOf } from '../mutation/areas.ts'

const root = resolve(import.meta.dirname, '../..')
const documents = execFileSync('git', ['ls-files', '--', '*.md'], { cwd: root, encoding: 'utf8' })
  .trim()
  .split('\n')

const ROOMS = 'engine|connectors|server|bench|test|docs|examples|data/samples|\\.github'

/** What lies in brackets after a text in brackets. Code blocks hold no links. */
function links(markdown: string): string[] {
  const prose = markdown.replace(/^```[\s\S]*?^```/gm, '').replace(/`[^`\n]*`/g, '')
  return [...prose.matchAll(/\]\(<?([^)\s>]+)>?\)/g)].map(([, target]) => target!)
}

/** The name that GitHub gives to a heading, for links to it. */
function anchors(markdown: string): Set<string> {
  const headings = markdown.replace(/^```[\s\S]*?^```/gm, '').matchAll(/^#+ +(.+)$/gm)
  return new Set(
    [...headings].map(([, title]) =>
      title!
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, '')
        .trim()
        .replaceAll(' ', '-'),
    ),
  )
}

/** Paths in backticks that begin with one of our folders: `engine/query.ts`, `server/routes/`. */
function paths(markdown: string): string[] {
  const named = markdown.matchAll(new RegExp(`\`((?:${ROOMS})/[\\w./-]*)\``, 'g'))
  return [...named].map(([, path]) => path!)
}

test('there are documents to read', () => {
  expect(documents).toEqual(expect.arrayContaining(['README.md', 'CONTRIBUTING.md', 'docs/glossary.md']))
})

describe.each(documents)('%s', (name) => {
  const file = join(root, name)
  const markdown = readFileSync(file, 'utf8')

  test('has links that lead somewhere', () => {
    const dead = links(markdown).filter((target) => {
      if (/^[a-z]+:/.test(target)) return false
      const [path, anchor] = target.split('#') as [string, string?]
      const at = path === '' ? file : resolve(dirname(file), path)
      if (!existsSync(at)) return true
      return anchor !== undefined && statSync(at).isFile() && !anchors(readFileSync(at, 'utf8')).has(anchor)
    })
    expect(dead).toEqual([])
  })

  // The changelog tells of what was, under the names that things had then.
  test.skipIf(name === 'CHANGELOG.md')('names files and folders that exist', () => {
    const missing = paths(markdown).filter((path) => !existsSync(join(root, path)))
    expect(missing.map((path) => relative(root, join(root, path)))).toEqual([])
  })
})

test('CONTRIBUTING.md says which tests belong to a folder, so that mutation tests find them', () => {
  const tests = ['test/filter', 'test/apply', 'test/differential']
  expect(testsOf('engine/filter')).toEqual(tests)
  expect(testsOf('engine/filter/sql/narrow.ts:70-90')).toEqual(tests)
  expect(testsOf('engine/query.ts')).toContain('test/plan')
  expect(testsOf('server/guards')).toContain('test/server')
  expect(testsOf('docs')).toEqual([])
  const folders = ['duckdb', 'sql', 'catalog', 'store', 'ingest'].flatMap((name) => testsOf(`engine/${name}`))
  expect(folders.filter((folder) => !existsSync(join(root, folder)))).toEqual([])
  expect(testsOf('engine/sql')).toEqual(['test/sql'])
})

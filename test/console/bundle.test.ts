import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { beforeAll, describe, expect, it } from 'vitest'
import { buildConsole } from './support/stage.ts'

const MOST_SCRIPT = 150_000

describe('the built console', () => {
  let dist: string
  beforeAll(async () => {
    dist = await buildConsole()
  }, 60_000)

  function files(ending: string): { name: string; text: string }[] {
    return readdirSync(dist, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith(ending))
      .map((name) => ({ name, text: readFileSync(join(dist, name), 'utf8') }))
  }

  it('is small: all of its script, compressed, views that are fetched later included', () => {
    const sizes = files('.js').map(({ text }) => gzipSync(text).length)
    expect(sizes.length).toBeGreaterThan(3)
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(MOST_SCRIPT)
  })

  it('has no script and no style in the page itself', () => {
    expect(files('index.html')[0]!.text).not.toMatch(/<style|<script(?![^>]*\bsrc=)|\sstyle=|\son\w+=/i)
  })

  it('names no host but those of XML namespaces', () => {
    const named = [...files('.js'), ...files('.css'), ...files('.html')].flatMap(({ text }) => [
      // The parser of Markdown says in its errors where to report them.
      ...text.replace(/report this to https:\/\/github\.com\/markedjs/g, '').matchAll(/https?:\/\/[\w.-]+/g),
    ])
    const hosts = new Set(named.map(([host]) => host))
    expect([...hosts].filter((host) => host !== 'http://www.w3.org')).toEqual([])
  })

  it('never makes code from text', () => {
    for (const { name, text } of files('.js')) expect(text, name).not.toMatch(/\beval\(|new Function\(/)
  })
})

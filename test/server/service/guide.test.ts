import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Platform, platform } from '../platform.ts'

const SCRIPT = 'document.documentElement.classList.add("dark")'

let at: Platform
beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parquetry-guide-'))
  mkdirSync(join(folder, 'errors'))
  writeFileSync(
    join(folder, 'index.html'),
    `<!doctype html><script id="dark">${SCRIPT}</script><title>Guide</title>`,
  )
  writeFileSync(join(folder, 'errors', 'not_found.html'), '<!doctype html><title>not_found</title>')
  at = await platform({ guide: folder })
})
afterAll(() => at[Symbol.asyncDispose]())

const get = (url: string) => at.call(undefined, 'GET', url)

it('the guide is served without a key, and only its own scripts may run', async () => {
  const page = await get('/guide/')
  expect(page.statusCode).toBe(200)
  const hash = createHash('sha256').update(SCRIPT).digest('base64')
  expect(page.headers['content-security-policy']).toContain(`script-src 'self' 'sha256-${hash}';`)
  expect((await get('/guide')).headers.location).toMatch(/\/guide\/$/)
})

it('an error links to the page about its code, which opens without an ending', async () => {
  const error = await at.call(at.root, 'GET', '/datasets/999')
  expect(error.statusCode).toBe(404)
  expect(error.headers.link).toBe('</guide/errors/not_found>; rel="help"')
  const page = await get('/guide/errors/not_found')
  expect(page.body).toContain('<title>not_found</title>')
  expect(page.headers['content-type']).toMatch(/^text\/html/)
})

it('a server without the guide links to none', async () => {
  await using other = await platform()
  expect((await other.call(other.root, 'GET', '/datasets/999')).headers.link).toBeUndefined()
})

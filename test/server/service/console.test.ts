import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Platform, platform } from '../platform.ts'

let at: Platform
beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parquetry-console-'))
  mkdirSync(join(folder, 'assets'))
  writeFileSync(join(folder, 'index.html'), '<!doctype html><title>Console</title>')
  writeFileSync(join(folder, 'assets', 'main.js'), 'start()')
  writeFileSync(join(folder, 'assets', 'main.js.gz'), gzipSync('start()'))
  at = await platform({ console: folder })
})
afterAll(() => at[Symbol.asyncDispose]())

const get = (url: string) => at.call(undefined, 'GET', url)

it('the console is served without a key, under a policy that lets it load its own files alone', async () => {
  const page = await get('/console/')
  expect(page.statusCode).toBe(200)
  expect(page.headers['content-type']).toMatch(/^text\/html/)
  expect(page.headers['content-security-policy']).toMatch(/^default-src 'none'; script-src 'self';/)
  expect(page.headers['content-security-policy']).not.toMatch(/unsafe|\*/)
  const script = await get('/console/assets/main.js')
  expect(script.body).toBe('start()')
  expect(script.headers['content-type']).toMatch(/javascript/)
  expect(script.headers['cache-control']).toBe('public, max-age=31536000, immutable')
  expect(page.headers['cache-control']).toBe('public, max-age=0')
})

it('scripts are sent compressed where the browser takes it', async () => {
  const headers = { 'accept-encoding': 'gzip, deflate' }
  const script = await at.call(undefined, 'GET', '/console/assets/main.js', { headers })
  expect(script.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'accept-encoding' })
  expect(script.headers['content-type']).toMatch(/javascript/)
  expect(gunzipSync(script.rawPayload).toString()).toBe('start()')
  expect((await at.call(undefined, 'GET', '/console/', { headers })).body).toContain('<title>Console</title>')
})

it('the address of the service leads to it', async () => {
  const response = await get('/')
  expect(response.statusCode).toBe(302)
  expect(response.headers.location).toBe('/console/')
  expect((await get('/console')).headers.location).toMatch(/\/console\/$/)
})

it('nothing outside of its folder is served', async () => {
  for (const path of [
    '/console/../catalog.sqlite',
    '/console/%2e%2e/catalog.sqlite',
    '/console/..%2f..%2fetc/passwd',
    '/console/nothing.js',
  ]) {
    const { statusCode } = await get(path)
    expect(statusCode, path).toBeGreaterThanOrEqual(400)
    expect(statusCode, path).toBeLessThan(500)
  }
})

it('a file that is not there is 404, in one sentence', async () => {
  const response = await get('/console/nothing.js')
  expect(response.statusCode).toBe(404)
  expect(response.json()).toEqual({ error: 'There is nothing at this path.', code: 'unknown_path' })
})

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { visit, withoutBrowser } from './support/browser.ts'
import { FRED, openStage, ROOT_KEY, type Stage } from './support/stage.ts'

let stage: Stage
beforeAll(async () => {
  stage = await openStage(FRED)
})
afterAll(() => stage[Symbol.asyncDispose]())

/** A page of somebody else, on another port of the same host: for cookies and logins the same site. */
async function page(script: string): Promise<{ url: string } & Disposable> {
  const server = createServer((_request, response) => {
    response
      .writeHead(200, { 'content-type': 'text/html' })
      .end(`<!doctype html><title>wait</title><body><script>${script}</script>`)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/`, [Symbol.dispose]: () => server.close() }
}

const target = () => `${stage.server.url}/account/api-key`

it.skipIf(withoutBrowser()).each<[string, () => string, unknown]>([
  [
    'a request without a body',
    () => `fetch('${target()}', { method: 'POST', mode: 'no-cors', credentials: 'include' })
      .finally(() => { document.title = 'done' })`,
    'net::ERR_BLOCKED_BY_RESPONSE.NotSameOrigin',
  ],
  [
    'a form',
    () => `const form = document.createElement('form'); form.method = 'post'; form.action = '${target()}'
      document.body.append(form); form.submit()`,
    403,
  ],
])(
  "%s from another site's page changes nothing for a browser that is logged in",
  async (_, script, expected) => {
    await using own = await visit(stage.server.url)
    // The browser keeps a login that it was given with the address, as one that was typed into its window.
    const logged = await own.page.goto(`${stage.server.url.replace('//', `//${ROOT_KEY}:@`)}/account`)
    expect(logged!.status()).toBe(200)
    expect((await own.page.goto(`${stage.server.url}/account`))!.status(), 'the login is kept').toBe(200)

    using hostile = await page(script())
    const tab = await own.page.context().newPage()
    const { promise: tried, resolve } = Promise.withResolvers<unknown>()
    tab.on('response', (response) => response.url() === target() && resolve(response.status()))
    // Chromium shows pages of others no response to a script, because of Cross-Origin-Resource-Policy.
    tab.on('requestfailed', (request) => request.url() === target() && resolve(request.failure()?.errorText))
    await tab.goto(hostile.url)
    // Without the login, which the browser sends by itself, it would be 401.
    expect(await tried).toBe(expected)
    expect((await stage.api('GET', '/account')).status, 'the key is still the same').toBe(200)
  },
)

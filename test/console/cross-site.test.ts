import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
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

/** The status of the next answer of the server at the target, which the browser may keep from the page. */
function answered(): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>()
  const listen = (message: unknown) => {
    const { request, response } = message as { request: IncomingMessage; response: ServerResponse }
    if (request.url !== '/account/api-key') return
    unsubscribe('http.server.response.finish', listen)
    resolve(response.statusCode)
  }
  subscribe('http.server.response.finish', listen)
  return promise
}

it.skipIf(withoutBrowser()).each([
  [
    'a request without a body',
    () => `fetch('${target()}', { method: 'POST', mode: 'no-cors', credentials: 'include' })`,
  ],
  [
    'a form',
    () => `const form = document.createElement('form'); form.method = 'post'; form.action = '${target()}'
      document.body.append(form); form.submit()`,
  ],
])("%s from another site's page changes nothing for a browser that is logged in", async (_, script) => {
  await using own = await visit(stage.server.url)
  // The browser keeps a login that it was given with the address, as one that was typed into its window.
  const logged = await own.page.goto(`${stage.server.url.replace('//', `//${ROOT_KEY}:@`)}/account`)
  expect(logged!.status()).toBe(200)
  expect((await own.page.goto(`${stage.server.url}/account`))!.status(), 'the login is kept').toBe(200)

  using hostile = await page(script())
  const tab = await own.page.context().newPage()
  const status = answered()
  await tab.goto(hostile.url)
  // Without the login, which the browser sends by itself, it would be 401.
  expect(await status).toBe(403)
  expect((await stage.api('GET', '/account')).status, 'the key is still the same').toBe(200)
})

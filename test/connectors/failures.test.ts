import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { failureOf, type HarnessOptions, harness } from './support/harness.ts'
import type { Reply, Routes } from './support/upstream.ts'

const EURO = JSON.stringify({ EUR: 'Euro', ISK: 'Íslensk króna' })
const euro: Reply = { body: EURO, type: 'application/json' }
const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** For what never comes: on a busy machine, what comes may take longer. */
const quick = { timeouts: { connectMs: 300, headersMs: 300, bodyMs: 300 } }
const open = (reply: Reply | Routes[string], options: HarnessOptions = {}) =>
  harness('frankfurter', { '*': reply }, options)
type Harness = Awaited<ReturnType<typeof open>>
const browse = (at: Harness) => at.connectors.browse('frankfurter', '')

async function timed<T>(work: Promise<T>): Promise<[T, number]> {
  const start = performance.now()
  return [await work, performance.now() - start]
}

describe('a provider that', () => {
  it('hangs is given up: 504, after the timeout and without another attempt', async () => {
    await using at = await open({ raw: () => undefined }, quick)
    const [error, took] = await timed(failureOf(browse(at)))
    expect(error).toMatchObject({ code: 'provider_slow', status: 504, provider: 'frankfurter' })
    expect(took).toBeLessThan(1500)
    expect(at.upstream.requests).toHaveLength(1)
  })

  it('drips its body is cut: 504, however steadily it drips', async () => {
    let isCut = false
    const raw: Reply['raw'] = (response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      const drip = setInterval(() => response.write('['), 20)
      response.on('close', () => {
        clearInterval(drip)
        isCut = true
      })
    }
    await using at = await open({ raw }, quick)
    const [error, took] = await timed(failureOf(browse(at)))
    expect(error).toMatchObject({ code: 'provider_slow', status: 504 })
    expect(took).toBeLessThan(1500)
    await wait(50)
    expect(isCut).toBe(true)
  })

  it('answers 2 GB is cut at the limit: 504, with little memory', async () => {
    let sent = 0
    await using at = await open(
      {
        raw: (response) => {
          response.writeHead(200, { 'content-type': 'application/json' })
          const chunk = Buffer.alloc(1 << 20, '[')
          const pour = () => {
            while (sent < 2 ** 31 && !response.destroyed) {
              sent += chunk.length
              if (!response.write(chunk)) return
            }
            if (!response.destroyed) response.end()
          }
          response.on('drain', pour)
          pour()
        },
      },
      { maxAnswerBytes: 4 << 20 },
    )
    const error = await failureOf(browse(at))
    expect(error).toMatchObject({ code: 'answer_too_large', status: 504 })
    expect(error.message).toContain('start and end')
    expect(sent).toBeLessThan(64 << 20)
    expect(at.upstream.requests).toHaveLength(1)
  })

  it('announces 2 GB is cut before they come', async () => {
    await using at = await open({
      raw: (response) => {
        response.writeHead(200, { 'content-length': String(2 ** 31) })
        response.write('[')
      },
    })
    expect(await failureOf(browse(at))).toMatchObject({ code: 'answer_too_large' })
  })

  it('packs 2 GB into 2 MB is cut as it is unpacked', async () => {
    const bomb = gzipSync(Buffer.alloc(64 << 20, ' '))
    await using at = await open(
      { body: bomb, headers: { 'content-encoding': 'gzip' } },
      { maxAnswerBytes: 4 << 20 },
    )
    expect(bomb.length).toBeLessThan(1 << 20)
    expect(await failureOf(browse(at))).toMatchObject({ code: 'answer_too_large' })
  })

  it.each([
    [
      'in the body',
      (): Reply['raw'] => (response) => {
        response.writeHead(200, { 'content-length': '1000' })
        response.write('{"EUR":')
        setTimeout(() => response.destroy(), 10)
      },
    ],
    ['before the headers', (): Reply['raw'] => (response) => void response.destroy()],
  ])('closes early, %s, is asked again, and then is down: 503', async (_, raw) => {
    await using at = await open({ raw: raw()! })
    expect(await failureOf(browse(at))).toMatchObject({ code: 'provider_down', status: 503 })
    expect(at.upstream.requests).toHaveLength(3)
    at.upstream.routes = { '*': euro }
    expect((await browse(at)).categories).toHaveLength(3)
  })

  it('fails once is asked again', async () => {
    let count = 0
    await using at = await open(() => (++count === 1 ? { status: 502, body: '<html>' } : euro))
    expect((await browse(at)).categories).toHaveLength(3)
  })

  it('is not there is down: 503', async () => {
    await using at = await open(euro)
    await at.upstream.close()
    const error = await failureOf(browse(at))
    expect(error).toMatchObject({ code: 'provider_down', status: 503 })
    expect(error.message).toBe(
      'Frankfurter can not be reached from this server. Try again later, or see whether it has access to the internet.',
    )
  })

  it('can not be reached again and again: says so, and for how long it is not asked', async () => {
    const breaker = { failures: 2, cooldownMs: 60_000, longestCooldownMs: 60_000 }
    await using at = await open(euro, { breaker })
    await at.upstream.close()
    let error = await failureOf(browse(at))
    for (let tries = 0; tries < 5; tries++) error = await failureOf(browse(at))
    expect(error).toMatchObject({ code: 'provider_down', status: 503 })
    expect(error.message).toMatch(
      /^Frankfurter can not be reached from this server. After several attempts, it is not asked for \d+ s\.$/,
    )
  })

  it('answers 500 for a while costs nothing meanwhile, and is asked again by itself', async () => {
    const breaker = { failures: 6, cooldownMs: 250, longestCooldownMs: 1000 }
    await using at = await open({ status: 500, body: 'oops' }, { breaker })
    for (let index = 0; index < 2; index++) {
      expect(await failureOf(at.connectors.browse('frankfurter', ''))).toMatchObject({
        code: 'provider_down',
      })
    }
    expect(at.upstream.requests).toHaveLength(6)
    expect(at.connectors.stats().providers.find(({ provider }) => provider === 'frankfurter')?.breaker).toBe(
      'open',
    )
    const [errors, took] = await timed(Promise.all(Array.from({ length: 200 }, () => failureOf(browse(at)))))
    expect(new Set(errors.map(({ status }) => status))).toEqual(new Set([503]))
    expect(errors[0]!.retryAfter).toBe(1)
    expect(took).toBeLessThan(200)
    expect(at.upstream.requests).toHaveLength(6)
    await wait(260)
    // One probe, however many ask.
    const pairs = Array.from({ length: 20 }, (_, index) =>
      failureOf(at.connectors.browse('frankfurter', `X${index}`)),
    )
    await Promise.all(pairs)
    expect(at.upstream.requests).toHaveLength(7)
    at.upstream.routes = { '*': euro }
    await wait(520)
    expect((await browse(at)).categories).toHaveLength(3)
    expect(at.connectors.stats().providers.find(({ provider }) => provider === 'frankfurter')?.breaker).toBe(
      'closed',
    )
  })

  it('hangs for everybody holds nobody longer than its timeouts, and others not at all', async () => {
    await using other = await harness('dbnomics', { '*': { body: { providers: { docs: [] } } } })
    await using at = await open({ raw: () => undefined }, quick)
    const stuck = Array.from({ length: 100 }, (_, index) =>
      failureOf(at.connectors.series('frankfurter', 'EUR/USD', { start: `20${10 + (index % 90)}-01-01` })),
    )
    expect((await other.connectors.browse('dbnomics', '')).categories).toEqual([])
    const [errors, took] = await timed(Promise.all(stuck))
    for (const { status } of errors) expect([503, 504]).toContain(status)
    expect(took).toBeLessThan(3000)
  })
})

describe('an answer', () => {
  it.each([
    ['markup', { body: '<!DOCTYPE html><title>Down</title>', type: 'text/html' }],
    ['cut off', { body: EURO.slice(0, 20), type: 'application/json' }],
    ['empty', { body: '', type: 'application/json' }],
    ['nothing at all: 204', { status: 204, body: undefined }],
    [
      'no gzip although it is valid in no other way',
      { body: gzipSync(EURO).subarray(0, 20), headers: { 'content-encoding': 'gzip' } },
    ],
    ['packed in a way that nobody asked for', { body: EURO, headers: { 'content-encoding': 'compress' } }],
  ] satisfies [string, Reply][])('that is %s is not understood: 500', async (_, reply) => {
    await using at = await open(reply)
    const error = await failureOf(browse(at))
    expect(error).toMatchObject({ code: 'not_understood', status: 500 })
    expect(error.message).toMatch(/^The response of (Frankfurter|the provider) could not be understood\.$/)
  })

  it.each([
    ['gzip', 'gzip', gzipSync(EURO)],
    ['br', 'br', brotliCompressSync(EURO)],
    ['deflate', 'deflate', deflateSync(EURO)],
    ['deflate without its wrapper', 'deflate', deflateRawSync(EURO)],
    ['gzip of gzip', 'gzip, gzip', gzipSync(gzipSync(EURO))],
    ['gzip that is not announced', undefined, gzipSync(EURO)],
    ['gzip that is announced and is not there', 'gzip', Buffer.from(EURO)],
  ])('packed as %s is unpacked', async (_, encoding, body) => {
    await using at = await open({
      body,
      headers: encoding === undefined ? {} : { 'content-encoding': encoding },
    })
    expect((await browse(at)).categories[1]?.name).toBe('Íslensk króna')
  })

  it.each([
    ['UTF-8', 'application/json; charset=utf-8', Buffer.from(EURO)],
    ['UTF-8 that calls itself Latin-1', 'application/json; charset=iso-8859-1', Buffer.from(EURO)],
    ['Latin-1', 'application/json; charset=iso-8859-1', Buffer.from(EURO, 'latin1')],
    ['Latin-1 that calls itself UTF-8', 'application/json; charset=utf-8', Buffer.from(EURO, 'latin1')],
    ['UTF-8 with a mark', 'application/json', Buffer.from(`\uFEFF${EURO}`)],
    ['UTF-16 with a mark', 'application/json', Buffer.from(`\uFEFF${EURO}`, 'utf16le')],
    ['UTF-16 by its name', 'application/json; charset="utf-16le"', Buffer.from(EURO, 'utf16le')],
    ['UTF-8 with a charset that does not exist', 'application/json; charset=klingon', Buffer.from(EURO)],
  ])('in %s is read', async (_, type, body) => {
    await using at = await open({ body, type })
    expect((await browse(at)).categories[1]?.name).toBe('Íslensk króna')
  })
})

describe('a redirect', () => {
  const redirect = (location: string): Reply => ({ status: 302, body: '', headers: { location } })
  const openBelow = (location: string) =>
    harness('frankfurter', { '/api/v1/currencies': redirect(location), '*': euro }, { base: '/api' })

  it('below the base address is followed', async () => {
    await using at = await openBelow('/api/v1/moved?x=1')
    expect((await browse(at)).categories).toHaveLength(3)
    expect(at.upstream.requests.at(-1)?.url).toBe('/api/v1/moved?x=1')
  })

  it.each([
    '/v1/elsewhere',
    '../../up',
    '/api/../up',
    '/apiary',
    '//127.0.0.2/api/',
    'http://localhost/api/v1',
    'file:///etc/passwd',
    'http://[',
  ])('to %s is refused', async (location) => {
    await using at = await openBelow(location)
    expect(await failureOf(browse(at))).toMatchObject({ code: 'not_understood', status: 500 })
    expect(at.upstream.requests).toHaveLength(1)
  })

  it('in a circle ends', async () => {
    await using at = await openBelow('/api/v1/currencies')
    expect(await failureOf(browse(at))).toMatchObject({ code: 'not_understood' })
    expect(at.upstream.requests.length).toBeLessThan(6)
  })
})

import { describe, expect, it } from 'vitest'
import { notUnderstood, sanitised } from '../../connectors/failures.ts'
import { type ConnectorEvent, openConnectors } from '../../connectors/index.ts'
import { memoryStore } from '../../connectors/pipeline/window.ts'
import { failureOf } from './support/harness.ts'
import { type Reply, startUpstream } from './support/upstream.ts'

const CANARY = 'canary'
const KEY = 'canary-service-key+/='
const OWN = 'canary-own-key'

/** Everything that an error or an event shows, its causes and its stack included. */
function shown(value: unknown): string {
  if (!(value instanceof Error)) return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
  const fields = Object.entries(value).map(([name, each]) => `${name}=${shown(each)}`)
  return [value.name, value.message, ...fields, shown(value.cause)].join(' ')
}

const REPLIES: Record<string, Reply> = {
  'a page with a token': {
    body: '<html>token=canary-token http://canary.internal/x</html>',
    type: 'text/html',
  },
  'an error that repeats the key': {
    status: 400,
    body: { error_message: `bad ${KEY} ${OWN}`, message: `${KEY}` },
  },
  'an error of 500': { status: 500, body: 'canary-stack-trace at http://canary.internal' },
  'a refusal': { status: 403, body: `canary ${KEY}` },
  'a limit': { status: 429, body: `canary ${KEY}` },
  'a redirect': { status: 302, body: '', headers: { location: 'http://canary.internal/secret' } },
  'a cut': { raw: (response) => void response.destroy() },
  silence: { raw: () => undefined },
  'cut-off JSON': { body: '{"canary-token": "canary', type: 'application/json' },
  'an unexpected shape': {
    body: { canary: [{ canary: 'canary-token' }], status: 'CANARY', Information: `canary ${KEY}` },
  },
}

describe('keys, tokens and upstream addresses', () => {
  it.each(Object.entries(REPLIES))('are in no error and no event after %s', async (_, reply) => {
    const upstream = await startUpstream({ '*': reply })
    const host = new URL(upstream.url).host
    const events: ConnectorEvent[] = []
    const kept: string[] = []
    const store = memoryStore()
    const slugs = openConnectors().list()
    const connectors = openConnectors({
      overrides: Object.fromEntries(
        slugs.map(({ slug, key }) => [
          slug,
          { baseUrl: `${upstream.url}/canary-path`, ...(key === 'none' ? {} : { key: KEY }) },
        ]),
      ),
      retry: { attempts: 1 },
      timeouts: { headersMs: 50, bodyMs: 50 },
      limitStore: {
        seen: store.seen,
        exclusively: (name, work) =>
          store.exclusively(name, (entries) =>
            work({
              load: entries.load,
              save: (key, consumed, expiresAt) => {
                kept.push(key)
                entries.save(key, consumed, expiresAt)
              },
            }),
          ),
      },
      log: (event) => events.push(event),
    })
    const ids: Record<string, string> = {
      worldbank: 'US/X',
      ecb: 'EXR/M.USD.EUR.SP00.A',
      oecd: 'OECD.SDD,DF,/A',
      eurostat: 'X/A',
      imf: 'IMF.STA,CPI,1.0/A',
      bis: 'BIS,WS_CBPOL,1.0/M.US',
      'norges-bank': 'EXR/B.USD.NOK.SP',
      ilo: 'DF_X/A',
      dbnomics: 'a/b/c',
      alphavantage: 'TIME_SERIES_DAILY/IBM',
      nasdaq: 'FRED/GDP',
      'us-treasury': 'v2/accounting/od/debt_to_penny',
      statcan: 'v1',
      frankfurter: 'EUR/USD',
    }
    const userKey = { owner: 'ann', key: OWN }
    const errors = await Promise.all(
      slugs.flatMap(({ slug }) => [
        failureOf(connectors.series(slug, ids[slug] ?? 'X1')),
        failureOf(connectors.series(slug, ids[slug] ?? 'X1', {}, { userKey })),
      ]),
    )
    await connectors.close()
    await upstream.close()
    expect(errors).toHaveLength(2 * openConnectors().list().length)
    for (const text of [
      ...errors.map(shown),
      ...events.map((event) => shown(event) + shown(event.cause)),
      ...kept,
    ]) {
      expect(text.toLowerCase()).not.toContain(CANARY)
      expect(text).not.toContain(host)
      expect(text).not.toMatch(/https?:|127\.0\.0\.1/)
      expect(text).not.toMatch(/\bat .*\.ts:\d+/)
    }
  })

  it('shows no part of a secret that crosses the end of a long cause', () => {
    const provider = { slug: 'x', name: 'Xbank', key: 'required' } as const
    for (let length = 440; length <= 520; length++) {
      const cause = new Error(`${'.'.repeat(length)}${OWN}${'.'.repeat(100)}`)
      const { cause: text } = sanitised(notUnderstood('it', cause), { provider }, [OWN])
      expect(String(text)).not.toContain(OWN.slice(0, 3))
      expect(String(text).length).toBeLessThanOrEqual(500)
    }
  })
})

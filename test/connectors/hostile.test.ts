import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Failure, sanitised } from '../../connectors/failures.ts'
import { ConnectorError, openConnectors } from '../../connectors/index.ts'
import { addressOf, isBelow } from '../../connectors/pipeline/address.ts'
import { CONNECTOR_STATUSES } from '../../server/http/errors.ts'
import { startUpstream } from './support/upstream.ts'

const HOSTILE = [
  '../../admin',
  '..',
  '.',
  './x',
  'a/../../../etc/passwd',
  'a/..',
  '//evil.example/x',
  'http://evil.example/',
  'user@evil.example',
  '@evil.example/x',
  'x#fragment',
  'x?api_key=1',
  'x&api_key=1',
  'x\r\nHost: evil.example',
  'x\r\n\r\nGET /admin HTTP/1.1',
  '%2e%2e/%2e%2e/admin',
  '%2e%2e%2fadmin',
  '%252e%252e%252fadmin',
  '..%2f..%2fadmin',
  '..\\..\\admin',
  '%2F%2Fevil.example',
  '%0d%0aHost:evil.example',
  'a%00b',
  'a\u0000b',
  '\ud800',
  'x\ud800/y',
  '﹒﹒/x',
  '．．/x',
  'x;/../y',
  ' ',
  'x'.repeat(2001),
  '',
  '/',
  '///',
]
/** The shapes of real ids, so that what is hostile gets past the first check of their form. */
const FRAMES = [
  '@',
  'US/@',
  'a/b/@',
  'EXR/@',
  'A,B,1.0/@',
  '@/X',
  'TIME_SERIES_DAILY/@',
  'v2/a/b/c/@',
  'groups/@',
]

describe('a hostile id', () => {
  it('never leaves the configured address, with any provider', async () => {
    const base = '/base/path'
    const upstream = await startUpstream({ '*': { status: 404, body: {} } })
    const slugs = openConnectors()
      .list()
      .map(({ slug }) => slug)
    const override = { baseUrl: upstream.url + base, key: 'k', limits: { windows: [], withKey: [] } }
    const connectors = openConnectors({
      overrides: Object.fromEntries(slugs.map((slug) => [slug, override])),
      retry: { attempts: 1 },
    })
    const problems: string[] = []
    const attempt = async (what: string, work: Promise<unknown>) => {
      try {
        await work
      } catch (error) {
        const isFine =
          error instanceof ConnectorError && [400, 404, 500].includes(CONNECTOR_STATUSES[error.code])
        if (!isFine) problems.push(`${what}: ${error}`)
      }
    }
    for (const slug of slugs) {
      for (const hostile of HOSTILE) {
        for (const frame of FRAMES) {
          const id = frame.replace('@', () => hostile)
          await attempt(`${slug} series ${id}`, connectors.series(slug, id))
          await attempt(`${slug} browse ${id}`, connectors.browse(slug, id))
        }
        await attempt(
          `${slug} list ${hostile}`,
          connectors.seriesList(slug, hostile, { limit: 1, offset: 0 }),
        )
      }
    }
    await connectors.close()
    await upstream.close()
    expect(problems).toEqual([])
    expect(upstream.requests.length).toBeGreaterThan(100)
    for (const { url, headers } of upstream.requests) {
      const { host, pathname } = new URL(upstream.url + url)
      expect(`http://${headers.host}`).toBe(upstream.url)
      expect(`http://${host}`).toBe(upstream.url)
      expect(pathname === base || pathname.startsWith(`${base}/`)).toBe(true)
      // Nor does it for a server that decodes once or twice more before it resolves dots.
      const twice = decodeURIComponent(
        decodeURIComponent(url.split('?')[0]!.replace(/%(?![0-9a-f]{2})/gi, '%25')).replace(
          /%(?![0-9a-f]{2})/gi,
          '%25',
        ),
      )
      expect(new URL(twice.replaceAll('#', ''), upstream.url).pathname.startsWith(base)).toBe(true)
    }
  }, 60_000)
})

describe('an address', () => {
  const base = new URL('https://provider.example/api/v2')

  it('is below its base whatever the segments hold, or is refused', () => {
    const piece = fc.oneof(fc.constantFrom(...HOSTILE), fc.string({ unit: 'binary' }), fc.string())
    fc.assert(
      fc.property(
        fc.array(piece, { minLength: 1, maxLength: 5 }),
        fc.dictionary(piece, piece),
        (path, query) => {
          let address: URL
          try {
            address = addressOf(base, { path, query })
          } catch (error) {
            expect(error).toMatchObject({ code: 'invalid_series_id' })
            return
          }
          expect(isBelow(base, address)).toBe(true)
          expect(address.host).toBe(base.host)
          expect(address.hash).toBe('')
          expect(`${address.pathname}${address.search}`).toMatch(/^[\x21-\x7e]*$/)
          expect(new URL(address.href).href).toBe(address.href)
          // Each segment is one segment again on the other side.
          expect(address.pathname.split('/').slice(3).map(decodeURIComponent)).toEqual(path)
        },
      ),
    )
  })

  it('keeps the characters of SDMX keys as they are written', () => {
    const path = ['data', 'OECD.SDD.STES,DSD_STES@DF_CLI,', 'USA.M.LI+XX..:$']
    expect(addressOf(base, { path }).href).toBe(`https://provider.example/api/v2/${path.join('/')}`)
  })

  it('may end with a slash, and may be the base itself', () => {
    expect(addressOf(base, { path: ['a', ''] }).pathname).toBe('/api/v2/a/')
    expect(addressOf(base, { path: [], query: { a: 1 } }).href).toBe('https://provider.example/api/v2?a=1')
    expect(() => addressOf(base, { path: ['', 'a'] })).toThrow(
      expect.objectContaining({ kind: 'unsafe', options: { what: '' } }),
    )
  })

  it('that is refused is told with the part that is wrong', () => {
    const provider = { slug: 'x', name: 'Xbank', key: 'none' } as const
    const failure = new Failure('unsafe', { what: '..' })
    expect(sanitised(failure, { provider, subject: 'a/../b' }, [])).toMatchObject({
      code: 'invalid_series_id',
      message: "Xbank: '..' can not be part of an id.",
    })
  })

  it('repeats a parameter that has several values', () => {
    const query = { a: ['1', '2'], b: undefined, 'page[size]': 3 }
    expect(addressOf(base, { path: ['x'], query }).search).toBe('?a=1&a=2&page%5Bsize%5D=3')
  })
})

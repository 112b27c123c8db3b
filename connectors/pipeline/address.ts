import type { UpstreamRequest } from '../connector.ts'
import { Failure } from '../failures.ts'

/** Characters of RFC 3986's pchar that `encodeURIComponent` escapes without need. SDMX keys contain them. */
const NEEDLESS = /%(?:24|26|2B|2C|3A|3B|3D|40)/g

/**
 * The address of a request: base, then each segment percent-encoded, then the query. Whatever the segments contain, the
 * result is on the host and below the path of `base`; throws `invalid_series_id` for segments that a server could read
 * as a step out of that path.
 */
export function addressOf(
  provider: URL,
  request: Pick<UpstreamRequest, 'path' | 'query' | 'root' | 'host'>,
): URL {
  const base = rootOf(provider, request)
  const last = request.path.length - 1
  const path = request.path.map((segment, index) =>
    segment === '' && index === last && index > 0 ? '' : encodeSegment(segment),
  )
  const address = new URL(base)
  if (path.length > 0) address.pathname = `${basePath(base)}${path.join('/')}`
  address.search = encodeQuery(request.query ?? {})
  return address
}

/** The base address that a request must stay below. */
export function rootOf(base: URL, { root, host }: Pick<UpstreamRequest, 'root' | 'host'>): URL {
  const address = root === undefined ? new URL(base) : new URL(root, `${base.origin}${basePath(base)}`)
  if (host !== undefined) address.host = host
  return address
}

/** Whether the target of a redirect is on the same origin as `base` and below its path. */
export function isBelow(base: URL, address: URL): boolean {
  return address.origin === base.origin && address.pathname.startsWith(basePath(base))
}

function basePath(base: URL): string {
  return base.pathname.endsWith('/') ? base.pathname : `${base.pathname}/`
}

function encodeSegment(segment: string): string {
  // Some servers decode a segment more than once before they resolve dots, so we decode it fully before we check it.
  for (let text = segment; ; ) {
    const isStep = text.split(/[/\\]/).some((piece) => piece === '.' || piece === '..')
    if (text === '' || isStep || /[\u0000-\u001f\u007f]/.test(text) || !text.isWellFormed()) {
      throw new Failure('unsafe', { what: segment })
    }
    const next = decoded(text)
    if (next === text) break
    text = next
  }
  return encodeURIComponent(segment).replace(NEEDLESS, decodeURIComponent)
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    // The text isn't valid percent-encoding throughout, so decode the parts that are, as a lenient server would.
    return text.replace(/%[0-7][0-9a-f]/gi, decodeURIComponent)
  }
}

function encodeQuery(query: NonNullable<UpstreamRequest['query']>): string {
  return Object.entries(query)
    .flatMap(([name, value]) => {
      if (value === undefined) return []
      return (Array.isArray(value) ? value : [value]).map((each) => `${encode(name)}=${encode(String(each))}`)
    })
    .join('&')
}

function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed())
}

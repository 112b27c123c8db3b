import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { isIP, type LookupFunction } from 'node:net'
import { hint, httpWords } from '../../engine/errors.ts'
import { EngineError, uploadFormatOf } from '../../engine/index.ts'
import type { Config } from '../config/schema.ts'
import { UPLOAD_TYPES } from '../transfers/formats.ts'
import { INTERNET, isPrivate, type Network } from './networks.ts'

/** A file at an address, and what its server said of it when it was last read. */
export interface FollowedAddress {
  readonly url: string
  readonly mode: 'replace' | 'append' | 'upsert'
  /** The options of an upload, as in a query string. */
  readonly options: Readonly<Record<string, string>>
  readonly etag?: string | undefined
  readonly lastModified?: string | undefined
}

/** Why a file could not be read, in a sentence for users. */
export class FetchFailure extends Error {}

type Hosts = Config['sources']

/**
 * An address that may be followed.
 * @throws FetchFailure where the configuration does not allow it
 */
export function checkedAddress(text: string, { hosts, privateHosts }: Hosts): URL {
  const url = URL.parse(text)
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw new FetchFailure(
      `url must be an address that begins with https:// or http://; it is ${JSON.stringify(text.slice(0, 200))}.`,
    )
  }
  if (url.username !== '' || url.password !== '')
    throw new FetchFailure('url must not contain a user name or a password.')
  const host = hostOf(url)
  if (privateHosts.includes(host)) return url
  if (hosts.length > 0 && !hosts.includes(host)) {
    throw new FetchFailure(
      `This server follows no addresses of ${host}; sources.hosts in its configuration lists those that it follows.`,
    )
  }
  if (isIP(host) > 0 && isPrivate(host)) throw atPrivate(host)
  return url
}

const hostOf = ({ hostname }: URL) => hostname.replace(/^\[(.*)\]$/, '$1')

function atPrivate(host: string): FetchFailure {
  return new FetchFailure(
    `${host} is in a private network; the operator allows it with sources.privateHosts in the file that PARQUETRY_CONFIG names.`,
  )
}

const REDIRECTS = 3

/**
 * Requests a file. Undefined if it has not changed since it was last read. `digest` is that of the bytes read so far.
 * @throws FetchFailure
 */
export async function fetchAddress(
  followed: Pick<FollowedAddress, 'url' | 'etag' | 'lastModified'>,
  { sources, limits, timeouts }: Pick<Config, 'sources' | 'limits' | 'timeouts'>,
  signal: AbortSignal,
  network: Network = INTERNET,
) {
  let url = checkedAddress(followed.url, sources)
  const all = AbortSignal.any([signal, AbortSignal.timeout(timeouts.transfer)])
  const headers = {
    'user-agent': 'parquetry',
    ...(followed.etag && { 'if-none-match': followed.etag }),
    ...(followed.lastModified && { 'if-modified-since': followed.lastModified }),
  }
  for (let hops = 0; hops <= REDIRECTS; hops++) {
    const response = await ask(url, headers, { ...sources, ...network }, all, timeouts.provider)
    const { statusCode = 0, headers: answered } = response
    if (statusCode === 200) return fetched(response, url, limits.uploadBytes)
    response.destroy()
    if (statusCode === 304) return undefined
    const target = statusCode > 300 && statusCode < 400 ? URL.parse(answered.location ?? '', url) : null
    if (!target) throw new FetchFailure(`${url.host} answered with status ${statusCode}.`)
    if (target.origin !== url.origin) {
      throw new FetchFailure(
        `${url.host} redirects to ${target.host}, which is another server. Follow its address instead.`,
      )
    }
    url = target
  }
  throw new FetchFailure(`${url.host} redirects more than ${REDIRECTS} times.`)
}

async function ask(
  url: URL,
  headers: Record<string, string>,
  { privateHosts, lookup, isPrivate }: Hosts & Network,
  signal: AbortSignal,
  timeout: number,
): Promise<IncomingMessage> {
  const host = hostOf(url)
  // What is checked is the address to which the connection goes, so that a name can't mean another one then.
  const checked: LookupFunction = (name, options, done) =>
    lookup(name, { ...options, all: true }, (error, found) => {
      if (error) return done(error, [])
      const refused = !privateHosts.includes(host) && found.some(({ address }) => isPrivate(address))
      if (refused) return done(unreachable(url), [])
      return options.all ? done(null, found) : done(null, found[0]!.address, found[0]!.family)
    })
  // Imported at a start, node:http costs 20 ms: all that it exports is looked at, so Node loads its WebSocket.
  const { request: send } = await (url.protocol === 'https:' ? import('node:https') : import('node:http'))
  return new Promise((resolve, reject) => {
    const request = send(url, { headers, lookup: checked, signal, timeout, agent: false }, resolve)
    request.once('timeout', () => request.destroy(new FetchFailure(`${url.host} does not answer in time.`)))
    request.once('error', (error) => reject(failure(error, url)))
    request.end()
  })
}

function failure(error: unknown, url: URL, otherwise = unreachable(url).message): FetchFailure {
  if (error instanceof FetchFailure) return error
  const { name } = error as Error
  return new FetchFailure(
    name === 'AbortError' || name === 'TimeoutError' ? `${url.host} is too slow.` : otherwise,
    { cause: error },
  )
}

/** The same for all causes, so that nobody finds out which names there are in the private network of the server. */
function unreachable({ host }: URL): FetchFailure {
  return new FetchFailure(
    `${host} can't be reached. Hosts in private networks are followed only if the operator lists them in sources.privateHosts.`,
  )
}

function fetched(response: IncomingMessage, url: URL, most: number) {
  const {
    'content-type': type = '',
    'content-encoding': coding = 'identity',
    etag,
    'last-modified': lastModified,
  } = response.headers
  const known = UPLOAD_TYPES[type.split(';', 1)[0]!.trim().toLowerCase()]
  const kind = uploadFormatOf(url.pathname) ?? (known && { format: known.format, gzip: false })
  if (!kind || !/^(identity|gzip)$/i.test(coding)) {
    response.destroy()
    throw new FetchFailure(
      kind
        ? `${url.host} sends the Content-Encoding ${coding}, which is not supported.`
        : `Neither the name of the file nor its Content-Type ${JSON.stringify(type)} says a format that can be read.`,
    )
  }
  const hash = createHash('sha256')
  const gzip = kind.gzip || /gzip/i.test(coding)
  async function* body() {
    let bytes = 0
    try {
      for await (const chunk of response) {
        bytes += chunk.length
        if (bytes > most)
          throw new FetchFailure(`The file has more than ${most} bytes, the limit of uploads.`)
        hash.update(chunk)
        yield chunk as Uint8Array
      }
    } catch (error) {
      throw failure(error, url, `${url.host} broke off before the end of the file.`)
    }
  }
  const digest = () => hash.copy().digest('hex')
  return { body: body(), digest, format: kind.format, gzip, etag, lastModified }
}

const PAGES: ReadonlySet<unknown> = new Set(['page', 'html', 'xml', 'json', 'ndjson'])

/** Whether the file is what servers send with a status of 200 when they fail. */
export function isErrorPage(error: unknown): error is EngineError {
  return error instanceof EngineError && PAGES.has(error.details?.['content'])
}

export function errorPage(url: string, cause: EngineError): FetchFailure {
  const { host } = new URL(url)
  return new FetchFailure(
    `${host} sends a page or an error message in place of the file. ${cause.inWords(httpWords).message}`,
    {
      cause,
    },
  )
}

/** The same error for a value of another type than its column has, with the option that takes the types of the file. */
export function withOtherTypes(error: unknown, { mode }: FollowedAddress): unknown {
  if (!(error instanceof EngineError) || error.details?.['type'] === undefined || mode !== 'replace')
    return error
  const help = `If the column has other values from now on, ${hint('columns=replace')} takes the types of the file.`
  return new EngineError(error.code, `${error.marked.message} ${help}`, { cause: error })
}

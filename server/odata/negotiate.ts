import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Accepted, acceptedIn } from '../http/headers.ts'
import type { Services } from '../services.ts'
import { malformed, ODataError } from './errors.ts'

export type ODataVersion = '4.0' | '4.01'
export type MetadataLevel = 'none' | 'minimal' | 'full'

/** The JSON options that the client has asked for (OData JSON Format 4.01, 3). */
export interface JsonRequest {
  readonly metadata: MetadataLevel
  /** Whether 64-bit integers and decimals are written as strings. */
  readonly ieee754: boolean
}

/** A request to the service, with what has been parsed from it. */
export interface Exchange {
  readonly services: Services
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  /** Absolute address of the service root, with a trailing slash. */
  readonly root: string
  readonly json: JsonRequest
}

/**
 * The beginning of a JSON object with its `@odata.context` (JSON Format 4.01, 4.6.1), to be followed by the next
 * member.
 */
export function contextHead({ root, json }: Exchange, fragment: string): string {
  if (json.metadata === 'none') return '{'
  return `{"@odata.context":${JSON.stringify(`${root}$metadata#${fragment}`)},`
}

/**
 * A preference in the `Prefer` header (Protocol 4.01, 8.2.8), under its name of 4.0 or of 4.01. Malformed ones are ignored,
 * as RFC 7240 requires.
 */
export function preferenceIn({ headers }: FastifyRequest, name: string) {
  const one = new RegExp(`(?:^|[,;\\s])((?:odata\\.)?${name})(?:\\s*=\\s*"?(\\w+)"?)?(?=[,;\\s]|$)`, 'i')
  const match = one.exec(String(headers['prefer'] ?? ''))
  return match ? { name: match[1]!.toLowerCase(), value: match[2] } : undefined
}

const JSON_TYPE = 'application/json'

/**
 * The version to answer in: the highest that both sides support, 4.01 if the client names none (Protocol 4.01, 8.2.6).
 * @throws ODataError 400 if the client supports only versions before 4.0, or the header is malformed
 */
export function versionFor(maxVersion: string | undefined): ODataVersion {
  if (maxVersion === undefined) return '4.01'
  const match = /^\s*(\d{1,3})\.(\d{1,3})\s*(?:;.*)?$/.exec(maxVersion)
  if (!match) throw malformed(`OData-MaxVersion is ${JSON.stringify(maxVersion)}; it must be 4.0 or 4.01.`)
  const [major, minor] = [Number(match[1]), Number(match[2])]
  if (major < 4) throw malformed(`OData-MaxVersion is ${maxVersion}; this service answers in 4.0 or 4.01.`)
  return major > 4 || minor >= 1 ? '4.01' : '4.0'
}

/** The value of the `OData-Version` header; 4.01 if the client's version is itself the error. */
export function announcedVersion(maxVersion: unknown): ODataVersion {
  try {
    return versionFor(maxVersion as string | undefined)
  } catch {
    return '4.01'
  }
}

/**
 * The JSON options of an answer. `$format` takes precedence over `Accept`. Power Query accepts a long list of types
 * that starts with Atom, and gets JSON because JSON is in the list.
 * @throws ODataError 406 if the client doesn't accept JSON, 400 for a malformed `$format`
 */
export function jsonFor(format: string | undefined, accept: string | undefined): JsonRequest {
  const ranges = format === undefined ? acceptedIn(accept ?? '*/*') : [formatRange(format)]
  const best = bestJson(ranges)
  if (!best) throw notAcceptable('application/json')
  return jsonRequest(best)
}

/**
 * Whether `$metadata` is answered in JSON: only if the client accepts JSON and not XML. Power Query lists JSON first in
 * every request, but expects `$metadata` in XML.
 * @throws ODataError 406 if `$format` names neither, 400 for a malformed `$format`
 */
export function metadataIsJson(
  format: string | undefined,
  accept: string | undefined,
  version: ODataVersion,
): boolean {
  if (format !== undefined) {
    const range = formatRange(format)
    if (/^(application|text)\/xml$/.test(range.name)) return false
    if (range.name === 'application/json' && version === '4.01') return true
    throw notAcceptable(version === '4.01' ? 'application/xml and application/json' : 'application/xml')
  }
  const ranges = acceptedIn(accept ?? '*/*').filter(({ weight }) => weight > 0)
  const takesXml = ranges.some(({ name }) => /^(\*\/\*|application\/\*|(application|text)\/xml)$/.test(name))
  return !takesXml && version === '4.01' && bestJson(ranges) !== undefined
}

/** The content type of an answer (JSON Format 4.01, 3). */
export function jsonContentType({ metadata, ieee754 }: JsonRequest, streaming: boolean): string {
  return [
    'application/json',
    `odata.metadata=${metadata}`,
    ...(streaming ? ['odata.streaming=true'] : []),
    ...(ieee754 ? ['IEEE754Compatible=true'] : []),
    'charset=utf-8',
  ].join(';')
}

/** The range for JSON with the highest weight; of those with the same, one that names JSON, else the first. */
function bestJson(ranges: readonly Accepted[]): Accepted | undefined {
  const isNamed = ({ name }: Accepted) => Number(name === JSON_TYPE)
  return ranges
    .filter(({ name, weight }) => [JSON_TYPE, 'application/*', '*/*'].includes(name) && weight !== 0)
    .toSorted((one, other) => other.weight - one.weight || isNamed(other) - isNamed(one))[0]
}

function jsonRequest({ parameters }: Accepted): JsonRequest {
  const metadata = parameters['odata.metadata'] ?? parameters['metadata'] ?? 'minimal'
  if (metadata !== 'none' && metadata !== 'minimal' && metadata !== 'full') {
    throw new ODataError(
      'notAcceptable',
      `odata.metadata is ${JSON.stringify(metadata)}; it must be none, minimal or full.`,
    )
  }
  return { metadata, ieee754: parameters['ieee754compatible'] === 'true' }
}

const SHORT: Readonly<Record<string, string>> = { json: 'application/json', xml: 'application/xml' }

function formatRange(format: string): Accepted {
  const [range] = acceptedIn(SHORT[format.trim().toLowerCase()] ?? format)
  if (range && /^[\w.+-]+\/[\w.+-]+$/.test(range.name)) return { ...range, weight: 1 }
  throw malformed(
    `$format is ${JSON.stringify(format)}; it must be json, xml (for $metadata only) or a media type.`,
    '$format',
  )
}

function notAcceptable(known: string): ODataError {
  return new ODataError(
    'notAcceptable',
    `This is answered as ${known} only; Accept or $format asks for something else.`,
  )
}

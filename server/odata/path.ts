import { malformed, ODataError } from './errors.ts'

/** The resource that a path below the service root identifies (OData URL Conventions 4.01, 4). */
export type Resource =
  | { readonly kind: 'service' }
  | { readonly kind: 'metadata' }
  | { readonly kind: 'batch' }
  | { readonly kind: 'set'; readonly set: string }
  | { readonly kind: 'count'; readonly set: string }
  /** Query options in the body of a POST (Protocol 4.01, 11.2.1). */
  | { readonly kind: 'query'; readonly set: string }
  | { readonly kind: 'entity'; readonly set: string; readonly key: number }
  | {
      readonly kind: 'property'
      readonly set: string
      readonly key: number
      readonly property: string
      /** Whether only the value is wanted, as text (`$value`). */
      readonly raw: boolean
    }

/**
 * Parses the path below the service root: `Table`, `Table(17)`, `Table/17`, `Table(17)/Column/$value` … One slash at the
 * end is ignored. A key may have the suffix `L`, as literals in filters may.
 * @param path segments, each percent-decoded on its own, because a name may contain an encoded slash
 * @throws ODataError 404 for any other form of path, 400 for a malformed key
 */
export function resourceAt(path: readonly string[]): Resource {
  // Some clients write `Table/?$top=5`.
  const [first = '', ...rest] = path.at(-1) === '' ? path.slice(0, -1) : path
  const unknown = () =>
    new ODataError('notFound', `There is nothing under ${JSON.stringify(path.join('/'))} in this service.`)
  const kind = OF_SERVICE.get(first)
  if (kind && rest.length === 0) return { kind }
  if (first.startsWith('$')) throw unknown()
  const { set, digits = keySegment(rest) } = setAndKey(first)
  const [second, third, ...more] = rest
  if (digits === undefined) {
    if (second === undefined) return { kind: 'set', set }
    const kind = OF_SET.get(second)
    if (kind && third === undefined) return { kind, set }
    throw unknown()
  }
  // No row has a key above 2^53, so larger ones need not be exact.
  const key = Math.min(Number(digits), Number.MAX_SAFE_INTEGER)
  if (second === undefined) return { kind: 'entity', set, key }
  if (second.startsWith('$') || more.length > 0 || (third ?? '$value') !== '$value') throw unknown()
  return { kind: 'property', set, key, property: second, raw: third !== undefined }
}

const OF_SERVICE = new Map<string, 'service' | 'metadata' | 'batch'>([
  ['', 'service'],
  ['$metadata', 'metadata'],
  ['$batch', 'batch'],
])
const OF_SET = new Map<string, 'count' | 'query'>([
  ['$count', 'count'],
  ['$query', 'query'],
])

/** Takes the key away if it is a segment of its own (URL Conventions 4.01, 4.3.6). */
function keySegment(rest: string[]): string | undefined {
  return /^\d+$/.test(rest[0] ?? '') ? rest.shift() : undefined
}

function setAndKey(segment: string): { set: string; digits?: string } {
  const [, set = segment, key] = /^([^(]*)(\(.*)$/s.exec(segment) ?? []
  if (key === undefined) return { set }
  const [, digits] = /^\(\s*(?:Row\s*=\s*)?(\d+)L?\s*\)$/i.exec(key) ?? []
  if (digits !== undefined) return { set, digits }
  throw malformed(`${JSON.stringify(key)} is not a key: keys are row numbers, for example ${set}(17).`)
}

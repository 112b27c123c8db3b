import { ODataError } from './errors.ts'

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
 * Parses the path below the service root: `Table`, `Table(17)`, `Table/17`, `Table(17)/Column/$value` …
 * @param path segments, each percent-decoded on its own, because a name may contain an encoded slash
 * @throws ODataError 404 for any other form of path, 400 for a malformed key
 */
export function resourceAt(path: readonly string[]): Resource {
  const [first = '', ...rest] = path
  if (first === '' && rest.length === 0) return { kind: 'service' }
  if (first === '$metadata' && rest.length === 0) return { kind: 'metadata' }
  if (first === '$batch' && rest.length === 0) return { kind: 'batch' }
  if (first.startsWith('$')) throw unknown(path)
  const { set, key } = setAndKey(first)
  if (key !== undefined) return inEntity(set, key, rest, path)
  const [second] = rest
  if (second === undefined) return { kind: 'set', set }
  if (second === '$count' && rest.length === 1) return { kind: 'count', set }
  if (second === '$query' && rest.length === 1) return { kind: 'query', set }
  // The key may be a separate segment (URL Conventions 4.01, 4.3.6).
  if (/^\d+$/.test(second)) return inEntity(set, keyNumber(second), rest.slice(1), path)
  throw unknown(path)
}

function inEntity(set: string, key: number, rest: readonly string[], path: readonly string[]): Resource {
  const [property, value, ...more] = rest
  if (property === undefined) return { kind: 'entity', set, key }
  if (property.startsWith('$') || more.length > 0) throw unknown(path)
  if (value !== undefined && value !== '$value') throw unknown(path)
  return { kind: 'property', set, key, property, raw: value === '$value' }
}

function setAndKey(segment: string): { set: string; key: number | undefined } {
  const open = segment.indexOf('(')
  if (open < 0) return { set: segment, key: undefined }
  const match = /^\(\s*(?:Row\s*=\s*)?(\d+)\s*\)$/.exec(segment.slice(open))
  if (!match) {
    throw new ODataError(
      'badRequest',
      `${JSON.stringify(segment.slice(open))} is not a key: keys are row numbers, for example ${segment.slice(0, open)}(17).`,
    )
  }
  return { set: segment.slice(0, open), key: keyNumber(match[1]!) }
}

/** No row has a key above 2^53, so larger ones need not be exact. */
function keyNumber(digits: string): number {
  return Math.min(Number(digits), Number.MAX_SAFE_INTEGER)
}

function unknown(path: readonly string[]): ODataError {
  return new ODataError(
    'notFound',
    `There is nothing under ${JSON.stringify(path.join('/'))} in this service.`,
  )
}

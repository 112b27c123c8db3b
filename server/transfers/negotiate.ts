/** The content codings in which bodies can be sent, the preferred one first. */
const CODINGS = ['zstd', 'br', 'gzip'] as const
export type Coding = (typeof CODINGS)[number]

/**
 * The coding that an `Accept-Encoding` header asks for (RFC 9110, 12.5.3): the one with the highest weight, among
 * equals the one that we prefer. undefined means no compression, which the RFC also allows if no coding is acceptable.
 */
export function chooseCoding(header: string | undefined): Coding | undefined {
  if (header === undefined) return undefined
  const weights = weightsIn(header)
  const weightOf = (coding: string) => weights.get(coding) ?? weights.get('*') ?? 0
  const best = CODINGS.reduce((chosen, coding) => (weightOf(coding) > weightOf(chosen) ? coding : chosen))
  const plain = weights.get('identity') ?? 0
  return weightOf(best) > 0 && weightOf(best) >= plain ? best : undefined
}

/** The weight of a coding in an `Accept-Encoding` header; 0 means "not acceptable". */
export function weightOf(header: string | undefined, coding: Coding): number {
  const weights = weightsIn(header ?? '')
  return weights.get(coding) ?? weights.get('*') ?? 0
}

/** The items of an `Accept` or `Accept-Encoding` header with their weights, in their order. */
export function weightsIn(header: string): ReadonlyMap<string, number> {
  const weights = new Map<string, number>()
  for (const item of header.toLowerCase().split(',')) {
    const [name, ...parameters] = item.split(';').map((part) => part.trim())
    if (!name) continue
    const weight = parameters.find((parameter) => parameter.startsWith('q='))
    const value = weight === undefined ? 1 : Number(weight.slice(2))
    weights.set(name === 'x-gzip' ? 'gzip' : name, Number.isFinite(value) ? value : 0)
  }
  return weights
}

/** A `Content-Disposition` with a file name, in ASCII for old clients and in full (RFC 6266, RFC 8187). */
export function attachment(name: string, extension: string): string {
  // Some clients take a slash for a folder; control characters and lone surrogates are not allowed in a header.
  const safe = `${name.toWellFormed().replace(/[\x00-\x1f\x7f/\\]/g, '_')}.${extension}`
  const ascii = safe
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^\x20-\x7e]|["%]/gu, '_')
  const encoded = encodeURIComponent(safe).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`
}

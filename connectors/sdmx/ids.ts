/** What names a structure: its agency (`''` if an id leaves it out), its id and its version (`''`: the latest). */
export interface Reference {
  readonly agency: string
  readonly id: string
  readonly version: string
}

export interface SeriesId {
  /** As the user wrote it. */
  readonly text: string
  readonly flow: Reference
  readonly key: KeyPattern
}

const AGENCY = String.raw`[A-Za-z][\w-]*(?:\.[A-Za-z][\w-]*)*`
const ID = String.raw`[\w@$-]+`
const VERSION = String.raw`(?:\d+(?:\.\d+)*|latest|\+|)`
/** NestedNCNameID, ID and version of the SDMX REST specification; all but the id may be missing. */
const FLOW = new RegExp(`^(?:(${AGENCY}),)?(${ID})(?:,(${VERSION}))?$`)
const KEY = /^[\w@$*+-]*(?:\.[\w@$*+-]*)*$/

/** Reads `EXR`, `ECB,EXR`, `ECB,EXR,1.0` or `EXR,1.0`; undefined for anything else. */
export function parseFlow(text: string): Reference | undefined {
  const match = FLOW.exec(text)
  if (!match) return undefined
  const version = match[3] ?? ''
  // Newer services write 'the latest' as '+', older ones as 'latest'; here it is ''.
  return { agency: match[1] ?? '', id: match[2]!, version: /^(latest|\+)$/.test(version) ? '' : version }
}

/** Reads `{flow}/{key}`; undefined for anything else. */
export function parseSeriesId(text: string): SeriesId | undefined {
  const [flowText = '', key, ...rest] = text.split('/')
  const flow = parseFlow(flowText)
  if (!flow || key === undefined || rest.length > 0 || !KEY.test(key)) return undefined
  return { text, flow, key: key === 'all' ? [[]] : parsePattern(key) }
}

/** `ID`, `AGENCY,ID` or `AGENCY,ID,VERSION`: the shortest form that names the dataflow, for ids and addresses. */
export function flowText({ agency, id, version }: Reference, defaultAgency?: string): string {
  const owner = agency || (defaultAgency ?? '')
  if (version !== '') return `${owner},${id},${version}`
  return owner === defaultAgency || owner === '' ? id : `${owner},${id}`
}

/** Whether a reference means this dataflow; a part that the reference leaves out matches any value. */
export function isFlow(flow: Reference, { agency, id, version }: Reference): boolean {
  const isSame = (own: string, asked: string) => asked === '' || own === asked
  return flow.id === id && isSame(flow.agency, agency) && isSame(flow.version, version)
}

/** The path of a dataflow, or of the part of it with certain codes: `flow/EXR/M.USD`. */
export interface FlowPath {
  readonly flow: Reference
  readonly text: string
  /** The codes chosen so far, for the first dimensions in order; `''` leaves a dimension open. */
  readonly codes: readonly string[]
}

export function parsePath(path: string): FlowPath | undefined {
  const [kind, text = '', key, ...rest] = path.split('/')
  const flow = kind === 'flow' && rest.length === 0 ? parseFlow(text) : undefined
  if (!flow || (key !== undefined && !/^[\w@$-]*(\.[\w@$-]*)*$/.test(key))) return undefined
  return { flow, text, codes: key === undefined || key === '' ? [] : key.split('.') }
}

/** One part for each dimension: the codes that it allows; an empty list allows all of them. */
export type KeyPattern = readonly (readonly string[])[]

/** `M.USD+GBP..SP00.*`: parts are joined by dots, codes by `+`; an empty part or `*` is a wildcard. */
export function parsePattern(key: string): KeyPattern {
  return key.split('.').map((part) => (part === '*' ? [] : part.split('+').filter((code) => code !== '')))
}

/** The key in the notation of SDMX 2.1: an empty part is a wildcard, and `all` is a key with nothing but wildcards. */
export function formatPattern(pattern: KeyPattern): string {
  return isOpen(pattern) ? 'all' : pattern.map((codes) => codes.join('+')).join('.')
}

/** Whether the key has nothing but wildcards. */
export function isOpen(pattern: KeyPattern): boolean {
  return pattern.every((codes) => codes.length === 0)
}

/** Whether the key names exactly one series. */
export function isExact(pattern: KeyPattern): boolean {
  return pattern.every((codes) => codes.length === 1)
}

/**
 * Whether a key matches. A part that the answer leaves out (`''`) is assumed to match, because the ECB can be told to
 * drop columns.
 */
export function matches(key: readonly string[], pattern: KeyPattern): boolean {
  return pattern.every((codes, i) => codes.length === 0 || (key[i] ?? '') === '' || codes.includes(key[i]!))
}

import { type KeyPattern, parsePattern } from './keys.ts'

/** A reference to a dataflow, as written in an id. */
export interface FlowReference {
  /** `''` if the id leaves it out. */
  readonly agency: string
  readonly id: string
  /** `''` for the latest. */
  readonly version: string
}

export interface SeriesId {
  /** As the user wrote it. */
  readonly text: string
  readonly flow: FlowReference
  readonly key: KeyPattern
}

const AGENCY = String.raw`[A-Za-z][\w-]*(?:\.[A-Za-z][\w-]*)*`
const ID = String.raw`[\w@$-]+`
const VERSION = String.raw`(?:\d+(?:\.\d+)*|latest|\+|)`
/** NestedNCNameID, ID and version of the SDMX REST specification; all but the id may be missing. */
const FLOW = new RegExp(`^(?:(${AGENCY}),)?(${ID})(?:,(${VERSION}))?$`)
const KEY = /^[\w@$*+-]*(?:\.[\w@$*+-]*)*$/

/** Reads `EXR`, `ECB,EXR`, `ECB,EXR,1.0` or `EXR,1.0`; undefined for anything else. */
export function parseFlow(text: string): FlowReference | undefined {
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
export function flowText({ agency, id, version }: FlowReference, defaultAgency?: string): string {
  const owner = agency || (defaultAgency ?? '')
  if (version !== '') return `${owner},${id},${version}`
  return owner === defaultAgency || owner === '' ? id : `${owner},${id}`
}

/** Whether a reference means this dataflow; a part that the reference leaves out matches any value. */
export function isFlow(flow: FlowReference, { agency, id, version }: FlowReference): boolean {
  const isSame = (own: string, asked: string) => asked === '' || own === asked
  return flow.id === id && isSame(flow.agency, agency) && isSame(flow.version, version)
}

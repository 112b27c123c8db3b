import { type FlowReference, flowText, parseFlow } from '../flow-reference.ts'

/** The path of a dataflow, or of the part of it with certain codes: `flow/EXR/M.USD`. */
export interface FlowPath {
  readonly flow: FlowReference
  readonly text: string
  /** The codes chosen so far, for the first dimensions in order; `''` leaves a dimension open. */
  readonly codes: readonly string[]
}

/** The path of a dataflow in the tree. */
export function flowPath(flow: FlowReference, defaultAgency: string | undefined): string {
  return `flow/${flowText(flow, defaultAgency)}`
}

export function parsePath(path: string): FlowPath | undefined {
  const [kind, text = '', key, ...rest] = path.split('/')
  const flow = kind === 'flow' && rest.length === 0 ? parseFlow(text) : undefined
  if (!flow || (key !== undefined && !/^[\w@$-]*(\.[\w@$-]*)*$/.test(key))) return undefined
  return { flow, text, codes: key === undefined || key === '' ? [] : key.split('.') }
}

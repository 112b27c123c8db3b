import type { UpstreamRequest } from '../connector.ts'
import { type FlowReference, flowText } from './flow-reference.ts'
import { formatPattern } from './keys.ts'
import type { SdmxRequests } from './provider.ts'
import { ANY, STRUCTURE_XML, structureRequest, structureRequests } from './rest.ts'

interface Options {
  readonly agency: string
  /** The parameters that request data in a format with names, if the service has one. */
  readonly data: NonNullable<UpstreamRequest['query']>
  /** The path segments before structures in an address. */
  readonly prefix?: readonly string[]
  readonly flowOf?: (flow: FlowReference) => string
  /** The path segments after the key. */
  readonly suffix?: readonly string[]
  /** Whether the service keeps earlier versions of its data. Default false. */
  readonly history?: boolean
  /** Whether one answer can contain a dataflow with everything it refers to. Default true. */
  readonly whole?: boolean
}

/** The requests of the REST API of SDMX 2.1, as most services answer them. */
export function restV1(options: Options): SdmxRequests {
  const { agency, data, prefix = [], suffix = [], whole = true, history = false } = options
  const flowOf = options.flowOf ?? ((flow: FlowReference) => flowText(flow, agency))
  const style = { prefix, versions: false }
  return {
    dataflows: () => ({ path: [...prefix, 'dataflow', agency], headers: STRUCTURE_XML }),
    ...(whole && {
      dataflow: (flow) => structureRequest('dataflow', flow, { references: 'descendants' }, style),
    }),
    ...structureRequests(style),
    data: (flow, key, { start, end }) => ({
      path: ['data', flowOf(flow), formatPattern(key), ...suffix],
      query: { startPeriod: start, endPeriod: end, ...data },
      headers: ANY,
    }),
    ...(history && {
      history: (flow, key) => ({
        path: ['data', flowOf(flow), formatPattern(key), ...suffix],
        query: { includeHistory: 'true', ...data },
        headers: ANY,
      }),
    }),
    keys: (flow, key) => ({
      path: ['data', flowOf(flow), formatPattern(key), ...suffix],
      query: { lastNObservations: 1, ...data },
      headers: ANY,
    }),
  }
}

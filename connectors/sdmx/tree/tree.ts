import type { Category } from '../../connector.ts'
import { Failure } from '../../failures.ts'
import { optional } from '../../read.ts'
import type { FlowReference } from '../flow-reference.ts'
import type { Session } from '../provider.ts'
import { attempt } from '../session.ts'
import {
  componentName,
  type FlowStructure,
  fetchCodes,
  flowStructure,
  qualified,
} from '../structures/flow-structure.ts'
import type { Component, Item } from '../structures/model.ts'
import { parsePath } from './flow-path.ts'
import { keysOf, refuseUnknownCode } from './series-keys.ts'

/**
 * With fewer codes chosen, a list of series keys would be too long for the little it tells; some services fail at it.
 */
const CODES_BEFORE_KEYS = 2

/** The tree: the provider's levels above its dataflows, then each dimension in the order of the key. */
export async function browse(session: Session, path: string): Promise<readonly Category[]> {
  const flowPath = parsePath(path)
  if (!flowPath) {
    const found = await session.provider.root(path, session)
    if (!found) throw new Failure('no-results', { what: 'There is no such category.' })
    return found
  }
  const { codes, text } = flowPath
  const flow = await qualified(session, flowPath.flow)
  const structure = await attempt(flowStructure(session, flow))
  const below = await (structure
    ? codesBelow(session, flow, structure, codes)
    : codesInKeys(session, flow, codes))
  return below.map(({ id, name, description }) => {
    return { path: `flow/${text}/${[...codes, id].join('.')}`, name, description, series: true }
  })
}

/**
 * The codes of the next dimension. None for the last one, because its codes only distinguish series, which are listed.
 */
async function codesBelow(
  session: Session,
  flow: FlowReference,
  structure: FlowStructure,
  codes: readonly string[],
): Promise<readonly Item[]> {
  const { dimensions, structures } = structure
  if (codes.length > dimensions.length) throw new Failure('no-results', { what: 'The key has fewer parts.' })
  await refuseUnknownCode(session, structure, codes)
  const dimension = dimensions[codes.length]
  if (!dimension || codes.length === dimensions.length - 1) return []
  const name = componentName(dimension, structures)
  const items = await availableCodes(session, structure, dimension, flow, codes)
  return items.map((item) => ({ ...item, description: item.description || `${name}: ${item.id}` }))
}

/** The same for a dataflow whose structure can't be had: the codes that occur in its series. */
async function codesInKeys(
  session: Session,
  flow: FlowReference,
  codes: readonly string[],
): Promise<readonly Item[]> {
  const { dimensions, series, labels } = await keysOf(session, flow, undefined, codes)
  if (series.length === 0) throw new Failure('no-results', { what: 'No series has these codes.' })
  const dimension = dimensions[codes.length] ?? ''
  if (codes.length >= dimensions.length - 1) return []
  const found = new Set(series.map(({ key }) => key[codes.length] ?? ''))
  return named([...found], undefined, labels.get(dimension)).map((item) => {
    return { ...item, description: `${dimension}: ${item.id}` }
  })
}

/**
 * The codes of a dimension that have data with the codes chosen so far, as far as the provider tells: from a request
 * for exactly that, from the constraint that came with the structure, or from the keys of series; else its whole
 * codelist.
 */
async function availableCodes(
  session: Session,
  structure: FlowStructure,
  dimension: Component,
  flow: FlowReference,
  codes: readonly string[],
): Promise<readonly Item[]> {
  const { requests } = session.provider
  const { constraints } = structure.structures
  const key = structure.dimensions.map((_, i) => (codes[i] ? [codes[i]] : []))
  const items = await fetchCodes(session, dimension, structure.structures)
  let allowed = constraints
    .filter((one) => one.flow === undefined || one.flow.id === structure.flow.id)
    .map((one) => one.codes.get(dimension.id))
    .find((found) => found !== undefined && found.length > 0)
  if (requests.available && (codes.length > 0 || !allowed)) {
    const answer = await optional(session.structures(requests.available(flow, key, dimension.id)))
    allowed = answer?.constraints.map((one) => one.codes.get(dimension.id)).find(Boolean) ?? allowed
  }
  const isNarrow = codes.length >= CODES_BEFORE_KEYS && !requests.available
  if (isNarrow || (!items && !allowed)) {
    const message = await optional(keysOf(session, flow, structure, codes))
    const found = new Set(message?.series.map((one) => one.key[codes.length] ?? ''))
    found.delete('')
    if (message && found.size > 0) return named([...found], items, message.labels.get(dimension.id))
  }
  return allowed ? named(allowed, items, undefined) : (items ?? [])
}

/** Codes with their names, in the order of the codelist. */
function named(
  codes: readonly string[],
  items: readonly Item[] | undefined,
  labels: ReadonlyMap<string, string> | undefined,
): readonly Item[] {
  const wanted = new Set(codes)
  const known = (items ?? []).filter(({ id }) => wanted.delete(id))
  return [...known, ...[...wanted].map((id) => ({ id, name: labels?.get(id) ?? id, description: '' }))]
}

import type { Category, SeriesInfo, SeriesPage, UpstreamAnswer } from '../connector.ts'
import { parsePeriod } from '../periods.ts'
import { type DataMessage, type DataSeries, NOTHING, readData } from './data.ts'
import { frequencyOf, nameOf, namesFrom, unitOf } from './describe.ts'
import { SdmxFailure } from './failures.ts'
import { type FlowReference, flowText, parseFlow } from './flow-reference.ts'
import {
  componentName,
  type FlowStructure,
  fetchCodes,
  flowName,
  flowStructure,
  qualified,
} from './flow-structure.ts'
import type { KeyPattern } from './keys.ts'
import { attempt, optional, type Session } from './session.ts'
import type { Component, Item } from './structures.ts'

/**
 * What lies above the dataflows: categories, agencies, a table of contents. Gives the categories under a path of its
 * own, and undefined for a path that it does not know.
 */
export type Branch = (path: string, session: Session) => Promise<readonly Category[] | undefined>

/** The path of a dataflow, or of what is left of it after some codes: `flow/EXR/M.USD`. */
interface FlowPath {
  readonly flow: FlowReference
  readonly text: string
  /** The codes chosen so far, of the first dimensions in order; `''` leaves one open. */
  readonly codes: readonly string[]
}

/** With fewer codes chosen, a list of series keys is too wide for what it tells; some services fail at it. */
const CODES_BEFORE_KEYS = 2

/** The tree: what the provider puts above its dataflows, then each dimension in the order of the key. */
export async function browse(session: Session, path: string): Promise<readonly Category[]> {
  const flowPath = parsePath(path)
  if (!flowPath) {
    const found = await session.provider.root(path, session)
    if (!found) throw new SdmxFailure('no-results', 'There is no such category.')
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

/** The codes of the next dimension; none of the last, since what it would tell apart are series, which are listed. */
async function codesBelow(
  session: Session,
  flow: FlowReference,
  structure: FlowStructure,
  codes: readonly string[],
): Promise<readonly Item[]> {
  const { dimensions, structures } = structure
  if (codes.length > dimensions.length) throw new SdmxFailure('no-results', 'The key has fewer parts.')
  await refuseUnknownCode(session, structure, codes)
  const dimension = dimensions[codes.length]
  if (!dimension || codes.length === dimensions.length - 1) return []
  const name = componentName(dimension, structures)
  const items = await availableCodes(session, structure, dimension, { flow, codes })
  return items.map((item) => ({ ...item, description: item.description || `${name}: ${item.id}` }))
}

/** As above for a dataflow of which no structure is to be had: the codes that its series have. */
async function codesInKeys(
  session: Session,
  flow: FlowReference,
  codes: readonly string[],
): Promise<readonly Item[]> {
  const { dimensions, series, labels } = await keysOf(session, flow, undefined, codes)
  if (series.length === 0) throw new SdmxFailure('no-results', 'No series has these codes.')
  const dimension = dimensions[codes.length] ?? ''
  if (codes.length >= dimensions.length - 1) return []
  const found = new Set(series.map(({ key }) => key[codes.length] ?? ''))
  return named([...found], undefined, labels.get(dimension)).map((item) => {
    return { ...item, description: `${dimension}: ${item.id}` }
  })
}

/** The series under a dataflow or a part of it, in the order of their keys; none under what lies above. */
export async function list(
  session: Session,
  path: string,
  page: { readonly limit: number; readonly offset: number },
): Promise<SeriesPage> {
  const flowPath = parsePath(path)
  if (!flowPath) {
    await browse(session, path)
    return { total: 0, series: [] }
  }
  const flow = await qualified(session, flowPath.flow)
  const structure = await attempt(flowStructure(session, flow))
  const message = await keysOf(session, flow, structure, flowPath.codes)
  const names = namesFrom(message.labels, structure)
  const heading = structure?.flow.name ?? message.name ?? (await flowName(session, flow))
  const { provider } = session
  const info = (one: DataSeries): SeriesInfo => ({
    series_id: `${flowPath.text}/${one.key.join('.')}`,
    name: nameOf(one, message.dimensions, heading, names),
    frequency: frequencyOf(one, names),
    unit: unitOf(one, names, provider, provider.multiplier?.(flow) ?? 'named'),
    ...extentOf(one),
  })
  const sorted = message.series.map((one) => ({ one, name: one.key.join('.') })).sort(byName)
  return {
    total: sorted.length,
    series: sorted.slice(page.offset, page.offset + page.limit).map(({ one }) => info(one)),
  }
}

/** The path of a dataflow in the tree. */
export function flowPath(flow: FlowReference, defaultAgency: string | undefined): string {
  return `flow/${flowText(flow, defaultAgency)}`
}

function parsePath(path: string): FlowPath | undefined {
  const [kind, text = '', key, ...rest] = path.split('/')
  const flow = kind === 'flow' && rest.length === 0 ? parseFlow(text) : undefined
  if (!flow || (key !== undefined && !/^[\w@$-]*(\.[\w@$-]*)*$/.test(key))) return undefined
  return { flow, text, codes: key === undefined || key === '' ? [] : key.split('.') }
}

/** An answer with the series keys under a path. Without a structure the whole dataflow is read and cut down here. */
async function keysOf(
  session: Session,
  flow: FlowReference,
  structure: FlowStructure | undefined,
  codes: readonly string[],
): Promise<DataMessage> {
  const dimensions = structure?.dimensions.map(({ id }) => id)
  if (dimensions && codes.length > dimensions.length)
    throw new SdmxFailure('no-results', 'The key has fewer parts.')
  const pattern: KeyPattern | undefined = dimensions?.map((_, i) => (codes[i] ? [codes[i]] : []))
  try {
    const request = session.provider.requests.keys(flow, pattern ?? [[]])
    const read = (answer: UpstreamAnswer) => readData(answer, { pattern, dimensions })
    // Pages of one list are cut from one answer. Without a structure it may be misread, so it is not kept.
    const message = dimensions ? await session.cached(request, read) : read(await session.send(request))
    const isBelow = ({ key }: DataSeries) => codes.every((code, i) => code === '' || key[i] === code)
    return { ...message, series: message.series.filter(isBelow) }
  } catch (error) {
    const isEmpty = structure && error instanceof SdmxFailure && error.kind === 'no-results'
    if (!isEmpty) throw error
    await refuseUnknownCode(session, structure, codes)
    return NOTHING
  }
}

async function refuseUnknownCode(
  session: Session,
  { dimensions, structures }: FlowStructure,
  codes: readonly string[],
): Promise<void> {
  for (const [i, code] of codes.entries()) {
    const known = code === '' ? undefined : await fetchCodes(session, dimensions[i]!, structures)
    if (known && !known.some(({ id }) => id === code))
      throw new SdmxFailure('no-results', 'There is no such code.')
  }
}

/**
 * The codes of a dimension that have data below the codes chosen so far, as far as the provider tells: by a request
 * for just that, by the constraint that came with the structure, by the keys of series; else its whole codelist.
 */
async function availableCodes(
  session: Session,
  structure: FlowStructure,
  dimension: Component,
  { flow, codes }: Pick<FlowPath, 'flow' | 'codes'>,
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

/** First and last date, where the answer holds observations; of a single one, that it is the last. */
function extentOf({ observations }: DataSeries): { start: string | null; end: string | null } {
  const dates = observations.flatMap(({ period }) => parsePeriod(period)?.date ?? []).sort()
  return { start: dates.length > 1 ? dates[0]! : null, end: dates.at(-1) ?? null }
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : Number(a.name > b.name)
}

import {
  category,
  type Page,
  type Place,
  type SeriesInfo,
  type SeriesPage,
  type UpstreamAnswer,
} from '../../connector.ts'
import { absent, Failure } from '../../failures.ts'
import { slice } from '../../paging.ts'
import { parsePeriod } from '../../periods.ts'
import { optional } from '../../read.ts'
import { readData } from '../data/data.ts'
import { type DataMessage, type DataSeries, NOTHING } from '../data/message.ts'
import { type FlowPath, type KeyPattern, parsePath, type Reference } from '../ids.ts'
import { nameOf, namesFrom, unitOf } from '../series/describe.ts'
import { frequencyOf, namedFrequency } from '../series/observations.ts'
import { attempt, type Session, wide } from '../session.ts'
import {
  componentName,
  type FlowStructure,
  fetchCodes,
  flowName,
  flowStructure,
  qualified,
} from '../structures/flow-structure.ts'
import type { Component, Item } from '../structures/structures.ts'
import { allFlows } from './branches.ts'

/**
 * With fewer codes chosen, a list of series keys would be too long for the little it tells; some services fail at it.
 */
const CODES_BEFORE_KEYS = 2

/** The tree: the provider's levels above its dataflows, then each dimension in the order of the key. */
export async function placeAt(session: Session, path: string): Promise<Place> {
  const flowPath = parsePath(path)
  if (!flowPath) {
    const found = await (session.service.root ?? allFlows)(path, session)
    if (!found) throw absent()
    return { categories: () => found }
  }
  const { codes, text } = flowPath
  const flow = await qualified(session, flowPath.flow)
  return {
    categories: async () => {
      const below = await codesBelow(session, flow, await flowStructure(session, flow), codes)
      return below.map(({ id, name, description }) =>
        category(`flow/${text}/${[...codes, id].join('.')}`, name, description),
      )
    },
    series: async (page) => {
      const structure = await attempt(flowStructure(session, flow))
      return list(session, { ...flowPath, flow }, structure, page)
    },
  }
}

/**
 * The codes of the next dimension. None for the last one, because its codes only distinguish series, which are listed.
 */
async function codesBelow(
  session: Session,
  flow: Reference,
  structure: FlowStructure,
  codes: readonly string[],
): Promise<readonly Item[]> {
  const { dimensions, structures } = structure
  if (codes.length > dimensions.length) throw absent()
  await refuseUnknownCode(session, structure, codes)
  const dimension = dimensions[codes.length]
  if (!dimension || codes.length === dimensions.length - 1) return []
  const name = componentName(dimension, structures)
  const items = await availableCodes(session, structure, dimension, flow, codes)
  return items.map((item) => ({ ...item, description: item.description || `${name}: ${item.id}` }))
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
  flow: Reference,
  codes: readonly string[],
): Promise<readonly Item[]> {
  const { requests } = session
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

/** The series below a dataflow or a part of it, in the order of their keys. */
async function list(
  session: Session,
  { flow, codes, text }: FlowPath,
  structure: FlowStructure | undefined,
  page: Page,
): Promise<SeriesPage> {
  const message = await keysOf(session, flow, structure, codes)
  if (structure === undefined && !message.certain && message.series.length > 0) {
    throw new Failure('failing', {
      what: 'The structure that says which columns are dimensions is missing.',
    })
  }
  const names = namesFrom(message.labels, structure)
  const heading = structure?.flow.name ?? message.name ?? (await flowName(session, flow))
  const { service } = session
  const info = (one: DataSeries): SeriesInfo => ({
    series_id: `${text}/${one.key.join('.')}`,
    name: nameOf(one, message.dimensions, heading, names),
    frequency: frequencyOf(one.observations, namedFrequency(one, names, service.slug)).name,
    unit: unitOf(one, names, service, service.multiplier?.(flow) ?? 'named'),
    ...extentOf(one),
  })
  const byKey = new Map(message.series.map((one) => [one.key.join('.'), one]))
  const { total, series } = slice([...byKey.keys()].sort(), page)
  return { total, series: series.map((key) => info(byKey.get(key)!)) }
}

/**
 * First and last date, if the answer contains observations; a single observation is the last one, so only the end is
 * known.
 */
function extentOf({ observations }: DataSeries): { start: string | null; end: string | null } {
  const dates = observations.flatMap(({ period }) => parsePeriod(period)?.date ?? []).sort()
  return { start: dates.length > 1 ? dates[0]! : null, end: dates.at(-1) ?? null }
}

/** An answer with the series keys below a path. Without a structure the whole dataflow is read and filtered here. */
async function keysOf(
  session: Session,
  flow: Reference,
  structure: FlowStructure | undefined,
  codes: readonly string[],
): Promise<DataMessage> {
  const dimensions = structure?.dimensions.map(({ id }) => id)
  if (dimensions && codes.length > dimensions.length) throw absent()
  const pattern: KeyPattern | undefined = dimensions?.map((_, i) => (codes[i] ? [codes[i]] : []))
  try {
    const request = session.requests.keys(flow, pattern ?? [[]])
    const read = (answer: UpstreamAnswer) => readData(answer, { pattern, dimensions })
    // All pages of a list are cut from one cached answer. Without a structure the answer may be misread, so it isn't
    // cached.
    const answer = dimensions ? session.cached(request, read) : session.send(request).then(read)
    const message = await wide(session, answer)
    const isBelow = ({ key }: DataSeries) => codes.every((code, i) => code === '' || key[i] === code)
    return { ...message, series: message.series.filter(isBelow) }
  } catch (error) {
    const isEmpty = structure && error instanceof Failure && error.kind === 'no-results'
    if (!isEmpty) throw error
    await refuseUnknownCode(session, structure, codes)
    return NOTHING
  }
}

/** Throws `no-results` for a code that isn't in the codelist; if there is no codelist, any code is accepted. */
async function refuseUnknownCode(
  session: Session,
  { dimensions, structures }: FlowStructure,
  codes: readonly string[],
): Promise<void> {
  for (const [i, code] of codes.entries()) {
    const known = code === '' ? undefined : await fetchCodes(session, dimensions[i]!, structures)
    if (known && !known.some(({ id }) => id === code)) throw absent()
  }
}

import type { SeriesData, SeriesRange, UpstreamRequest } from '../../connector.ts'
import { ConnectorError, quoted } from '../../errors.ts'
import { absent, Failure, malformed } from '../../failures.ts'
import { parsePeriod } from '../../periods.ts'
import { optional } from '../../read.ts'
import { readData } from '../data/data.ts'
import { type DataMessage, type DataSeries, NOTHING } from '../data/message.ts'
import { flowText, isExact, isOpen, parseSeriesId, type SeriesId } from '../ids.ts'
import { attempt, type PeriodRange, type Session, wide } from '../session.ts'
import {
  componentName,
  type FlowStructure,
  fetchCodes,
  flowName,
  flowStructure,
  newerVersion,
  qualified,
} from '../structures/flow-structure.ts'
import {
  dimensionsOf,
  firstComponent,
  lastUpdatedOf,
  metadataOf,
  nameOf,
  namesFrom,
  scaleOf,
  TITLES,
  unitCodeOf,
  unitOf,
} from './describe.ts'
import { frequencyOf, namedFrequency, periodRange, rowsOf } from './observations.ts'

/** How many series the error message for an ambiguous id lists. */
const EXAMPLES = 3

/** The one series that an id names. */
export async function fetchSeries(session: Session, id: string, range: SeriesRange): Promise<SeriesData> {
  const found = await fetchMatching(session, id, range)
  const [series, ...others] = found.message.series
  if (!series) throw nothingFound(found.message)
  if (others.length > 0) throw await ambiguous(session, found)
  return { ...(await described(session, found))(series), series_id: id }
}

/** All series that match an id with wildcards or `+`, each under its own id, in the order of their keys. */
export async function fetchMany(
  session: Session,
  id: string,
  range: SeriesRange,
): Promise<readonly SeriesData[]> {
  const found = await fetchMatching(session, id, range)
  if (found.message.series.length === 0) throw nothingFound(found.message)
  const describe = await described(session, found)
  return found.message.series
    .map((one) => ({ ...describe(one), series_id: idOf(session, found.wanted, one) }))
    .sort((a, b) => (a.series_id < b.series_id ? -1 : Number(a.series_id > b.series_id)))
}

function nothingFound({ other }: DataMessage): Failure {
  return absent(other && `The answer has the series ${other} instead of the one asked for.`)
}

interface Found {
  readonly wanted: SeriesId
  readonly message: DataMessage
  readonly query: Query
}

/**
 * Fetches the series that an id names. Data are requested first, so that an unknown series takes only one request. The
 * data structure follows if the answer leaves dimensions or names open; if it can't be had, only names are missing.
 */
async function fetchMatching(session: Session, id: string, range: SeriesRange): Promise<Found> {
  const { service, requests } = session
  // In a query string `+` means a blank, and no code contains a blank.
  const parsed = parseSeriesId(id.trim().replace(/(?<=[^ ]) (?=[^ ])/g, '+'))
  if (!parsed) throw malformed('{dataflow}/{key}, as the lists of series give it')
  if (isOpen(parsed.key)) throw malformed('a key that names some of its codes')
  const wanted = { ...parsed, flow: await qualified(session, parsed.flow) }
  const query = openQuery(session, wanted, range.asOf)
  if (range.asOf !== undefined && requests.history) {
    // Without a range: a day before all of its periods were published must not look like one without history.
    return { wanted, message: await query.ask(requests.history(wanted.flow, wanted.key)), query }
  }
  const ask = (range: PeriodRange) => query.ask(requests.data(wanted.flow, wanted.key, range))
  let message = await ask(periodRange(range, wanted.key, service.frequencyFirst))
  if (message.series.length === 0 && (range.start !== undefined || range.end !== undefined)) {
    // Services send the same answer for a series without observations in the range and for an unknown series.
    const keys = await query.ask(requests.keys(wanted.flow, wanted.key))
    // A list of keys may contain the last observation of each series, which must not be mistaken for all observations
    // in the range. If it lies in the range, the service did not understand the range; the whole series is then
    // requested and cut to the range here.
    const isInRange = keys.series.some((one) => hasObservationIn(one, range))
    message = isInRange
      ? await ask({ start: undefined, end: undefined })
      : {
          ...keys,
          other: keys.other ?? message.other,
          series: keys.series.map((one) => ({ ...one, observations: [] })),
        }
  }
  return { wanted, message, query }
}

function hasObservationIn({ observations }: DataSeries, { start, end }: SeriesRange): boolean {
  const dates = observations.flatMap(({ period }) => parsePeriod(period)?.date ?? [])
  return dates.some((date) => (start === undefined || date >= start) && (end === undefined || date <= end))
}

/** Returns a function that describes the series of an answer, with the names of codes from the structure. */
async function described(
  session: Session,
  { wanted, message, query }: Found,
): Promise<(series: DataSeries) => SeriesData> {
  const { service } = session
  const isTitled = message.series.every((one) => firstComponent(one, TITLES) !== undefined)
  const isNamed = message.labels.size > 0 || isTitled
  const fromMessage = namesFrom(message.labels, undefined)
  const bareUnits = message.series.flatMap((one) => unitCodeOf(one, fromMessage, service)?.id ?? [])
  const structure = await (isNamed && bareUnits.length === 0 ? query.structureAtHand() : query.structure())
  const units = structure ? await unitLabels(session, bareUnits, structure) : []
  const names = namesFrom([...units, ...message.labels], structure)
  const known = structure?.flow.name ?? message.name
  const flow = known ?? (isTitled ? '' : await flowName(session, wanted.flow))
  const multiplier = service.multiplier?.(wanted.flow) ?? 'named'
  const newer = await newerVersion(session, wanted.flow)
  return (series) => {
    const { name: frequency, doubt } = frequencyOf(
      series.observations,
      namedFrequency(series, names, service.slug),
    )
    const metadata = metadataOf(series, names)
    const periods = doubt === undefined ? frequency : null
    return {
      name: nameOf(series, message.dimensions, flow, names),
      frequency,
      unit: unitOf(series, names, service, multiplier),
      lastUpdated: lastUpdatedOf(series),
      ...metadata,
      notes: [newer, metadata.notes, doubt].filter(Boolean).join(' ') || null,
      ...(doubt !== undefined && { frequencyDoubt: doubt }),
      dimensions: dimensionsOf(series, message.dimensions, structure, names),
      rows: rowsOf(series.observations, periods, {
        ...scaleOf(series, multiplier),
        names,
        provider: service.slug,
      }),
    }
  }
}

/** The names of the codes of units, whose codelist may not have come with the structure. */
async function unitLabels(
  session: Session,
  units: readonly string[],
  { attributes, dimensions, structures }: FlowStructure,
): Promise<readonly (readonly [component: string, names: ReadonlyMap<string, string>])[]> {
  const wanted = new Set(units.map((id) => id.toLowerCase()))
  const components = [...attributes, ...dimensions].filter(({ id }) => wanted.has(id.toLowerCase()))
  const lists = components.map(async (component) => {
    const codes = (await optional(fetchCodes(session, component, structures))) ?? []
    return [component.id, new Map(codes.map(({ id, name }) => [id, name]))] as const
  })
  return Promise.all(lists)
}

type Query = ReturnType<typeof openQuery>

function openQuery(session: Session, { text, flow, key }: SeriesId, asOf: string | undefined) {
  let pending: Promise<FlowStructure> | undefined
  const load = () => (pending ??= flowStructure(session, flow))
  const structure = () => optional(load())
  return {
    /** Requested only if needed, and only once. */
    structure,
    /** The structure, if it has already been requested. */
    structureAtHand: async () => pending && optional(pending),
    /** The series of an answer that match the key; none if the provider says that it has none. */
    ask: async (request: UpstreamRequest): Promise<DataMessage> => {
      try {
        const sent = session.send(request)
        const answer = await (isExact(key) ? sent : wide(session, sent))
        const message = readData(answer, { pattern: key, dimensions: undefined, asOf })
        if (message.certain || message.series.length === 0) return message
        const known = await (message.guessed ? attempt(load()) : structure())
        if (message.guessed && known === undefined) throw undivided(session, text)
        const dimensions = known?.dimensions.map(({ id }) => id)
        return dimensions ? readData(answer, { pattern: key, dimensions, asOf }) : message
      } catch (error) {
        if (!(error instanceof Failure)) throw error
        if (error.kind === 'no-results') return NOTHING
        if (error.kind === 'refused') throw malformed(shapeOfKey(await structure()))
        throw error
      }
    },
  }
}

/**
 * For an answer that can't be divided into series without the structure: with a guess at its dimensions, numbers would
 * appear under the id of another series.
 */
function undivided({ service }: Session, id: string): ConnectorError {
  const sentence = `${service.name} does not say at the moment what the parts of ${quoted(id)} are. Name one series with all its codes, or try again later.`
  return new ConnectorError('provider_down', sentence)
}

function shapeOfKey(structure: FlowStructure | undefined): string {
  if (!structure) return 'a key that the dataflow has'
  const names = structure.dimensions.map((one) => componentName(one, structure.structures))
  return `a key of ${names.length} parts for ${structure.flow.name}: ${names.join(', ')}`
}

/**
 * The id of one of the series that a key with wildcards names; parts that the answer leaves out are taken from the key.
 */
function idOf({ service }: Session, { flow, key }: SeriesId, series: DataSeries): string {
  const length = Math.max(key.length, series.key.length)
  const codes = Array.from({ length }, (_, i) => series.key[i] || (key[i] ?? []).join('+'))
  return `${flowText(flow, service.agency)}/${codes.join('.')}`
}

async function ambiguous(session: Session, { wanted, message, query }: Found): Promise<ConnectorError> {
  const { series, dimensions } = message
  const structure = await query.structureAtHand()
  const open = dimensions.flatMap((id, i) => {
    if (new Set(series.map(({ key }) => key[i] ?? '')).size < 2) return []
    const component = structure?.dimensions.find((one) => one.id === id)
    const name = component && structure ? componentName(component, structure.structures) : id
    return name === id ? [id] : [`${name} (${id})`]
  })
  const examples = series.slice(0, EXAMPLES).map((one) => idOf(session, wanted, one))
  const more = series.length > EXAMPLES ? ' …' : ''
  const sentence =
    `${quoted(wanted.text)} matches ${series.length} series of ${session.service.name}, which differ in ${open.join(', ')}: ` +
    `${examples.join(', ')}${more}. Name one of them.`
  return new ConnectorError('invalid_series_id', sentence)
}

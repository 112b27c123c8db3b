import type { Series, SeriesRange, UpstreamRequest } from '../../connector.ts'
import { ConnectorError, invalidSeriesId, quoted } from '../../errors.ts'
import { readData } from '../data/data.ts'
import { type DataMessage, NOTHING } from '../data/message.ts'
import { SdmxFailure } from '../failures.ts'
import { flowText, parseSeriesId, type SeriesId } from '../flow-reference.ts'
import { isExact, isOpen } from '../keys.ts'
import type { Session } from '../provider.ts'
import { optional, wide } from '../session.ts'
import {
  componentName,
  type FlowStructure,
  flowName,
  flowStructure,
  qualified,
} from '../structures/flow-structure.ts'
import { frequencyOf, hasTitle, lastUpdatedOf, nameOf, namesFrom, unitOf } from './describe.ts'
import { frequencyOfPeriods, observationsOf } from './observations.ts'
import { periodRange } from './range.ts'

/** How many series the message about an ambiguous id names. */
const EXAMPLES = 3

/**
 * Fetches the one series that an id names. Data come first, so that an unknown series costs one request; the data
 * structure follows where the answer leaves its dimensions or names open, and its absence costs names alone.
 */
export async function fetchSeries(session: Session, id: string, range: SeriesRange): Promise<Series> {
  const { provider } = session
  const parsed = parseSeriesId(id)
  if (!parsed) throw invalidSeriesId(provider.info, id, '{dataflow}/{key}, as the lists of series give it')
  if (isOpen(parsed.key)) throw invalidSeriesId(provider.info, id, 'a key that names some of its codes')
  const wanted = { ...parsed, flow: await qualified(session, parsed.flow) }
  const query = openQuery(session, wanted)
  let message = await query.ask(
    provider.requests.data(wanted.flow, wanted.key, periodRange(range, wanted.key, provider.frequencyFirst)),
  )
  if (message.series.length === 0 && (range.start !== undefined || range.end !== undefined)) {
    // Services answer alike where a series has no observations in the range and where there is no such series.
    message = await query.ask(provider.requests.keys(wanted.flow, wanted.key))
  }
  const [series, ...others] = message.series
  if (!series) throw new SdmxFailure('no-results', 'The answer has no series.')
  if (others.length > 0) throw ambiguous(session, wanted, message)
  const isNamed = message.labels.size > 0 || hasTitle(series)
  const structure = await (isNamed ? query.structureAtHand() : query.structure())
  const names = namesFrom(message.labels, structure)
  const known = structure?.flow.name ?? message.name
  const flow = known ?? (hasTitle(series) ? '' : await flowName(session, wanted.flow))
  const frequency = frequencyOf(series, names) ?? frequencyOfPeriods(series.observations)
  const multiplier = provider.multiplier?.(wanted.flow) ?? 'named'
  const power = series.attributes.get('UNIT_MULT')
  return {
    series_id: id,
    name: nameOf(series, message.dimensions, flow, names),
    frequency,
    unit: unitOf(series, names, provider, multiplier),
    lastUpdated: lastUpdatedOf(series),
    observations: observationsOf(series.observations, range, frequency, { multiplier, power }),
  }
}

interface Query {
  /** The series of an answer that match the key; none where the provider says that it has none. */
  ask(request: UpstreamRequest): Promise<DataMessage>
  /** Asked for once, and only by who needs it. */
  structure(): Promise<FlowStructure | undefined>
  /** The structure if somebody has asked for it already. */
  structureAtHand(): Promise<FlowStructure | undefined>
}

function openQuery(session: Session, { text, flow, key }: SeriesId): Query {
  let pending: Promise<FlowStructure | undefined> | undefined
  const structure = () => (pending ??= optional(flowStructure(session, flow)))
  const ask = async (request: UpstreamRequest): Promise<DataMessage> => {
    const sent = session.send(request)
    const answer = await (isExact(key) ? sent : wide(session, sent))
    const message = readData(answer, { pattern: key, dimensions: undefined })
    if (message.certain || message.series.length === 0) return message
    const dimensions = (await structure())?.dimensions.map(({ id }) => id)
    return dimensions ? readData(answer, { pattern: key, dimensions }) : message
  }
  return {
    structure,
    structureAtHand: async () => pending,
    ask: async (request) => {
      try {
        return await ask(request)
      } catch (error) {
        if (!(error instanceof SdmxFailure)) throw error
        if (error.kind === 'no-results') return NOTHING
        if (error.kind === 'refused') {
          throw invalidSeriesId(session.provider.info, text, shapeOfKey(await structure()))
        }
        throw error
      }
    },
  }
}

function shapeOfKey(structure: FlowStructure | undefined): string {
  if (!structure) return 'a key that the dataflow has'
  const names = structure.dimensions.map((one) => componentName(one, structure.structures))
  return `a key of ${names.length} parts for ${structure.flow.name}: ${names.join(', ')}`
}

function ambiguous(
  { provider }: Session,
  { text, flow, key }: SeriesId,
  { series }: DataMessage,
): ConnectorError {
  const examples = series.slice(0, EXAMPLES).map((one) => {
    const codes = key.map((asked, i) => one.key[i] || asked.join('+'))
    return `${flowText(flow, provider.agency)}/${codes.join('.')}`
  })
  const more = series.length > EXAMPLES ? ' …' : ''
  return new ConnectorError(
    'invalid_series_id',
    `${quoted(text)} matches ${series.length} series of ${provider.info.name}: ${examples.join(', ')}${more}. Name one of them.`,
    { provider: provider.info.slug },
  )
}

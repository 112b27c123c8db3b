import { Failure, notUnderstood } from '../../failures.ts'
import { refuseCode } from '../refusals.ts'
import { attribute, attributes, child, children, parseXml, textOf, type XmlElement } from '../text/xml.ts'
import {
  assemble,
  type Block,
  type BlockObservation,
  type DataMessage,
  type DataSeries,
  type Expected,
  type Group,
  type RawObservation,
  TIME,
} from './message.ts'

/** SDMX-ML contains codes without names. */
const UNNAMED = { name: undefined, labels: new Map() }

/**
 * Reads SDMX-ML 2.1 data, generic or structure-specific: series or flat observations, groups, attributes at any level,
 * and any dimension at the observation. A footer means a failure only if there are no data before it.
 */
export function readDataXml(text: string, expected: Expected): DataMessage {
  const { name, root } = parseXml(text)
  refuseErrorElement(name, root)
  if (!/^(Generic|StructureSpecific)(TimeSeries)?Data$/.test(name)) {
    throw notUnderstood(`<${name}> instead of an SDMX data message`)
  }
  const isHistory = expected.asOf !== undefined
  const all = children(root, 'DataSet')
  const dataSets = isHistory ? disseminatedBy(expected.asOf, all) : all
  const series = dataSets.flatMap((dataSet) => [...children(dataSet, 'Series'), ...children(dataSet, 'Obs')])
  const notice = child(root, 'Footer', 'Message')
  if (notice && series.length === 0) refuseCode(attribute(notice, 'code') ?? '')
  const at = attribute(child(root, 'Header', 'Structure'), 'dimensionAtObservation') ?? TIME
  const atObservation = at === 'AllDimensions' ? TIME : at
  const blocks = dataSets.flatMap((dataSet): Block[] => {
    const withdrawn = isHistory && isWithdrawal(dataSet)
    const block = (components: Block['components'], observations: readonly XmlElement[]) => {
      return {
        components,
        observations: observations.map((one) => observationOf(one, atObservation)),
        withdrawn,
      }
    }
    return [
      ...children(dataSet, 'Series').map((one) => block(componentsOf(one), children(one, 'Obs'))),
      ...children(dataSet, 'Obs').map((one) => block(new Map(), [one])),
    ]
  })
  // Of two groups the later one decides.
  const groups = (isHistory ? dataSets.toReversed() : dataSets).flatMap((dataSet): Group[] => [
    componentsOf(dataSet),
    ...children(dataSet, 'Group').map(componentsOf),
  ])
  const ids = dimensionsIn(series[0], atObservation)
  const message = assemble(blocks, groups, UNNAMED, expected, ids && [ids])
  return isHistory ? firstOfEach(message) : message
}

/** `<Error><ErrorMessage code="100">`, and the SOAP fault that Eurostat sends for it. */
function refuseErrorElement(name: string, root: XmlElement): void {
  if (name === 'Error') refuseCode(attribute(child(root, 'ErrorMessage'), 'code') ?? '')
  const fault = name === 'Fault' ? root : child(root, 'Body', 'Fault')
  // 'Come back later for this file': https://ec.europa.eu/eurostat/web/user-guides/data-browser/api-data-access/async
  if (child(root, 'Body', 'syncResponse') ?? child(root, 'queued')) refuseCode('413')
  if (fault) refuseCode(textOf(child(fault, 'faultcode') ?? child(fault, 'Code', 'Value')))
}

/** Settings of a data set, which the structure-specific format has among its attributes. */
const SETTINGS = new Set(['action', 'structureRef', 'setID', 'dataScope', 'validFromDate', 'validToDate'])
const KEYS = ['SeriesKey', 'GroupKey', 'ObsKey'] as const

/**
 * The components of an element: in the structure-specific format its XML attributes, in the generic format `<Value id
 * value>` in elements for keys and for attributes.
 */
function componentsOf(element: XmlElement): Map<string, string> {
  const given = [...KEYS, 'Attributes'].flatMap((name) => values(child(element, name)))
  return new Map([...given, ...attributes(element).filter(([id]) => !SETTINGS.has(id))])
}

function values(element: XmlElement | undefined): readonly (readonly [id: string, value: string])[] {
  return children(element, 'Value').map((one) => [attribute(one, 'id') ?? '', attribute(one, 'value') ?? ''])
}

/** An observation; the generic format says in the header which of its dimensions is `<ObsDimension>`. */
function observationOf(element: XmlElement, atObservation: string): BlockObservation {
  const components = componentsOf(element)
  const dimension = child(element, 'ObsDimension')
  if (dimension)
    components.set(attribute(dimension, 'id') ?? atObservation, attribute(dimension, 'value') ?? '')
  const value = attribute(child(element, 'ObsValue'), 'value') ?? components.get('OBS_VALUE')
  components.delete('OBS_VALUE')
  return { components, value }
}

/** Ids that are certain to be dimensions; undefined in the structure-specific format, which doesn't tell. */
function dimensionsIn(one: XmlElement | undefined, atObservation: string): readonly string[] | undefined {
  const ids = KEYS.flatMap((key) => values(child(one, key)).map(([id]) => id))
  if (child(one, 'SeriesKey')) ids.push(atObservation)
  return ids.length === 0 ? undefined : ids.filter((id) => id !== TIME)
}

/**
 * The data sets that had been disseminated by the end of a day, in the provider's own time, newest first. An answer to
 * `includeHistory=true` has one data set for what each dissemination added or revised, valid from then on, and one for
 * what it withdrew, valid until then: https://github.com/sdmx-twg/sdmx-rest/blob/master/doc/data.md. Throws
 * `no-history` if there is none, which also holds for a provider that does not say since when its data are valid.
 */
function disseminatedBy(day: string, all: readonly XmlElement[]): readonly XmlElement[] {
  const known = all.flatMap((dataSet) => {
    // ISO 8601, with the offset of the provider.
    const since = attribute(dataSet, isWithdrawal(dataSet) ? 'validToDate' : 'validFromDate')
    return since === undefined || since.slice(0, day.length) > day ? [] : [{ dataSet, since }]
  })
  if (known.length === 0) throw new Failure('no-history', { what: 'No data set was valid on that day.' })
  return known.sort((a, b) => Date.parse(b.since) - Date.parse(a.since)).map(({ dataSet }) => dataSet)
}

function isWithdrawal(dataSet: XmlElement): boolean {
  return attribute(dataSet, 'action') === 'Delete'
}

/** Of several observations of one period only the first, and none if that one was withdrawn. */
function firstOfEach(message: DataMessage): DataMessage {
  const series = message.series.map((one): DataSeries => {
    const first = new Map<string, RawObservation>()
    for (const observation of one.observations) {
      if (!first.has(observation.period)) first.set(observation.period, observation)
    }
    return { ...one, observations: [...first.values()].filter(({ withdrawn }) => !withdrawn) }
  })
  return { ...message, series }
}

import { Failure, notUnderstood } from '../../failures.ts'
import { refuseCode } from '../refusals.ts'
import { attribute, attributes, child, children, parseXml, textOf, type XmlElement } from '../text/xml.ts'
import { assemble, type Block, type BlockObservation, type Group, TIME } from './assemble.ts'
import type { DataMessage, DataSeries, Expected, RawObservation } from './message.ts'

/** How one of the two SDMX-ML data formats writes components. */
interface Format {
  /** Components of a series or of a group, and of an observation outside a series. */
  components(element: XmlElement): ReadonlyMap<string, string>
  observation(element: XmlElement): BlockObservation
  /** Attributes of the whole data set. */
  dataSet(element: XmlElement): Group
  /** Ids that are certain to be dimensions, if the format distinguishes them from attributes. */
  dimensions(dataSets: readonly XmlElement[]): readonly string[] | undefined
}

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
  const at = attribute(child(root, 'Header', 'Structure'), 'dimensionAtObservation')
  const format = name.startsWith('Generic') ? generic(at) : STRUCTURE_SPECIFIC
  const blocks = dataSets.flatMap((dataSet): Block[] => {
    const withdrawn = isHistory && isWithdrawal(dataSet)
    const block = (one: XmlElement, observations: readonly XmlElement[]) => {
      return {
        components: format.components(one),
        observations: observations.map(format.observation),
        withdrawn,
      }
    }
    return [
      ...children(dataSet, 'Series').map((one) => block(one, children(one, 'Obs'))),
      ...children(dataSet, 'Obs').map((one) => block(one, [one])),
    ]
  })
  // Of two groups the later one decides.
  const groups = (isHistory ? dataSets.toReversed() : dataSets).flatMap((dataSet) => [
    format.dataSet(dataSet),
    ...children(dataSet, 'Group').map(format.components),
  ])
  const ids = format.dimensions(dataSets)
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

/**
 * The generic format: everything is `<Value id value>`; keys, attributes and the one dimension at the observation are
 * in separate elements.
 */
function generic(dimensionAtObservation: string | undefined): Format {
  const values = (element: XmlElement | undefined) =>
    children(element, 'Value').map(
      (one) => [attribute(one, 'id') ?? '', attribute(one, 'value') ?? ''] as const,
    )
  const atObservation =
    dimensionAtObservation === undefined || dimensionAtObservation === 'AllDimensions'
      ? TIME
      : dimensionAtObservation
  const KEYS = ['SeriesKey', 'GroupKey', 'ObsKey'] as const
  return {
    components: (element) =>
      new Map([
        ...KEYS.flatMap((key) => values(child(element, key))),
        ...values(child(element, 'Attributes')),
      ]),
    observation: (element) => {
      const dimension = child(element, 'ObsDimension')
      const components = new Map([
        ...values(child(element, 'ObsKey')),
        ...values(child(element, 'Attributes')),
      ])
      if (dimension)
        components.set(attribute(dimension, 'id') ?? atObservation, attribute(dimension, 'value') ?? '')
      return { components, value: attribute(child(element, 'ObsValue'), 'value') }
    },
    dataSet: (element) => new Map(values(child(element, 'Attributes'))),
    dimensions: (dataSets) => {
      const one = dataSets.flatMap((dataSet) => [
        ...children(dataSet, 'Series'),
        ...children(dataSet, 'Obs'),
      ])[0]
      const ids = KEYS.flatMap((key) => values(child(one, key)).map(([id]) => id))
      if (child(one, 'SeriesKey') && atObservation !== TIME) ids.push(atObservation)
      return one && ids.filter((id) => id !== TIME)
    },
  }
}

/**
 * The structure-specific format writes all components as XML attributes; the data set's element also has these
 * settings.
 */
const SETTINGS = new Set(['action', 'structureRef', 'setID', 'dataScope', 'validFromDate', 'validToDate'])

const STRUCTURE_SPECIFIC: Format = {
  components: (element) => new Map(attributes(element).filter(([id]) => id !== 'OBS_VALUE')),
  observation: (element) => {
    const components = new Map(attributes(element))
    const value = components.get('OBS_VALUE')
    components.delete('OBS_VALUE')
    return { components, value }
  },
  dataSet: (element) => new Map(attributes(element).filter(([id]) => !SETTINGS.has(id))),
  dimensions: () => undefined,
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

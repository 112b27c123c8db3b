import type { UpstreamAnswer } from '../../connector.ts'
import { notUnderstood } from '../../failures.ts'
import { isRecord, type Json, type JsonRecord, list, parseJson, record } from '../../read.ts'
import { refuseJsonFailure } from '../refusals.ts'
import { inEnglish, textOf } from '../text/text.ts'
import {
  assemble,
  type Block,
  type BlockObservation,
  type DataMessage,
  type Expected,
  type Group,
  type Labels,
  TIME,
} from './message.ts'

/** A dimension, attribute or measure of the message; data refer to its values by index. */
interface Declared {
  readonly id: string
  /** Its position in the key; NaN if the message doesn't say. */
  readonly position: number
  readonly codes: readonly string[]
  readonly names: ReadonlyMap<string, string>
}

type Level = 'dataSet' | 'dimensionGroup' | 'series' | 'observation'

/** Components by what they belong to. */
type Declarations = Readonly<Record<Level, readonly Declared[]>>

interface Structure {
  readonly name: string | undefined
  readonly dimensions: Declarations
  readonly measures: Declarations
  readonly attributes: Declarations
}

/**
 * Reads SDMX-JSON data: 1.0 with `dataSets` at the top or below `data`, 2.0 with `structures`; series with
 * observations or flat observations (`AllDimensions`).
 */
export function readDataJson(answer: UpstreamAnswer, expected: Expected): DataMessage {
  const message = record(parseJson(answer))
  refuseJsonFailure(message)
  const data = message['dataSets'] === undefined ? record(message['data']) : message
  const structures = [data['structures'] ?? data['structure']].flat().map((one) => structure(record(one)))
  const dataSets = list(data['dataSets']).map(record)
  const first = structures[0]
  if (!first || (dataSets.length === 0 && data['dataSets'] === undefined)) {
    throw notUnderstood('JSON that is no SDMX data message')
  }
  const groups: Group[] = []
  const blocks = dataSets.flatMap((dataSet) => {
    const own = structures[Number(dataSet['structure'] ?? 0)] ?? first
    groups.push(...attributeGroups(own, dataSet))
    return [...seriesBlocks(own, dataSet), ...flatBlocks(own, dataSet)]
  })
  const known = allDimensions(first).filter(({ id }) => id !== TIME)
  const isPositioned = known.every(({ position }) => !Number.isNaN(position))
  const keyed = isPositioned ? known.toSorted((a, b) => a.position - b.position) : known
  const ids = keyed.map(({ id }) => id)
  const order = expected.dimensions ?? (isPositioned ? ids : undefined)
  const names = { name: first.name, labels: labelsOf(structures) }
  return assemble(blocks, groups, names, { ...expected, dimensions: order }, [ids])
}

function structure(object: JsonRecord): Structure {
  const declarations = (parent: JsonRecord): Declarations => {
    const at = (level: Level | 'dataset') => list(parent[level]).map((one) => declared(record(one)))
    return {
      dataSet: [...at('dataSet'), ...at('dataset')],
      dimensionGroup: at('dimensionGroup'),
      series: at('series'),
      observation: at('observation'),
    }
  }
  return {
    name: inEnglish(object, 'name') || undefined,
    dimensions: declarations(record(object['dimensions'])),
    measures: declarations(record(object['measures'])),
    attributes: declarations(record(object['attributes'])),
  }
}

/** All dimensions, in the order of the keys of `dimensionGroupAttributes`. */
function allDimensions({ dimensions: { dataSet, series, observation } }: Structure): readonly Declared[] {
  return [...dataSet, ...series, ...observation]
}

function declared(object: JsonRecord): Declared {
  const id = textOf(object['id'])
  const roles = [object['role'], object['roles']].flat()
  const names = new Map<string, string>()
  // Values are `{id, name}`; `{value}` or just `{name}` for times and free text; null for an index that isn't used.
  const codes = list(object['values']).map((value) => {
    const name = inEnglish(record(value), 'name')
    const code = textOf(record(value)['id'] ?? record(value)['value'] ?? value) || name
    if (name !== '') names.set(code, name)
    return code
  })
  const isTime = id === TIME || roles.includes('time') || roles.includes('TIME_PERIOD')
  return {
    id: isTime ? TIME : id,
    position: Number(object['keyPosition'] ?? Number.NaN),
    codes,
    names,
  }
}

function seriesBlocks(own: Structure, dataSet: JsonRecord): readonly Block[] {
  return Object.entries(record(dataSet['series'])).map(([key, value]) => {
    if (!isRecord(value)) throw notUnderstood('a series that is no object')
    const series = value
    const components = new Map([
      ...fixed(own),
      ...decoded(own.dimensions.series, indices(key)),
      ...decoded(own.attributes.series, list(series['attributes'])),
    ])
    return { components, observations: observations(own, own.dimensions.observation, series['observations']) }
  })
}

function flatBlocks(own: Structure, dataSet: JsonRecord): readonly Block[] {
  if (dataSet['observations'] === undefined) return []
  // The keys of flat observations have the dimensions of series and observations, but not those fixed for the data set.
  const dimensions = [...own.dimensions.series, ...own.dimensions.observation]
  return [{ components: fixed(own), observations: observations(own, dimensions, dataSet['observations']) }]
}

/** An observation is `[measures…, attributes…]`; SDMX-JSON 1.0 has exactly one measure and does not declare it. */
function observations(
  own: Structure,
  dimensions: readonly Declared[],
  value: Json | undefined,
): readonly BlockObservation[] {
  // A list of keys has none.
  if (value !== undefined && !isRecord(value)) throw notUnderstood('observations that are no object')
  const measures = own.measures.observation
  const measure = Math.max(
    0,
    measures.findIndex(({ id }) => id === 'OBS_VALUE'),
  )
  const first = Math.max(1, measures.length)
  return Object.entries(record(value)).map(([key, found]) => {
    const parts = list(found)
    const components = new Map([
      ...decoded(dimensions, indices(key)),
      ...decoded(own.attributes.observation, parts.slice(first)),
    ])
    return { components, value: parts[measure] }
  })
}

/**
 * Attributes of the data set, and those of groups of series: `{"::::0::": […]}`, whose key has a part for each
 * dimension.
 */
function attributeGroups(own: Structure, dataSet: JsonRecord): readonly Group[] {
  const groups: Group[] = [decoded(own.attributes.dataSet, list(dataSet['attributes']))]
  for (const [key, values] of Object.entries(record(dataSet['dimensionGroupAttributes']))) {
    const where = decoded(allDimensions(own), indices(key))
    groups.push(new Map([...where, ...decoded(own.attributes.dimensionGroup, list(values))]))
  }
  return groups
}

/** Dimensions with one value for the whole data set. */
function fixed(own: Structure): ReadonlyMap<string, string> {
  const { dataSet } = own.dimensions
  return decoded(
    dataSet,
    dataSet.map(() => 0),
  )
}

/** Reads a key such as `0:3::1`: an index for each dimension, null for an empty part. */
function indices(key: string): readonly (number | null)[] {
  return key.split(':').map((part) => (part === '' ? null : Number(part)))
}

/**
 * Replaces indices by their codes. A text is the value itself (uncoded attributes in 2.0); null means that it is
 * absent.
 */
function decoded(components: readonly Declared[], values: readonly Json[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  for (const [i, { id, codes }] of components.entries()) {
    const value = Array.isArray(values[i]) ? values[i][0] : values[i]
    const code = typeof value === 'number' && codes.length > 0 ? codes[value] : textOf(value)
    if (code) found.set(id, code)
  }
  return found
}

function labelsOf(structures: readonly Structure[]): Labels {
  const labels = new Map<string, ReadonlyMap<string, string>>()
  for (const { dimensions, attributes } of structures) {
    for (const { id, names } of [dimensions, attributes].flatMap((one) => Object.values(one).flat())) {
      if (names.size > 0) labels.set(id, new Map([...(labels.get(id) ?? []), ...names]))
    }
  }
  return labels
}

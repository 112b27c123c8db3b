import type { SeriesData, SeriesDimension } from '../../connector.ts'
import { type Json, number, POWERS } from '../../read.ts'
import { type DataSeries, MULTIPLIERS } from '../data/message.ts'
import type { Multiplier, Scale, SdmxService } from '../session.ts'
import { codesOf, componentName, type FlowStructure } from '../structures/flow-structure.ts'

/** The name of a component's code; undefined if neither message nor structure has one. */
export type Names = (component: string, code: string) => string | undefined

/** Attributes that contain the title of a series, best first. */
export const TITLES = [
  'TITLE',
  'TITLE_EN',
  'BBK_TITLE_ENG',
  'BBK_TITLE',
  'TITLE_TS',
  'SERIES_NAME',
  'TITLE_COMPL',
  'EXT_TITLE',
]
const UNITS = ['UNIT_MEASURE', 'UNIT', 'UNIT_MEAS', 'UNIT_ENG', 'BBK_UNIT_ENG', 'BBK_UNIT', 'EXT_UNIT']
/** Components that contain the frequency, best first. */
export const FREQUENCIES = ['FREQ', 'FREQUENCY', 'BBK_STD_FREQ', 'TIME_FORMAT']

/** Names from the message first, because they belong to its version, then from the structure of the dataflow. */
export function namesFrom(
  labels: Iterable<readonly [component: string, names: ReadonlyMap<string, string>]>,
  structure: FlowStructure | undefined,
): Names {
  const lists = new Map<string, ReadonlyMap<string, string>>()
  for (const component of structure ? [...structure.dimensions, ...structure.attributes] : []) {
    const codes = codesOf(component, structure!.structures) ?? []
    lists.set(component.id.toLowerCase(), new Map(codes.map(({ id, name }) => [id, name])))
  }
  for (const [component, names] of labels) {
    const id = component.toLowerCase()
    lists.set(id, new Map([...(lists.get(id) ?? []), ...names]))
  }
  return (component, code) => lists.get(component.toLowerCase())?.get(code)
}

/** The provider's title, else the dataflow's name and the name of each dimension's code, except for the frequency. */
export function nameOf(
  series: DataSeries,
  dimensions: readonly string[],
  flow: string,
  names: Names,
): string {
  const title = firstComponent(series, TITLES)
  // The BIS writes a blank before some titles.
  if (title) return title.value.trim()
  const parts = dimensions.flatMap((id, i) => {
    const code = series.key[i] ?? ''
    const says = code !== '' && code !== '_Z' && !FREQUENCIES.includes(id.toUpperCase())
    return says ? [names(id, code) ?? code] : []
  })
  return parts.length > 0 ? `${flow}: ${parts.join(', ')}` : flow
}

/** The code of a series' unit, if no name for it is known yet. */
export function unitCodeOf(
  series: DataSeries,
  names: Names,
  service: SdmxService,
): { readonly id: string; readonly value: string } | undefined {
  const unit = firstComponent(series, service.units ?? UNITS)
  const isBare = unit !== undefined && !unit.value.includes(' ') && names(unit.id, unit.value) === undefined
  return isBare ? unit : undefined
}

export function unitOf(
  series: DataSeries,
  names: Names,
  service: SdmxService,
  wanted: Multiplier,
): string | null {
  const special = service.unit?.((id) => firstComponent(series, [id])?.value ?? '')
  if (special !== undefined) return special
  const unit = firstComponent(series, service.units ?? UNITS)
  const { multiplier, power = '0' } = scaleOf(series, wanted)
  const isNamed = multiplier === 'named' && Number(power) !== 0
  const scale = isNamed ? (POWERS[power] ?? `10^${power}`) : undefined
  const name = unit && (names(unit.id, unit.value) ?? unit.value)
  return name && scale ? `${name}, ${scale}` : (name ?? scale ?? null)
}

/**
 * The scale of a series. If the multiplier is a part of the unit but changes from one observation to the next, no unit
 * is right for all values, so they are multiplied instead. Observations without a value don't count, because some
 * providers leave all their cells empty.
 */
export function scaleOf(series: DataSeries, multiplier: Multiplier): Scale {
  const power = powerOf(firstComponent(series, MULTIPLIERS)?.value)
  if (multiplier !== 'named') return { multiplier, power }
  const valued = series.observations.filter(({ value }) => number(value as Json) !== null)
  const [only = power, ...others] = new Set(
    valued.map((one) => (one.multiplier === undefined ? power : powerOf(one.multiplier))),
  )
  return others.length === 0 ? { multiplier, power: only } : { multiplier: 'multiply', power }
}

/** Some providers leave the multiplier empty, or write `NA`, for values that have none. */
function powerOf(multiplier: string | undefined): string {
  const power = Number(multiplier ?? '')
  return Number.isInteger(power) ? String(power) : '0'
}

/** The first of these components that the series has, under the series' own spelling of the id. */
export function firstComponent(
  series: DataSeries,
  ids: readonly string[],
): { readonly id: string; readonly value: string } | undefined {
  for (const wanted of ids) {
    for (const [id, value] of series.attributes) {
      if (id.toUpperCase() === wanted && value.trim() !== '') return { id, value }
    }
  }
  return undefined
}

const UPDATES = ['LAST_UPDATE', 'LAST_UPDATED', 'UPDATE_DATE', 'LAST_UPDATE_DATE', 'UPDATED']
const ADJUSTMENTS = [
  'SEASONAL_ADJUST',
  'SEASONAL_ADJUSTMENT',
  'ADJUSTMENT',
  'S_ADJ',
  'SEASONAL_ADJ',
  'SEAS_ADJ',
  // At INSEE.
  'CORRECTION',
  // At the Australian Bureau of Statistics.
  'TSEST',
]
const SOURCES = [
  'SOURCE_AGENCY',
  'SOURCE_AGENCY_2',
  'SOURCE_PUB',
  'SOURCE_REF',
  'REF_SOURCE',
  'DATA_SOURCE',
  'SOURCE',
]
const NOTES = [
  'FULL_DESCRIPTION',
  'COMMENT_TS',
  'COMMENTS',
  'COMMENT',
  'NOTES',
  'NOTE',
  'METHODOLOGY_NOTES',
  'BBK_COMM_GEN_ENG',
  'BBK_COMM_GEN',
]

/** The metadata in attributes and dimensions beside name, frequency and unit; null for those that are missing. */
export function metadataOf(
  series: DataSeries,
  names: Names,
): Pick<SeriesData, 'seasonalAdjustment' | 'source' | 'notes'> {
  const said = (ids: readonly string[]) => {
    const found = firstComponent(series, ids)
    return found ? (names(found.id, found.value) ?? found.value).trim() : null
  }
  return { seasonalAdjustment: said(ADJUSTMENTS), source: said(SOURCES), notes: said(NOTES) }
}

export function dimensionsOf(
  series: DataSeries,
  ids: readonly string[],
  structure: FlowStructure | undefined,
  names: Names,
): readonly SeriesDimension[] | null {
  const found = ids.flatMap((id, i) => {
    const code = series.key[i] ?? ''
    if (id === '' || code === '') return []
    const component = structure?.dimensions.find((one) => one.id.toLowerCase() === id.toLowerCase())
    const name = component && structure ? componentName(component, structure.structures) : id
    return [{ id, name: name === id ? null : name, code, label: names(id, code) ?? null }]
  })
  return found.length === 0 ? null : found
}

/** When the data last changed, ISO 8601; null if the provider does not say. */
export function lastUpdatedOf(series: DataSeries): string | null {
  const text = firstComponent(series, UPDATES)?.value ?? ''
  // Eurostat's CSV: 10/11/22 23:00:00.
  const european = /^(\d{2})\/(\d{2})\/(\d{2}|\d{4})(?: (\d{2}:\d{2}:\d{2}))?$/.exec(text)
  if (european) {
    const [, day, month, year, time] = european
    const date = `${year!.padStart(4, '20')}-${month}-${day}`
    return time === undefined ? date : `${date}T${time}`
  }
  return /^\d{4}-\d{2}-\d{2}/.test(text) ? text : null
}

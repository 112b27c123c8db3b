import type { SeriesData, SeriesDimension } from '../../connector.ts'
import type { DataSeries } from '../data/message.ts'
import { componentName, type FlowStructure } from '../structures/flow-structure.ts'
import { firstComponent, type Names } from './describe.ts'

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

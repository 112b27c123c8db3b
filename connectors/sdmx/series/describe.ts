import { frequencyName } from '../../periods.ts'
import type { DataSeries, Labels } from '../data/message.ts'
import type { Multiplier, SdmxProvider } from '../provider.ts'
import { codesOf, type FlowStructure } from '../structures/flow-structure.ts'

/** The name of a code of a component; undefined where neither message nor structure has one. */
export type Names = (component: string, code: string) => string | undefined

/** Attributes that name a series, best first. */
const TITLES = ['TITLE', 'TITLE_TS', 'SERIES_NAME', 'TITLE_COMPL', 'EXT_TITLE']
const UNITS = ['UNIT_MEASURE', 'UNIT', 'EXT_UNIT']
const FREQUENCIES = ['FREQ', 'FREQUENCY', 'TIME_FORMAT']
const UPDATES = ['LAST_UPDATE', 'LAST_UPDATED', 'UPDATE_DATE', 'LAST_UPDATE_DATE', 'UPDATED']

const POWERS: Readonly<Record<string, string>> = {
  1: 'tens',
  2: 'hundreds',
  3: 'thousands',
  4: 'tens of thousands',
  6: 'millions',
  9: 'billions',
  12: 'trillions',
}

/** Names from the message first, because they fit its version, then from the structure of the dataflow. */
export function namesFrom(labels: Labels, structure: FlowStructure | undefined): Names {
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

export function hasTitle(series: DataSeries): boolean {
  return first(series, TITLES) !== undefined
}

/** The title that the provider gives, else the dataflow and what each dimension but the frequency says. */
export function nameOf(
  series: DataSeries,
  dimensions: readonly string[],
  flow: string,
  names: Names,
): string {
  const title = first(series, TITLES)
  if (title) return title.value
  const parts = dimensions.flatMap((id, i) => {
    const code = series.key[i] ?? ''
    const says = code !== '' && code !== '_Z' && !FREQUENCIES.includes(id.toUpperCase())
    return says ? [names(id, code) ?? code] : []
  })
  return parts.length > 0 ? `${flow}: ${parts.join(', ')}` : flow
}

export function frequencyOf(series: DataSeries, names: Names): string | null {
  for (const id of FREQUENCIES) {
    const found = first(series, [id])
    const name = found && (frequencyName(found.value) ?? frequencyName(names(found.id, found.value)))
    if (name) return name
  }
  return null
}

export function unitOf(
  series: DataSeries,
  names: Names,
  provider: SdmxProvider,
  multiplier: Multiplier,
): string | null {
  const unit = first(series, provider.units ?? UNITS)
  const power = multiplier === 'named' ? (first(series, ['UNIT_MULT'])?.value ?? '0') : '0'
  const scale = Number(power) === 0 ? undefined : (POWERS[power] ?? `10^${power}`)
  const name = unit && (names(unit.id, unit.value) ?? unit.value)
  return name && scale ? `${name}, ${scale}` : (name ?? scale ?? null)
}

/** When the data changed last, ISO 8601; null where the provider does not say. */
export function lastUpdatedOf(series: DataSeries): string | null {
  const text = first(series, UPDATES)?.value ?? ''
  // Eurostat's CSV: 10/11/22 23:00:00.
  const european = /^(\d{2})\/(\d{2})\/(\d{2}|\d{4})(?: (\d{2}:\d{2}:\d{2}))?$/.exec(text)
  if (european) {
    const [, day, month, year, time] = european
    const date = `${year!.padStart(4, '20')}-${month}-${day}`
    return time === undefined ? date : `${date}T${time}`
  }
  return /^\d{4}-\d{2}-\d{2}/.test(text) ? text : null
}

/** The first of these components that the series has, under the id that it has there. */
function first(series: DataSeries, ids: readonly string[]): { id: string; value: string } | undefined {
  for (const wanted of ids) {
    for (const [id, value] of series.attributes) {
      if (id.toUpperCase() === wanted && value !== '') return { id, value }
    }
  }
  return undefined
}

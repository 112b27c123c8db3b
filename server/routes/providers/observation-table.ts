import type { Series } from '../../../connectors/index.ts'
import type { Column, QueryOptions } from '../../../engine/index.ts'
import type { Envelope } from '../../transfers/download.ts'

export const OBSERVATION_COLUMNS: readonly Column[] = [
  { name: 'date', type: 'date', nullable: false, description: '' },
  { name: 'period', type: 'string', nullable: true, description: '' },
  { name: 'value', type: 'double', nullable: true, description: '' },
  { name: 'status', type: 'string', nullable: true, description: '' },
]

/** Observations as rows of the columns above. */
export function observationRows({ observations }: Series) {
  return observations.map(({ date, period = null, value, status = null }) => [date, period, value, status])
}

/** The options. If they name no columns, those that contain values are selected. */
export function withColumns(options: QueryOptions, { observations }: Series): QueryOptions {
  const { select, apply, compute } = options
  if (select !== undefined || apply !== undefined || compute !== undefined) return options
  const hasPeriods = observations.some(({ period }) => period !== undefined)
  const hasStatuses = observations.some(({ status }) => status !== undefined)
  const names = ['date', ...(hasPeriods ? ['period'] : []), 'value', ...(hasStatuses ? ['status'] : [])]
  return { ...options, select: names.join(',') }
}

/** The text before and after the observations in the JSON of a series. */
export function envelopeOf(series: Series): Envelope {
  const { observations, ...head } = series
  return { before: `${JSON.stringify(head).slice(0, -1)},"observations":`, after: '}' }
}

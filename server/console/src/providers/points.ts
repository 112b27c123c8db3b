import type { Series } from '../../../client/index.ts'
import { type Drawing, drawingOf, numberOf } from '../plot/draw.ts'

/** The observations of a series as a drawing: by their time of day where they have one, otherwise by their dates. */
export function drawSeries({
  observations,
  frequency,
  unit,
}: Pick<Series, 'observations' | 'frequency' | 'unit'>): {
  readonly drawing: Drawing
  readonly xType: 'date' | 'timestamp'
} {
  const xType = frequency === 'intraday' ? 'timestamp' : 'date'
  const cells = observations.map(({ date, period = date, value }) => ({
    x: numberOf(xType === 'timestamp' ? period : date, xType) ?? Number.NaN,
    series: unit ?? 'value',
    y: typeof value === 'number' ? value : null,
  }))
  return { drawing: drawingOf(cells), xType }
}

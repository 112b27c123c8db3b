import { formatNumber, plural } from '../format.ts'
import type { Drawing } from './group.ts'

const MOST_NUMBERS = 200

/** The points of a chart as a table, for reading and for screen readers. */
export function Numbers(props: {
  readonly drawing: Drawing
  readonly xLabel: string
  readonly xType: string
  readonly yLabel: string
}) {
  const { drawing, xType } = props
  const xText = (x: number) => {
    if (drawing.labels) return drawing.labels[x] ?? ''
    if (xType === 'date') return new Date(x).toISOString().slice(0, 10)
    return xType.startsWith('timestamp')
      ? new Date(x).toISOString().slice(0, 16).replace('T', ' ')
      : formatNumber(x)
  }
  return (
    <details class="numbers">
      <summary>The numbers</summary>
      <table class="plain-table values-table">
        <thead>
          <tr>
            <th scope="col">{props.xLabel}</th>
            <th scope="col" class="is-right">
              {props.yLabel}
            </th>
          </tr>
        </thead>
        <tbody>
          {drawing.points.slice(0, MOST_NUMBERS).map((point, at) => (
            <tr key={at}>
              <td class="figures">{xText(point.x)}</td>
              <td class="is-right figures">{point.y === null ? '' : formatNumber(point.y)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {drawing.points.length > MOST_NUMBERS && (
        <p class="hint">
          And {plural(drawing.points.length - MOST_NUMBERS, 'more')}. Download the rows for all.
        </p>
      )}
    </details>
  )
}

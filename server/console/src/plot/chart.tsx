import { useEffect, useRef, useState } from 'preact/hooks'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { formatCount, formatDateTime, formatNumber } from '../format.ts'
import { Icon } from '../ui/icons.tsx'
import { onTheme } from '../ui/theme.ts'
import type { PlotKind } from './choice.ts'
import type { Point } from './group.ts'
import { optionsFor, paintOf } from './options.ts'
import { pictureOf, saveBlob } from './picture.ts'

const ASPECT = 0.5
const LOWEST = 260
const HIGHEST = 400
/** Height of everything in the window but the chart, in pixels. */
const ABOVE = 470

/**
 * A chart that fills its container, follows the page's theme, shows values under the pointer and can be saved as a
 * picture.
 */
export function Chart(props: {
  readonly title: string
  readonly points: readonly Point[]
  readonly labels?: readonly string[] | undefined
  readonly xType: string
  readonly xLabel: string
  readonly yLabel: string
  readonly kind: PlotKind
}) {
  const { title, points, labels, xType, xLabel, yLabel, kind } = props
  const place = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot>(undefined)
  const [width, setWidth] = useState(0)
  const [theme, setTheme] = useState(0)
  const [at, setAt] = useState<number | null>(null)
  const temporal = xType === 'date' || xType.startsWith('timestamp')

  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry!.contentRect.width)))
    observer.observe(place.current!)
    return () => observer.disconnect()
  }, [])
  useEffect(() => onTheme(() => setTheme((round) => round + 1)), [])

  useEffect(() => {
    if (width === 0) return
    const room = Math.max(LOWEST, Math.min(HIGHEST, innerHeight - ABOVE))
    const height = Math.round(Math.min(room, Math.max(LOWEST, width * ASPECT)))
    const look = { width, height, kind, xType, xLabel, yLabel, labels, pointCount: points.length }
    const options = optionsFor(look, paintOf(place.current!))
    options.hooks = { setCursor: [(chart) => setAt(chart.cursor.idx ?? null)] }
    const x = points.map((point) => (temporal ? point.x / 1000 : point.x))
    const chart = new uPlot(options, [x, points.map(({ y }) => y)], place.current!)
    plot.current = chart
    return () => chart.destroy()
  }, [points, labels, width, theme, kind, xType, xLabel, yLabel])

  const xText = (x: number) => {
    if (labels) return labels[x] ?? ''
    if (xType === 'date') return new Date(x).toISOString().slice(0, 10)
    return temporal ? formatDateTime(new Date(x).toISOString()) : formatNumber(x)
  }
  const under = at === null ? undefined : points[at]
  const save = async () => {
    const blob = await pictureOf(plot.current!, title, paintOf(place.current!))
    saveBlob(blob, `${title.replace(/[^\p{L}\p{N} ._-]+/gu, ' ').trim() || 'plot'}.png`)
  }

  return (
    <figure class="chart">
      <figcaption class="chart-head">
        <span class="chart-axis">{yLabel}</span>
        <span class="chart-value figures" aria-hidden="true">
          {under ? `${xText(under.x)}: ${under.y === null ? 'missing' : formatNumber(under.y)}` : ''}
        </span>
        <button type="button" class="button button-small" onClick={save}>
          <Icon name="download" />
          <span>Save picture</span>
        </button>
      </figcaption>
      <div class="chart-place" ref={place} role="img" aria-label={describe(title, points, xText)} />
      <p class="chart-x">{xLabel}</p>
    </figure>
  )
}

/** Describes the chart for people who can't see it. */
function describe(title: string, points: readonly Point[], xText: (x: number) => string): string {
  const known = points.filter((point): point is Point & { y: number } => point.y !== null)
  if (known.length === 0) return `${title}: no values`
  let low = known[0]!
  let high = known[0]!
  for (const point of known) {
    if (point.y < low.y) low = point
    if (point.y > high.y) high = point
  }
  return (
    `${title}: ${formatCount(known.length)} values from ${xText(points[0]!.x)} to ${xText(points.at(-1)!.x)}. ` +
    `Lowest ${formatNumber(low.y)} at ${xText(low.x)}, highest ${formatNumber(high.y)} at ${xText(high.x)}.`
  )
}

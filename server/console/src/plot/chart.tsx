import type { RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { formatCount, formatNumber } from '../format.ts'
import { useSize } from '../hooks.ts'
import { useTheme } from '../theme.ts'
import { Button } from '../ui/button.tsx'
import { saveBlob } from '../ui/copy.tsx'
import { isTemporal } from './choice.ts'
import type { Drawing } from './draw.ts'
import { type ChartLook, optionsFor, paintOf } from './options.ts'

const ASPECT = 0.5
const LOWEST = 260
const HIGHEST = 420
/** Height of everything in the window but the chart, in pixels. */
const ABOVE = 430

/**
 * A chart that fills its container, follows the page's theme, shows values under the pointer and can be saved as a
 * picture.
 */
export function Chart(props: ChartLook & { readonly title: string }) {
  const { title, drawing, xText } = props
  const place = useRef<HTMLDivElement>(null)
  const { plot, at } = usePlot(place, props)
  const save = async () => {
    const blob = await pictureOf(plot.current!, title, place.current!)
    saveBlob(blob, `${title.replace(/[^\p{L}\p{N} ._-]+/gu, ' ').trim() || 'plot'}.png`)
  }
  const valueAt = (ys: readonly (number | null | undefined)[]) => {
    const value = at === null ? undefined : ys[at]
    return value === null ? 'missing' : value === undefined ? '' : formatNumber(value)
  }
  const [first] = drawing.series
  const isAlone = drawing.series.length === 1
  return (
    <figure class="chart">
      <figcaption class="chart-head">
        {!isAlone && (
          <ul class="legend">
            {drawing.series.map(({ name, ys }, number) => (
              <li key={name}>
                <i class={`swatch swatch-${number + 1}`} />
                {name} <span class="figures">{valueAt(ys)}</span>
              </li>
            ))}
          </ul>
        )}
        <span class="chart-value figures" aria-hidden="true">
          {at !== null && `${xText(drawing.xs[at]!)}${isAlone ? `: ${valueAt(first!.ys)}` : ''}`}
        </span>
        <Button icon="download" look="small" to={save} says="Save picture" />
      </figcaption>
      <div class="chart-place" ref={place} role="img" aria-label={describe(title, drawing, xText)} />
    </figure>
  )
}

/** Draws into an element: the plot, and the index of the x under the pointer. */
function usePlot(place: RefObject<HTMLDivElement | null>, look: ChartLook) {
  const { drawing, xType, xLabel, yLabel, kind } = look
  const plot = useRef<uPlot>(undefined)
  const { width } = useSize(place)
  const theme = useTheme()
  const [at, setAt] = useState<number | null>(null)
  useEffect(() => {
    if (width === 0) return
    const room = Math.max(LOWEST, Math.min(HIGHEST, innerHeight - ABOVE))
    const height = Math.round(Math.min(room, Math.max(LOWEST, width * ASPECT)))
    const options = optionsFor(look, { width, height }, paintOf(place.current!))
    options.hooks = { setCursor: [(chart) => setAt(chart.cursor.idx ?? null)] }
    const xs = drawing.xs.map((x) => (isTemporal(xType) ? x / 1000 : x))
    // uPlot's types don't know undefined, which it draws over.
    const data = [xs, ...drawing.series.map(({ ys }) => ys)] as uPlot.AlignedData
    const chart = new uPlot(options, data, place.current!)
    plot.current = chart
    return () => {
      setAt(null)
      chart.destroy()
    }
  }, [drawing, width, theme, kind, xType, xLabel, yLabel])
  return { plot, at: at !== null && at < drawing.xs.length ? at : null }
}

/** Describes the chart for people who can't see it. */
function describe(title: string, { xs, series }: Drawing, xText: (x: number) => string): string {
  const known = series.flatMap(({ ys }) => ys.flatMap((y, at) => (y == null ? [] : [{ x: xs[at]!, y }])))
  if (known.length === 0) return `${title}: no values`
  const low = known.reduce((least, point) => (point.y < least.y ? point : least))
  const high = known.reduce((most, point) => (point.y > most.y ? point : most))
  return (
    `${title}: ${formatCount(known.length)} values from ${xText(xs[0]!)} to ${xText(xs.at(-1)!)}. ` +
    `Lowest ${formatNumber(low.y)} at ${xText(low.x)}, highest ${formatNumber(high.y)} at ${xText(high.x)}.`
  )
}

const MARGIN = 20
const TITLE = 34

/** Draws the chart as a PNG with its title, on the background colour of the page. */
function pictureOf(plot: uPlot, title: string, place: Element): Promise<Blob> {
  const paint = paintOf(place)
  const source = plot.ctx.canvas
  const ratio = devicePixelRatio
  const canvas = document.createElement('canvas')
  canvas.width = source.width + 2 * MARGIN * ratio
  canvas.height = source.height + (2 * MARGIN + TITLE) * ratio
  const context = canvas.getContext('2d')!
  context.fillStyle = paint.surface
  context.fillRect(0, 0, canvas.width, canvas.height)
  context.fillStyle = paint.ink
  context.font = `600 ${15 * ratio}px ${paint.font.replace(/^\S+ /, '')}`
  context.fillText(title, MARGIN * ratio, (MARGIN + 14) * ratio, canvas.width - 2 * MARGIN * ratio)
  context.drawImage(source, MARGIN * ratio, (MARGIN + TITLE) * ratio)
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error('The picture could not be made.'))))
  })
}

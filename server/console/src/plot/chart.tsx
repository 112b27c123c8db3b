import type { RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { formatNumber, plural } from '../format.ts'
import { useSize } from '../hooks.ts'
import { useTheme } from '../theme.ts'
import { Button } from '../ui/button.tsx'
import { saveBlob } from '../ui/copy.tsx'
import { isTemporal, type PlotKind } from './choice.ts'
import { type Drawing, MOST_SERIES } from './draw.ts'

const ASPECT = 0.5
const LOWEST = 260
const HIGHEST = 420
/** Height of everything in the window but the chart, in pixels. */
const ABOVE = 430

/**
 * A chart that fills its container, follows the page's theme, shows values under the pointer and can be saved as a
 * picture.
 * @param note what is left out, which the picture says, too
 */
export function Chart(props: ChartLook & { readonly title: string; readonly note?: string }) {
  const { title, note = '', drawing, xText } = props
  const container = useRef<HTMLDivElement>(null)
  const { plot, at } = usePlot(container, props)
  const save = async () => {
    const blob = await drawPicture(plot.current!, { title, note }, container.current!)
    saveBlob(blob, `${title.replace(/[^\p{L}\p{N}._-]+/gu, ' ').trim() || 'plot'}.png`)
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
      <div class="chart-place" ref={container} role="img" aria-label={describe(title, drawing, xText)} />
    </figure>
  )
}

/** Draws into an element: the plot, and the index of the x under the pointer. */
function usePlot(container: RefObject<HTMLDivElement | null>, look: ChartLook) {
  const { drawing, xType, xLabel, yLabel, kind } = look
  const plot = useRef<uPlot>(undefined)
  const { width } = useSize(container)
  const theme = useTheme()
  const [at, setAt] = useState<number | null>(null)
  useEffect(() => {
    if (width === 0) return
    const room = Math.max(LOWEST, Math.min(HIGHEST, innerHeight - ABOVE))
    const height = Math.round(Math.min(room, Math.max(LOWEST, width * ASPECT)))
    const options = optionsFor(look, { width, height }, paintOf(container.current!))
    options.hooks = { setCursor: [(chart) => setAt(chart.cursor.idx ?? null)] }
    const xs = drawing.xs.map((x) => (isTemporal(xType) ? x / 1000 : x))
    // uPlot's types don't know undefined, which it draws over.
    const data = [xs, ...drawing.series.map(({ ys }) => ys)] as uPlot.AlignedData
    const chart = new uPlot(options, data, container.current!)
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
    `${title}: ${plural(known.length, 'value')} from ${xText(xs[0]!)} to ${xText(xs.at(-1)!)}. ` +
    `Lowest ${formatNumber(low.y)} at ${xText(low.x)}, highest ${formatNumber(high.y)} at ${xText(high.x)}.`
  )
}

const MARGIN = 20
const TITLE = 34
const NOTE = 24

/** Draws the chart as a PNG with its title above and its note below, on the background colour of the page. */
function drawPicture(
  plot: uPlot,
  { title, note }: { readonly title: string; readonly note: string },
  container: Element,
): Promise<Blob> {
  const paint = paintOf(container)
  const source = plot.ctx.canvas
  const ratio = devicePixelRatio
  const canvas = document.createElement('canvas')
  canvas.width = source.width + 2 * MARGIN * ratio
  canvas.height = source.height + (2 * MARGIN + TITLE + (note ? NOTE : 0)) * ratio
  const context = canvas.getContext('2d')!
  context.fillStyle = paint.surface
  context.fillRect(0, 0, canvas.width, canvas.height)
  context.fillStyle = paint.ink
  const write = (text: string, weightAndSize: string, y: number) => {
    context.font = `${weightAndSize} ${paint.font.replace(/^\S+ /, '')}`
    context.fillText(text, MARGIN * ratio, y, canvas.width - 2 * MARGIN * ratio)
  }
  write(title, `600 ${15 * ratio}px`, (MARGIN + 14) * ratio)
  write(note, `400 ${12 * ratio}px`, canvas.height - MARGIN * ratio)
  context.drawImage(source, MARGIN * ratio, (MARGIN + TITLE) * ratio)
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error('The picture could not be made.'))))
  })
}

/** What a chart shows, and what its axes are. */
export interface ChartLook {
  readonly drawing: Drawing
  readonly kind: PlotKind
  readonly xType: string
  readonly xText: (x: number) => string
  readonly xLabel: string
  readonly yLabel: string
}

type Paint = ReturnType<typeof paintOf>

/** The colours and fonts of the page as plain values, because a canvas can't use CSS variables. */
function paintOf(element: Element) {
  const probe = document.createElement('i')
  // Where motion is reduced, all colours fade for a millisecond.
  probe.style.transition = 'none'
  element.append(probe)
  // Browsers resolve a variable to a colour only in a computed style.
  const colour = (name: string) => {
    probe.style.color = `var(${name})`
    return getComputedStyle(probe).color
  }
  const paint = {
    ink: colour('--ink'),
    muted: colour('--ink-2'),
    line: colour('--line'),
    // One for each series.
    series: Array.from({ length: MOST_SERIES }, (_, at) => colour(`--series-${at + 1}`)),
    surface: colour('--surface'),
    font: `12px ${getComputedStyle(element).fontFamily}`,
  }
  probe.remove()
  return paint
}

/** Up to this many points on a line get a mark each; more would make the line unreadable. */
const MARKED = 60

function optionsFor(
  look: ChartLook,
  size: { readonly width: number; readonly height: number },
  paint: Paint,
): uPlot.Options {
  const { drawing, kind, xType } = look
  const { labels } = drawing
  const temporal = isTemporal(xType)
  const isNumber = !temporal && !labels
  const axis = {
    stroke: paint.muted,
    font: paint.font,
    labelFont: paint.font,
    labelSize: 22,
    grid: { stroke: paint.line, width: 1 },
    ticks: { stroke: paint.line, width: 1, size: 5 },
  }
  return {
    ...size,
    // The last number may stand at the very end.
    padding: [12, Math.max(16, isNumber ? widthOf([formatNumber(drawing.xs.at(-1)!)]) / 2 : 0), 0, 0],
    // x values are UTC times in seconds, as uPlot requires.
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
    legend: { show: false },
    cursor: { drag: { x: true, y: false } },
    scales: {
      x: labels
        ? { time: false, range: [-0.6, labels.length - 0.4] }
        : { time: temporal, range: paddedRange(look) },
      y: { range: yRange(kind) },
    },
    axes: [
      {
        ...axis,
        label: look.xLabel,
        grid: { show: false },
        size: 32,
        ...(labels ? labelAxis(labels, size.width) : {}),
        ...(temporal ? { values: TIME_LABELS, size: 50 } : {}),
        ...(xType === 'integer' ? { incrs: WHOLE_STEPS } : {}),
        ...(isNumber ? NUMBER_LABELS : {}),
      },
      {
        ...axis,
        ...(look.yLabel && { label: look.yLabel }),
        size: yAxisSize,
        values: (_, ticks) => ticks.map(formatNumber),
      },
    ],
    series: [
      { label: look.xLabel },
      ...drawing.series.map(({ name }, at) => seriesFor(look, name, at, paint)),
    ],
  }
}

/** In uPlot's format: the smallest step in seconds, the label, then what is added when a new year, day … begins. */
const TIME_LABELS: uPlot.Axis.Values = [
  [31_536_000, '{YYYY}', null, null, null, null, null, null, 1],
  [2_419_200, '{MMM}', '\n{YYYY}', null, null, null, null, null, 1],
  [86_400, '{D} {MMM}', '\n{YYYY}', null, null, null, null, null, 1],
  [60, '{HH}:{mm}', '\n{D} {MMM} {YYYY}', null, '\n{D} {MMM}', null, null, null, 1],
  [1, '{HH}:{mm}:{ss}', '\n{D} {MMM} {YYYY}', null, '\n{D} {MMM}', null, null, null, 1],
]

/** Numbers along x, as far apart as the longer one of those at the ends is wide. */
const NUMBER_LABELS: uPlot.Axis = {
  values: (_, ticks) => ticks.map(formatNumber),
  space: (_, __, low, high) => Math.max(50, widthOf([low, high].map(formatNumber)) + 16),
}

/** Integer axes have labels only at integers. */
const WHOLE_STEPS = Array.from({ length: 16 }, (_, power) =>
  [1, 2, 5].map((step) => step * 10 ** power),
).flat()

function seriesFor(look: ChartLook, label: string, at: number, paint: Paint): uPlot.Series {
  const { drawing, kind } = look
  const stroke = paint.series[at]!
  const base = { label, stroke, width: 1.6 }
  switch (kind) {
    case 'line':
      return { ...base, points: { show: drawing.xs.length <= MARKED, size: 5, fill: paint.surface } }
    case 'points':
      return { ...base, paths: () => null, points: { show: true, size: 6, width: 1.2, stroke, fill: stroke } }
    case 'bar':
      return { ...base, width: 0, fill: stroke, paths: barsFor(look, at), points: { show: false } }
    default:
      return kind satisfies never
  }
}

/** The share of the distance between two places that the bars of one place fill. */
const FILLED = 0.72

/** Bars; those of several series are beside each other. */
function barsFor({ drawing: { xs, series }, xType }: ChartLook, at: number): uPlot.Series.PathBuilder {
  if (series.length === 1) return uPlot.paths.bars!({ size: [FILLED, 56], radius: 0.08 })
  const scale = isTemporal(xType) ? 1000 : 1
  const gaps = xs.slice(1).map((x, before) => x - xs[before]!)
  const all =
    (FILLED * Math.min(...gaps.filter((gap) => gap > 0), gaps.length > 0 ? Infinity : scale)) / scale
  const one = all / series.length
  return uPlot.paths.bars!({
    disp: {
      x0: { unit: 1, values: () => xs.map((x) => x / scale - all / 2 + at * one) },
      size: { unit: 1, values: () => xs.map(() => one) },
    },
  })
}

function labelAxis(labels: readonly string[], width: number): Partial<uPlot.Axis> {
  const room = Math.max(3, Math.floor(width / labels.length / 7.5))
  const steep = room < 9
  const shorten = (label: string) => {
    const most = steep ? 14 : room
    return label.length > most ? `${label.slice(0, most - 1)}…` : label
  }
  return {
    splits: () => labels.map((_, at) => at),
    values: (_, ticks) => ticks.map((at) => shorten(labels[at] ?? '')),
    ...(steep ? { rotate: -50, size: 96 } : {}),
  }
}

/** Makes the axis as wide as its longest label. */
function yAxisSize(_: uPlot, values: string[] | null): number {
  return Math.max(44, widthOf(values ?? []) + 22)
}

/** The width of the longest label, in pixels. */
function widthOf(labels: readonly string[]): number {
  return 7.4 * Math.max(0, ...labels.map(({ length }) => length))
}

/** Bars start at zero; lines and points use the range of their values. */
function yRange(kind: PlotKind): uPlot.Range.Function {
  return (_, low, high) => {
    if (low === null || high === null) return [0, 1]
    const pad = (high - low || Math.abs(high) || 1) * 0.06
    if (kind !== 'bar') return [low - pad, high + pad]
    return [Math.min(0, low < 0 ? low - pad : 0), Math.max(0, high > 0 ? high + pad : 0)]
  }
}

/** Leaves room at both ends for half a bar, or for the mark of a point. */
function paddedRange({ kind, drawing: { xs } }: ChartLook): uPlot.Range.Function {
  return (_, low, high) => {
    if (low === null || high === null) return [0, 1]
    if (low === high) return [low - 1, high + 1]
    const share = { line: 0, points: 0.02, bar: Math.max(0.02, 0.6 / Math.max(xs.length - 1, 1)) }[kind]
    const pad = (high - low) * share
    return [low - pad, high + pad]
  }
}

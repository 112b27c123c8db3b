import uPlot from 'uplot'
import { formatNumber } from '../format.ts'
import { isTemporal, type PlotKind } from './choice.ts'
import { type Drawing, MOST_SERIES } from './draw.ts'

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
export function paintOf(element: Element) {
  const probe = document.createElement('i')
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

export function optionsFor(
  look: ChartLook,
  size: { readonly width: number; readonly height: number },
  paint: Paint,
): uPlot.Options {
  const { drawing, kind, xType } = look
  const { labels } = drawing
  const temporal = isTemporal(xType)
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
    padding: [12, 16, 0, 0],
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
        ...(temporal || labels ? {} : { values: (_: uPlot, ticks: number[]) => ticks.map(formatNumber) }),
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
  const longest = Math.max(0, ...(values ?? []).map((value) => value.length))
  return Math.max(44, longest * 7.4 + 22)
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

import uPlot from 'uplot'
import { formatNumber } from '../format.ts'
import type { PlotKind } from './choice.ts'

export interface ChartLook {
  readonly width: number
  readonly height: number
  readonly kind: PlotKind
  readonly xType: string
  readonly xLabel: string
  readonly yLabel: string
  readonly labels: readonly string[] | undefined
  readonly pointCount: number
}

/** The colours and fonts of the page as plain values, because a canvas can't use CSS variables. */
export interface Paint {
  readonly ink: string
  readonly muted: string
  readonly line: string
  readonly accent: string
  readonly fill: string
  readonly surface: string
  readonly font: string
}

export function paintOf(element: Element): Paint {
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
    accent: colour('--accent'),
    fill: colour('--accent-wash'),
    surface: colour('--surface'),
    font: `12px ${getComputedStyle(element).fontFamily}`,
  }
  probe.remove()
  return paint
}

/** Up to this many points on a line get a mark each; more would make the line unreadable. */
const MARKED = 60

export function optionsFor(look: ChartLook, paint: Paint): uPlot.Options {
  const temporal = look.xType === 'date' || look.xType.startsWith('timestamp')
  const axis = {
    stroke: paint.muted,
    font: paint.font,
    labelFont: paint.font,
    grid: { stroke: paint.line, width: 1 },
    ticks: { stroke: paint.line, width: 1, size: 5 },
  }
  return {
    width: look.width,
    height: look.height,
    padding: [12, 16, 0, 0],
    // x values are UTC times in seconds, as uPlot requires.
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
    legend: { show: false },
    cursor: { drag: { x: true, y: false } },
    scales: {
      x: look.labels
        ? { time: false, range: [-0.6, look.labels.length - 0.4] }
        : { time: temporal, range: paddedRange(look) },
      y: { range: yRange(look.kind) },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 32,
        ...(look.labels ? labelAxis(look.labels, look.width) : {}),
        ...(temporal ? { values: TIME_LABELS, size: 50 } : {}),
        ...(look.xType === 'integer' ? { incrs: WHOLE_STEPS } : {}),
        ...(temporal || look.labels
          ? {}
          : { values: (_: uPlot, ticks: number[]) => ticks.map(formatNumber) }),
      },
      { ...axis, size: yAxisSize, values: (_, ticks) => ticks.map(formatNumber) },
    ],
    series: [{ label: look.xLabel }, seriesFor(look, paint)],
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

function seriesFor(look: ChartLook, paint: Paint): uPlot.Series {
  const base = { label: look.yLabel, stroke: paint.accent, width: 1.6 }
  switch (look.kind) {
    case 'line':
      return { ...base, points: { show: look.pointCount <= MARKED, size: 5, fill: paint.surface } }
    case 'points':
      return {
        ...base,
        paths: () => null,
        points: { show: true, size: 6, width: 1.2, stroke: paint.accent, fill: paint.fill },
      }
    case 'bar':
      return {
        ...base,
        width: 0,
        fill: paint.accent,
        paths: uPlot.paths.bars!({ size: [0.72, 56], radius: 0.08 }),
        points: { show: false },
      }
    default:
      return look.kind satisfies never
  }
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
function paddedRange({ kind, pointCount }: ChartLook): uPlot.Range.Function {
  return (_, low, high) => {
    if (low === null || high === null) return [0, 1]
    if (low === high) return [low - 1, high + 1]
    const share = { line: 0, points: 0.02, bar: Math.max(0.02, 0.6 / Math.max(pointCount - 1, 1)) }[kind]
    const pad = (high - low) * share
    return [low - pad, high + pad]
  }
}

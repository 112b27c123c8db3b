import { counted } from '../../../engine/util/counted.ts'
import { inRows } from '../usage.ts'
import { type Figure, RIVALS, type Rival, type Spread, spread } from './measure.ts'

/** How what writes the same rows is called. */
const NAMES: Readonly<Record<Rival, string>> = { copy: 'DuckDB COPY', pandas: 'pandas', polars: 'polars' }

/** What was measured, where and with what. */
export interface Report {
  readonly measuredAt: string
  readonly parquetry: string
  readonly node: string
  readonly machine: string
  readonly tables: readonly {
    readonly name: string
    readonly rows: number
    readonly columns: number
    readonly figures: readonly Figure[]
  }[]
}

const HEADER = ['format', 'clients', 'rows/s', 'spread', 'MB/s', 'first byte', 'CPU', 'memory']

/** The lines of a table for people. */
export function tableOf(figures: readonly Figure[], rows: number): string {
  const rivals = RIVALS.filter((rival) => figures.some(({ beside }) => beside?.[rival]))
  const header = [...HEADER, ...rivals.flatMap((rival) => [`${NAMES[rival]} rows/s`, 'ratio'])]
  const lines = [header, ...figures.map((figure) => cellsOf(figure, rows, rivals))]
  const widths = header.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)))
  return lines
    .map((line) =>
      line
        .map((cell, column) => (column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!)))
        .join('  '),
    )
    .join('\n')
}

function cellsOf(figure: Figure, rows: number, rivals: readonly Rival[]): string[] {
  const { format, clients, bytes, rowsPerSecond, firstByte, cpu, peakMemory, beside = {} } = figure
  const rate = rowsPerSecond.median
  return [
    format,
    String(clients),
    count(rate),
    `${count(rowsPerSecond.least)} to ${count(rowsPerSecond.most)}`,
    rows === 0 ? '' : (((rate / rows) * bytes) / 1e6).toFixed(1),
    `${firstByte.median.toFixed(1)} ms`,
    cpu === undefined ? 'not measured' : `${cpu.toFixed(2)} s`,
    peakMemory === undefined ? 'not measured' : `${(peakMemory / 2 ** 20).toFixed(0)} MiB`,
    ...rivals.flatMap((rival) => {
      const other = beside[rival]?.median
      return other === undefined ? ['', ''] : [count(other), (rate / other).toFixed(2)]
    }),
  ]
}

const count = (value: number) => Math.round(value).toLocaleString('en')

/** How one figure has changed. Above 1 the later one is slower. */
export interface Change {
  readonly name: string
  readonly ratio: number
  /** Whether the measurements of the two overlap, so that the change may be chance. */
  readonly noise: boolean
}

/** Compares the figures that both reports have. */
export function compare(before: Report, after: Report): Change[] {
  const key = (table: string, { format, clients }: Figure) => `${table}: ${format}, clients: ${clients}`
  const known = new Map<string, Spread>(
    before.tables.flatMap(({ name, figures }) =>
      figures.map((figure): [string, Spread] => [key(name, figure), figure.rowsPerSecond]),
    ),
  )
  return after.tables.flatMap(({ name, figures }) =>
    figures.flatMap((figure) => {
      const earlier = known.get(key(name, figure))
      if (earlier === undefined) return []
      const { median, least, most } = figure.rowsPerSecond
      const noise = least <= earlier.most && earlier.least <= most
      return [{ name: key(name, figure), ratio: earlier.median / median, noise }]
    }),
  )
}

/** A page with the figures as bars, to be sent around: it loads nothing. */
export function htmlOf({ tables, ...about }: Report): string {
  const sections = tables.map(({ name, rows, columns, figures }) => {
    const most = spread(
      figures.flatMap(({ rowsPerSecond, beside = {} }) => [
        rowsPerSecond.most,
        ...RIVALS.map((rival) => beside[rival]?.most ?? 0),
      ]),
    ).most
    const bars = figures.flatMap(({ format, clients, rowsPerSecond, beside = {} }) => [
      bar(`${format}, ${clients} at once`, rowsPerSecond, most, '#4338ca'),
      ...RIVALS.flatMap((rival) => {
        const other = beside[rival]
        return other ? [bar(`${NAMES[rival]}: ${format}`, other, most, '#94a3b8')] : []
      }),
    ])
    return `<h2>${escapeHtml(name)}</h2><p>${inRows(rows)}, ${counted(columns, 'column')}; rows per second, longer is better; the line is the spread</p><table>${bars.join('')}</table>`
  })
  return `<!doctype html><meta charset="utf-8"><title>Parquetry: export throughput</title>
<style>body{font:15px system-ui;margin:2rem auto;max-width:60rem;color:#0f172a}td{padding:.2rem .5rem;white-space:nowrap}svg{width:32rem;height:1.1rem}</style>
<h1>Export throughput</h1><p>${Object.values(about).map(escapeHtml).join(' · ')}</p>${sections.join('')}\n`
}

function bar(name: string, { median, least, most }: Spread, scale: number, color: string): string {
  const x = (value: number) => ((value / scale) * 100).toFixed(2)
  return `<tr><td>${escapeHtml(name)}</td><td><svg viewBox="0 0 100 10" preserveAspectRatio="none"><rect width="${x(median)}" height="10" fill="${color}"/><rect x="${x(least)}" y="4" width="${(((most - least) / scale) * 100).toFixed(2)}" height="2" fill="#f59e0b"/></svg></td><td>${count(median)}</td></tr>`
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}

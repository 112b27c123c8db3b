import type { Case } from './case.ts'

const BAR = 14
const GROUP = 52
const LEFT = 300
const WIDTH = 1000
/** Space for the figures and the rival's name behind a bar. */
const NOTES = 260

/**
 * Draws each case that has a rival as a pair of bars, scaled to the longer one.
 * @param what what is compared: `exports over HTTP, milliseconds`
 */
export function drawCases(cases: readonly Case[], what: string): string {
  const pairs = cases.filter((one) => one.rivalValue !== undefined)
  const height = pairs.length * GROUP + 50
  const bars = pairs.map((one, index) => {
    const y = 40 + index * GROUP
    const longest = Math.max(one.value, one.rivalValue!)
    const length = (value: number) => Math.max(2, (value / longest) * (WIDTH - LEFT - NOTES))
    return [
      text(LEFT - 12, y + 18, escaped(one.name), 'end'),
      bar(y, length(one.value), '#0f766e'),
      text(LEFT + length(one.value) + 8, y + 12, `${round(one.value)} ${one.unit}`),
      bar(y + BAR + 4, length(one.rivalValue!), '#94a3b8'),
      text(
        LEFT + length(one.rivalValue!) + 8,
        y + BAR + 16,
        `${round(one.rivalValue!)} ${one.unit} · ${escaped(one.rival ?? '')}`,
      ),
    ].join('\n')
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="system-ui, sans-serif" font-size="12">
<title>Parquetry beside its rivals: ${escaped(what)}</title>
<rect width="100%" height="100%" fill="#ffffff"/>
${text(LEFT, 24, `Parquetry (dark) beside its rival (light), ${escaped(what)}; shorter is better`)}
${bars.join('\n')}
</svg>
`
}

function bar(y: number, length: number, fill: string): string {
  return `<rect x="${LEFT}" y="${y}" width="${length.toFixed(1)}" height="${BAR}" rx="2" fill="${fill}"/>`
}

function text(x: number, y: number, content: string, anchor = 'start'): string {
  return `<text x="${x.toFixed(1)}" y="${y}" text-anchor="${anchor}" fill="#334155">${content}</text>`
}

function round(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3)
}

function escaped(value: string): string {
  return value.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}

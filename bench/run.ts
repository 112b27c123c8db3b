import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import type { BenchOptions, Case } from './case.ts'
import { drawCases } from './picture.ts'

/** The areas, in the order of the table. The file of each area in `areas/` exports a function that returns its cases. */
const AREAS = [
  'filter',
  'apply',
  'bounds',
  'parts',
  'pieces',
  'export',
  'http',
  'nodes',
  'ingest',
  'providers',
  'search',
  'library',
] as const

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    json: { type: 'string' },
    svg: { type: 'string' },
    only: { type: 'string' },
    peers: { type: 'boolean', default: false },
    beside: { type: 'string' },
    keep: { type: 'string' },
  },
})

for (const name of ['beside', 'keep'] as const) {
  if (values[name] === undefined || values.peers) continue
  console.error(`--${name} belongs to the comparison with peers: use it with --peers.`)
  process.exit(2)
}
if (values.peers) {
  // The servers that the benchmarks start end when this process exits.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
  const { comparePeers } = await import('./peers/index.ts')
  const report = await comparePeers(values)
  if (values.json) writeFileSync(values.json, `${JSON.stringify(report, null, 2)}\n`)
  if (values.svg) {
    const { asCases } = await import('./peers/cases.ts')
    writeFileSync(values.svg, drawCases(asCases(report), 'processor time of a request'))
  }
  process.exit(0)
}

if (values.only !== undefined && !AREAS.some((area) => area === values.only)) {
  console.error(`Unknown area ${JSON.stringify(values.only)}; known are ${AREAS.join(', ')}.`)
  process.exit(2)
}

const cases: Case[] = []
console.log(row(['case', 'ours', 'rival', '', 'ratio']))
for (const area of AREAS.filter((one) => values.only === undefined || one === values.only)) {
  const file = new URL(`./areas/${area}.ts`, import.meta.url)
  const { measure } = (await import(file.href)) as { measure: (options: BenchOptions) => AsyncIterable<Case> }
  for await (const one of measure({ quick: values.quick })) {
    cases.push(one)
    console.log(
      row([
        one.name,
        figure(one.value, one.unit),
        one.rival ?? '',
        one.rivalValue === undefined ? '' : figure(one.rivalValue, one.unit),
        one.ratio?.toFixed(2) ?? '',
      ]),
    )
  }
}
if (values.json) writeFileSync(values.json, `${JSON.stringify({ cases }, null, 2)}\n`)
if (values.svg) writeFileSync(values.svg, drawCases(cases, 'time'))
const exceeded = cases.filter(({ ratio, most }) => most !== undefined && ratio! > most)
for (const { name, ratio, most } of exceeded) {
  console.error(`${name}: ${ratio!.toFixed(2)} is over the bound of ${most}.`)
}
// Engines of rivals leave threads running, which would keep this process from ending.
process.exit(exceeded.length > 0 ? 1 : 0)

function row([name, ours, rival, theirs, ratio]: string[]): string {
  return `${name!.padEnd(52)} ${ours!.padStart(12)}   ${rival!.padEnd(34)} ${theirs!.padStart(12)} ${ratio!.padStart(6)}`
}

function figure(value: number, unit: string): string {
  return `${value >= 100 ? value.toFixed(0) : value.toPrecision(3)} ${unit}`
}

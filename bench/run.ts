import { writeFileSync } from 'node:fs'
import { type ParseArgsConfig, parseArgs } from 'node:util'
import type { BenchOptions, Case } from './case.ts'
import { drawCases } from './picture.ts'

/** The areas, in the order of the table. The file of each area in `areas/` exports a function that returns its cases. */
const AREAS = [
  'filter',
  'apply',
  'bounds',
  'parts',
  'sorted',
  'sql',
  'pieces',
  'export',
  'http',
  'nodes',
  'ingest',
  'appends',
  'providers',
  'search',
  'profile',
  'library',
] as const

const HELP = `npm run bench                    all areas beside other tools, in full size
npm run bench -- --quick         the same in small, in about a minute
npm run bench -- --only AREA     one of ${AREAS.join(', ')}
npm run bench -- --json FILE     writes the figures; --svg FILE draws them
npm run bench -- --peers         small reads beside DataPress, ROAPI and DuckDB's Quack (needs Linux and Python);
                                 with it, --beside DIR measures another checkout, too, and
                                 --keep DIR keeps tables and packages for the next run

npx parquetry bench FILE …       export throughput of your own files or datasets; --help says more`

const { values } = parsed({
  options: {
    help: { type: 'boolean', short: 'h', default: false },
    quick: { type: 'boolean', default: false },
    json: { type: 'string' },
    svg: { type: 'string' },
    only: { type: 'string' },
    peers: { type: 'boolean', default: false },
    beside: { type: 'string' },
    keep: { type: 'string' },
  },
})

if (values.help) {
  console.log(HELP)
  process.exit(0)
}
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
if (values.svg) {
  // What is compared with our own json would look as if that were another program.
  const drawn = cases.filter(({ rival }) => rival !== 'json of the same')
  writeFileSync(values.svg, drawCases(drawn, 'time'))
}
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

/** The arguments, or the end of the program with a sentence where they are wrong. */
function parsed<Config extends ParseArgsConfig>(config: Config): ReturnType<typeof parseArgs<Config>> {
  try {
    return parseArgs(config)
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${HELP}`)
    process.exit(2)
  }
}

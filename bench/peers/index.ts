import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { median } from '../case.ts'
import { ask } from './ask.ts'
import { makeEnvironment, VERSIONS } from './environment.ts'
import { writeLineitem, writeTiny } from './lineitem.ts'
import { type Figure, measure } from './measure.ts'
import { canMeasure, residentMemory } from './meter.ts'
import { LAST_SMALL_READ, questions, WINDOW } from './questions.ts'
import { firstAnswer, type Server } from './server.ts'
import { type Starter, starters } from './starters.ts'

export interface PeersReport {
  readonly rows: number
  readonly processors: string
  readonly versions: Readonly<Record<string, string>>
  /** Servers that couldn't be run, and why. */
  readonly notRun: Readonly<Record<string, string>>
  readonly figures: readonly Figure[]
}

export interface PeersOptions {
  /** A smaller table, and fewer requests. */
  readonly quick: boolean
  /** Folder of another checkout of ours, whose server is measured as well. */
  readonly beside?: string | undefined
  /** Measures only the questions whose names contain one of these texts, separated by commas. */
  readonly only?: string | undefined
  /**
   * Folder for the tables, the servers' data and the peers' packages. What is there from an earlier run is used again,
   * so that a run of a few questions begins at once. Without it a temporary folder is used.
   */
  readonly keep?: string | undefined
}

const START = 'start until the first answer'

/**
 * Sends the same small reads and exports of one table to our server and to similar servers, in turns, on this machine.
 * The processor time is what the operating system reports for the processes of each server. Prints a line for each
 * figure as soon as it is measured.
 */
export async function comparePeers({ quick, beside, only, keep }: PeersOptions): Promise<PeersReport> {
  if (!canMeasure()) throw new Error('The comparison with peers reads /proc, which only Linux has.')
  const rows = quick ? 600_000 : 6_000_000
  const chosen = chooser(only, [START, ...questions(rows, {}).map(({ name }) => name)])
  if (keep !== undefined) mkdirSync(keep, { recursive: true })
  const folder = keep ?? mkdtempSync(join(tmpdir(), 'parquetry-peers-'))
  const running: Server[] = []
  try {
    const tables = { lineitem: join(folder, `lineitem-${rows}.parquet`), tiny: join(folder, 'tiny.parquet') }
    if (!existsSync(tables.lineitem)) await writeLineitem(tables.lineitem, rows)
    if (!existsSync(tables.tiny)) await writeTiny(tables.tiny)
    const all = starters(
      join(folder, `servers-${rows}`),
      tables,
      await makeEnvironment(join(folder, 'python')),
      beside,
    )
    const found = all.filter(({ missing }) => missing === undefined)
    const notRun = Object.fromEntries(all.flatMap(({ name, missing }) => (missing ? [[name, missing]] : [])))
    for (const [name, reason] of Object.entries(notRun)) console.log(`not run: ${name}: ${reason}`)
    const names = found.map(({ name }) => name)
    const figures: Figure[] = []
    const tell = (figure: Figure) => {
      figures.push(figure)
      console.log(line(figure.question, figure.measure, ...names.map((name) => shown(figure.values[name]))))
    }

    console.log(line(`${rows} rows`, '', ...names))
    await restart(found, running, !chosen(START) ? 0 : quick ? 1 : 2, tell)
    const etags: Record<string, string> = {}
    for (const { name, port } of running.filter(({ dialect }) => dialect === 'ours')) {
      etags[name] = (await ask(port, WINDOW)).headers.etag!
    }
    const effort = quick ? { rounds: 3, share: 0.25, seconds: 1 } : { rounds: 3, share: 1, seconds: 2 }
    for (const question of questions(rows, etags).filter(({ name }) => chosen(name))) {
      for (const figure of await measure(question, running, effort)) tell(figure)
      if (question.name === LAST_SMALL_READ) tell(memory('after the small reads', running))
    }
    tell(memory('after the exports', running))
    const processors = `${cpus().length} x ${cpus()[0]?.model ?? '?'}`
    return { rows, processors, versions: { ...VERSIONS, node: process.version }, notRun, figures }
  } finally {
    for (const server of running) await server[Symbol.asyncDispose]()
    if (keep === undefined) rmSync(folder, { recursive: true, force: true })
  }
}

/**
 * Starts each server once more than `times` and leaves it running after the last start. The figure is the milliseconds
 * until a point read is answered.
 */
async function restart(all: Starter[], running: Server[], times: number, tell: (figure: Figure) => void) {
  const values: Record<string, number> = {}
  for (const starter of all) {
    const samples: number[] = []
    // The first start isn't counted: our server ingests the upload then, and the files get into the system's cache.
    for (let time = 0; time <= times; time++) {
      const start = performance.now()
      const server = await starter.start()
      const question = questions(1_000, {})[0]!.asks[server.dialect]!(1, server.name)[0]!
      try {
        await firstAnswer(server, question)
      } catch (error) {
        await server[Symbol.asyncDispose]()
        throw error
      }
      if (time > 0) samples.push(performance.now() - start)
      if (time === times) running.push(server)
      else await server[Symbol.asyncDispose]()
    }
    values[starter.name] = median(samples)
  }
  if (times > 0) tell({ question: START, measure: 'ms', values })
}

/** Whether a question is to be measured. Throws if a text of `only` is in no question's name. */
function chooser(only: string | undefined, names: readonly string[]): (name: string) => boolean {
  const texts = only?.split(',') ?? ['']
  const lost = texts.find((text) => !names.some((name) => name.includes(text)))
  if (lost !== undefined) {
    throw new Error(`No question is called ${JSON.stringify(lost)}; there are: ${names.join('; ')}.`)
  }
  return (name) => texts.some((text) => name.includes(text))
}

function memory(question: string, servers: readonly Server[]): Figure {
  const values = servers.map(({ name, pid }) => [name, residentMemory(pid) / 2 ** 20])
  return { question: `memory ${question}`, measure: 'MiB', values: Object.fromEntries(values) }
}

function line(question: string, measure: string, ...cells: string[]): string {
  return `${question.padEnd(44)} ${measure.padEnd(20)} ${cells.map((cell) => cell.padStart(16)).join(' ')}`
}

function shown(value: number | undefined): string {
  if (value === undefined) return '-'
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3)
}

import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { createInterface } from 'node:readline'
import { FORMATS } from '../../../engine/index.ts'
import { counted } from '../../../engine/util/counted.ts'
import { Client } from '../../client/index.ts'
import { ownVersion } from '../../version.ts'
import { importFile } from '../import.ts'
import { remoteTables } from '../tables/remote.ts'
import { findDataset } from '../tables/tables.ts'
import { Failed, inRows, oneOf, UsageError, wholeNumber, writeWhole } from '../usage.ts'
import {
  type Figure,
  measure,
  measureCopy,
  measurePython,
  pythonWith,
  RIVALS,
  type Rival,
  type Spread,
} from './measure.ts'
import { compare, htmlOf, type Report, tableOf } from './report.ts'

export interface Given {
  readonly formats: string
  readonly clients: string
  readonly seconds: number
  readonly filter?: string
  readonly beside: string
  readonly python?: string
  readonly json?: string
  readonly html?: string
  readonly compare?: string
  readonly failAbove?: number
}

const planOf = ({ formats, clients, seconds, filter, beside, python }: Given) => ({
  formats: formats.split(',').map((format) => oneOf('--formats', FORMATS, format)),
  clients: clients.split(',').map((text) => Math.max(1, wholeNumber('--clients', text))),
  rivals: beside.split(',').map((rival) => oneOf('--beside', RIVALS, rival)),
  seconds,
  filter,
  python,
})
type Plan = ReturnType<typeof planOf>

/** Measures, prints and keeps the figures. @throws UsageError, Failed if anything is slower than `--fail-above` allows */
export async function bench(
  what: readonly string[],
  given: Given,
  server: { readonly url: string; readonly key: string } | undefined,
): Promise<void> {
  const plan = planOf(given)
  const before = given.compare === undefined ? undefined : readReport(given.compare)
  if (server && plan.rivals.some((rival) => rival !== 'copy')) {
    throw new UsageError(
      '--beside: pandas and polars write rows of files or of the samples, not of a server.',
    )
  }
  if (server && what.length === 0)
    throw new UsageError('Name the datasets of the server, as repository/dataset or by their ids.')
  const tables = server ? await measureNamed(server, what, plan) : await measureHere(what, plan)
  const { model = 'processor' } = cpus()[0] ?? {}
  const report: Report = {
    measuredAt: new Date().toISOString(),
    parquetry: `parquetry ${ownVersion()}`,
    node: `Node ${process.versions.node}`,
    machine: `${cpus().length} × ${model.trim()}`,
    tables,
  }
  if (given.json !== undefined) writeFileSync(given.json, `${JSON.stringify(report, null, 2)}\n`)
  if (given.html !== undefined) writeFileSync(given.html, htmlOf(report))
  if (before) reportChanges(before, report, given.failAbove)
}

function readReport(file: string): Report {
  try {
    const report = JSON.parse(readFileSync(file, 'utf8')) as Partial<Report>
    if (Array.isArray(report.tables)) return report as Report
  } catch (error) {
    throw new UsageError(`--compare: ${file} can't be read: ${(error as Error).message}`)
  }
  throw new UsageError(`--compare: ${file} was not written by --json.`)
}

async function measureNamed(
  server: { readonly url: string; readonly key: string },
  names: readonly string[],
  plan: Plan,
): Promise<Report['tables']> {
  const tables = remoteTables(server.url, server.key)
  const found = await Promise.all(names.map((name) => findDataset(tables, name)))
  const ids = found.map(({ id }) => id)
  return await measureAll(server, ids, plan)
}

/** Measures files, or the samples, on a server that is started for it and keeps no answers in memory. */
async function measureHere(files: readonly string[], plan: Plan): Promise<Report['tables']> {
  await using server = await temporaryServer({
    samples: files.length === 0,
    indexProviders: false,
    limits: { cachedAnswerBytes: 0 },
  })
  const tables = remoteTables(server.url, server.key)
  if (files.length > 0) {
    const repository = String((await tables.repositories.create({ name: 'bench', description: '' })).id)
    for (const file of files) await importFile(tables, file, { repository, dataset: basename(file) })
  }
  const ids = (await tables.datasets.list()).map(({ id }) => id)
  return await measureAll(server, ids, plan)
}

async function measureAll(
  server: { readonly url: string; readonly key: string } & Partial<TemporaryServer>,
  ids: readonly number[],
  plan: Plan,
): Promise<Report['tables']> {
  const libraries = plan.rivals.filter((rival) => rival !== 'copy')
  const python = server.directory === undefined ? undefined : await pythonWith(libraries, plan.python)
  const { datasets } = new Client({ url: server.url, key: server.key })
  const { filter } = plan
  const measured: Report['tables'][number][] = []
  for (const dataset of ids) {
    const { name, columns } = await datasets.get(dataset)
    const target = { ...server, dataset, filter }
    const rows = await datasets.count(dataset, { filter })
    console.log(`\n${name}: ${inRows(rows)}, ${counted(columns.length, 'column')}`)
    const file = server.directory && join(server.directory, 'rows.parquet')
    if (file !== undefined) await writeWhole(file, await datasets.download(dataset, 'parquet', { filter }))
    const figures: Figure[] = []
    for (const format of plan.formats) {
      const beside: Partial<Record<Rival, Spread>> = {}
      for (const rival of file === undefined ? [] : plan.rivals) {
        const how = { ...plan, format, rows }
        const found =
          rival === 'copy' ? await measureCopy(file!, how) : await measurePython(rival, python!, file!, how)
        if (found) beside[rival] = found
      }
      for (const clients of plan.clients) {
        const figure = await measure(target, { ...plan, format, clients, rows })
        figures.push({ ...figure, ...(file !== undefined && { beside }) })
      }
    }
    console.log(tableOf(figures, rows))
    measured.push({ name, rows, columns: columns.length, figures })
  }
  return measured
}

function reportChanges(before: Report, after: Report, failAbove = Number.POSITIVE_INFINITY): void {
  const changes = compare(before, after)
  console.log('\nTime compared with the earlier figures; above 1 is slower:')
  for (const { name, ratio, noise } of changes) {
    console.log(`  ${name}: ${ratio.toFixed(2)}${noise ? ' (may be noise)' : ''}`)
  }
  const slower = changes.filter((change) => !change.noise && change.ratio > failAbove)
  if (slower.length === 0) return
  throw new Failed(`slower by more than ${failAbove}: ${slower.map(({ name }) => name).join('; ')}.`)
}

/** A server in a process of its own over a new directory; both are gone when it is disposed of. */
interface TemporaryServer extends AsyncDisposable {
  readonly url: string
  readonly key: string
  /** The temporary directory, for files of the caller's. */
  readonly directory: string
}

/**
 * Starts the command of this process a second time, as a server on a free port.
 * @param config settings as in a configuration file
 */
async function temporaryServer(config: object): Promise<TemporaryServer> {
  const directory = mkdtempSync(join(tmpdir(), 'parquetry-'))
  const key = randomBytes(18).toString('base64url')
  const data = join(directory, 'data')
  const settings = join(directory, 'config.json')
  writeFileSync(settings, JSON.stringify(config))
  const args = ['--data', data, 'serve', '--port', '0']
  const child = spawn(process.execPath, [...process.execArgv, process.argv[1]!, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...process.env,
      PARQUETRY_CONFIG: settings,
      PARQUETRY_ROOT_KEY: key,
      PARQUETRY_LOG_LEVEL: 'silent',
    },
  })
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null && child.kill()) await once(child, 'exit')
    rmSync(directory, { recursive: true, force: true })
  }
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      const [, url] = /^Parquetry .*(http:\S+)/.exec(line) ?? []
      if (url !== undefined) return { url, key, directory, [Symbol.asyncDispose]: stop }
    }
    throw new Error('The server ended before it served.')
  } catch (error) {
    await stop()
    throw error
  }
}

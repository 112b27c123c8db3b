import { readdirSync, readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { type Analysis, checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import ExcelJS from 'exceljs'
import { build } from 'vite'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { Client } from '../../server/client/index.ts'
import { type Served, serveSamples } from '../client/served.ts'
import { startUpstream, type Upstream } from '../connectors/support/upstream.ts'
import { Consumer, guideJobs, type Packed, root, run, SERVER, succeed } from './consumer.ts'

/** Programs of Node to run the jobs on besides our own, as PARQUETRY_TEST_NODES="/path/node /other/node". */
const NODES = [process.execPath, ...(process.env['PARQUETRY_TEST_NODES'] ?? '').split(' ').filter(Boolean)]

// Each test starts programs, which take long on a busy machine.
vi.setConfig({ testTimeout: 90_000 })

const consumer = new Consumer()
const jobs = guideJobs()
const examples = readdirSync(`${root}/examples`)
  .filter((name) => name.endsWith('.ts'))
  .sort()
const exampleText = (name: string) => readFileSync(`${root}/examples/${name}`, 'utf8')
let packed: Packed
let upstream: Upstream
let served: Served

beforeAll(async () => {
  upstream = await startUpstream({
    '/v1/currencies': { body: { EUR: 'Euro', GBP: 'British Pound', JPY: 'Yen', USD: 'US Dollar' } },
    '*': ({ query }) => {
      const symbol = query.get('symbols')!
      const rates = { '2026-01-02': { [symbol]: 1.25 }, '2026-01-05': { [symbol]: 1.5 } }
      return { body: { amount: 1, base: 'EUR', start_date: '2026-01-02', end_date: '2026-01-05', rates } }
    },
  })
  served = await serveSamples()
  packed = await consumer.pack()
  await consumer.install(packed.tarball)
}, 600_000)
afterAll(async () => {
  await upstream.close()
  await served[Symbol.asyncDispose]()
  consumer[Symbol.dispose]()
})

const bin = (name: string) => `${root}/node_modules/.bin/${name}`

describe('the tarball', () => {
  test('holds what is needed and nothing else', () => {
    const needed =
      /^(dist\/(engine|connectors|server)\/.+\.(js|d\.ts|(js|d\.ts)\.map)|dist\/server\/(console|guide)\/dist\/.+|(engine|connectors|server)\/.+\.ts|server\/bin\.js|data\/samples\/.+|server\/deploy\/.+|docs\/((decisions|reference|tasks|errors)\/)?[\w-]+\.md|examples\/[\w-]+(\.config)?\.(ts|js|md|yml)|(package\.json|LICENSE|(README|ARCHITECTURE|CHANGELOG)\.md))$/
    expect(packed.files.filter((file) => !needed.test(file))).toEqual([])
    expect(packed.files.filter((file) => /(^|\/)(test|bench|node_modules)\//.test(file))).toEqual([])
    // A tenth more than it has: what does not belong there, such as a second copy of something, is usually more.
    expect(packed.size).toBeLessThan(6_000_000)
  })

  test('maps lead to sources that are there', () => {
    for (const file of packed.files.filter((name) =>
      /^dist\/(?!server\/(console|guide)\/).+\.(js|d\.ts)$/.test(name),
    )) {
      expect(packed.files).toContain(`${file}.map`)
      expect(packed.files).toContain(file.replace(/^dist\/(.+?)(\.d)?\.(js|ts)$/, '$1.ts'))
    }
  })

  test('publint finds nothing, and modules find the types of each entry', async () => {
    const publint = await succeed(bin('publint'), ['run', '--strict', packed.tarball], { cwd: root })
    expect(publint.stdout).toContain('All good!')
    const checked = await checkPackage(createPackageFromTarballData(readFileSync(packed.tarball)))
    // It is made of modules alone, which every Node that it runs on can also require.
    const others = /^(node10|node16-cjs)$/
    const { problems } = checked as Analysis
    expect(problems.filter((one) => !('resolutionKind' in one && others.test(one.resolutionKind)))).toEqual(
      [],
    )
  })
})

describe.each(NODES)('on %s', (node) => {
  describe.each(['js', 'ts'] as const)('the jobs of the guide as .%s', (extension) => {
    const folder = `jobs-${NODES.indexOf(node)}-${extension}`
    const data = `${folder}/data`
    const job = (name: string, ...args: string[]) =>
      run(node, [`${folder}/${name}.${extension}`, ...args], {
        cwd: consumer.project,
        env: { RATES_URL: upstream.url },
      })

    test('in short: from a csv to rows, a count and a file', async () => {
      const weather = readFileSync(`${root}/data/samples/seattle-weather.csv`)
      consumer.write(`${folder}/seattle-weather.csv`, weather)
      const ran = await succeed(node, [`short.${extension}`], { cwd: `${consumer.project}/${folder}` })
      const windy = weather
        .toString()
        .split('\n')
        .filter((line) => Number(line.split(',')[4]) > 8)
      expect(ran.stdout).toMatch(/^{ date: '2012-12-17', wind: 9.5 }\n/)
      expect(ran.stdout).toMatch(new RegExp(`\\n${windy.length}\\n$`))
      expect(consumer.read(`${folder}/windy.parquet`).subarray(0, 4).toString()).toBe('PAR1')
    })

    beforeAll(() => {
      for (const [name, code] of Object.entries(jobs)) consumer.write(`${folder}/${name}.${extension}`, code)
      consumer.write(`${folder}/inbox/customers.csv`, 'customer,region\n1,North\n2,South\n3,South\n')
      consumer.write(
        `${folder}/inbox/targets.csv`,
        'region,year,target\nNorth,2026,200\nSouth,2026,40\nNorth,2025,1\n',
      )
      const orders =
        'order,customer,placed,amount\n1,1,2026-01-02,100.5\n2,2,2026-02-03,20\n3,3,2026-02-04,30\n4,1,2025-12-31,9\n'
      consumer.write(`${folder}/inbox/orders.csv.gz`, gzipSync(orders))
      consumer.write(`${folder}/inbox/notes.txt`, 'not a table')
    })

    test('nightly: csv files into datasets, as often as one likes', async () => {
      const first = await job('nightly', `${folder}/inbox`, data)
      expect(first).toMatchObject({
        code: 0,
        stdout: 'customers: 3 rows, version 1\norders: 4 rows, version 1\ntargets: 3 rows, version 1\n',
      })
      consumer.write(`${folder}/inbox/bad.csv`, 'a,b\n1,2,3\n')
      const second = await job('nightly', `${folder}/inbox`, data)
      expect(second.code).toBe(1)
      expect(second.stderr).toMatch(/^bad\.csv: .*2/m)
      expect(second.stdout).toBe('')
      const names =
        "import { openEngine } from 'parquetry'\nconst engine = await openEngine({ directory: process.argv[2] })\n" +
        'console.log(...(await engine.datasets()).map(({ name }) => name))\nawait engine.close()\n'
      consumer.write(`${folder}/names.mjs`, names)
      const left = await succeed(node, [`${folder}/names.mjs`, data], { cwd: consumer.project })
      expect(left.stdout).toMatch(/customers orders targets\n$/)
      consumer.write(`${folder}/inbox/bad.csv`, 'a,b\n1,2\n')
      consumer.write(
        `${folder}/inbox/targets.csv`,
        'region,year,target\nNorth,2026,200\nSouth,2026,40\nNorth,2025,2\n',
      )
      const third = await job('nightly', `${folder}/inbox`, data)
      expect(third).toMatchObject({
        code: 0,
        stdout: 'bad: 1 rows, version 1\ntargets: 3 rows, version 2\n',
      })
    })

    test('report: a workbook from three datasets', async () => {
      const ran = await job('report', '2026', data, `${folder}/report.xlsx`)
      expect(ran).toMatchObject({ code: 0, stdout: `${folder}/report.xlsx: 2 regions\n` })
      const workbook = new ExcelJS.Workbook()
      await workbook.xlsx.readFile(`${consumer.project}/${folder}/report.xlsx`)
      const sheet = workbook.getWorksheet('Sales 2026')!
      const rows: unknown[] = []
      sheet.eachRow((row) => rows.push((row.values as unknown[]).slice(1)))
      expect(rows).toEqual([
        ['Region', 'Sold', 'Target', 'Reached'],
        ['South', 50, 40, 1.25],
        ['North', 100.5, 200, 0.5025],
      ])
    })

    test('rates: series of a provider into a dataset', async () => {
      const ran = await job('rates', '2026-01-01', data)
      expect(ran).toMatchObject({ code: 0, stdout: 'rates: 6 rows\n' })
    })
  })

  describe('the examples', () => {
    const folder = `examples-${NODES.indexOf(node)}`
    beforeAll(() => {
      for (const name of examples) consumer.write(`${folder}/${name}`, exampleText(name))
    })
    const example = async (name: string, ...args: string[]) => {
      const env = { PARQUETRY_URL: served.url, PARQUETRY_KEY: served.key }
      const ran = await succeed(node, [name, ...args], { cwd: `${consumer.project}/${folder}`, env })
      return ran.stdout
    }

    test('table-to-report: from a csv text to an Excel file', async () => {
      expect(await example('table-to-report.ts')).toBe(
        'orders: 4 rows\nChiara: 310\nAda: 120.5\nlarge-orders.xlsx is written\n',
      )
      const workbook = new ExcelJS.Workbook()
      await workbook.xlsx.readFile(`${consumer.project}/${folder}/large-orders.xlsx`)
      expect(workbook.worksheets[0]!.rowCount).toBe(3)
    })

    test('ask-a-server: up, down, unchanged, and an error with its code', async () => {
      expect(await example('ask-a-server.ts')).toMatch(
        /^prices: 3 rows, version \d+\n2026-01-02: 101\n2026-01-03: 150\nprices.parquet is up to date\n400 invalid_columns: /,
      )
    })

    test('inside-fastify: the API under a path of its own', async () => {
      expect(await example('inside-fastify.ts')).toBe('true well\n')
    })

    test('files-in-place: Parquet files of others', async () => {
      const client = new Client({ url: served.url, key: served.key })
      const parquet = await (await client.datasets.download(3, 'parquet')).arrayBuffer()
      consumer.write(`${folder}/penguins.parquet`, new Uint8Array(parquet))
      const lines = (await example('files-in-place.ts', 'penguins.parquet')).trim().split('\n')
      expect(lines[0]).toMatch(/^344 rows: Species string, /)
      expect(JSON.parse(lines[1]!)).toMatchObject({ Species: 'Gentoo' })
      expect(lines).toHaveLength(4)
    })

    test('each has a test here and a line in their page', () => {
      const page = exampleText('README.md')
      for (const name of examples) expect(page).toContain(`](${name})`)
      expect(examples).toEqual([
        'ask-a-server.ts',
        'files-in-place.ts',
        'inside-fastify.ts',
        'table-to-report.ts',
      ])
    })
  })

  test('the command imports, exports and verifies', async () => {
    const data = `command-${NODES.indexOf(node)}`
    const command = async (...args: string[]) => {
      const bin = 'node_modules/parquetry/server/bin.js'
      const ran = await consumer.node(node, [bin, ...args], { PARQUETRY_DATA: data })
      expect(ran.stderr).not.toContain('Warning')
      return ran.stdout
    }
    consumer.write('numbers.csv', 'n\n1\n2\n3\n')
    await command('repository', 'create', 'r')
    expect(await command('import', 'numbers.csv', '--repository', '1', '--dataset', 'd')).toContain('3 rows')
    expect(await command('export', '1', '--filter', 'n gt 1')).toBe('n\n2\n3\n')
    expect(await command('verify')).toContain('all well')
  })

  test('the server answers, alone and inside of another Fastify, and gives the console and the guide', async () => {
    consumer.write('server.js', SERVER)
    const { stdout } = await consumer.node(node, ['server.js', `server-${NODES.indexOf(node)}`])
    expect(JSON.parse(stdout.split('\n').at(-2)!)).toEqual({
      alone: ['seen'],
      inside: ['seen'],
      odata: [{ a: 1 }],
      console: 200,
      guide: 200,
      refused: 401,
    })
  })

  test('require gives the same as import', async () => {
    consumer.write('required.cjs', "console.log(Object.keys(require('parquetry')).includes('openEngine'))")
    expect((await consumer.node(node, ['required.cjs'])).stdout).toBe('true\n')
  })
})

test('types hold under strict, without help from this repository', async () => {
  for (const [name, code] of Object.entries(jobs)) consumer.write(`types/${name}.ts`, code)
  for (const name of examples) consumer.write(`types/${name}`, exampleText(name))
  consumer.write('types/uses.ts', USES)
  const options = { target: 'es2022', module: 'nodenext', strict: true, noEmit: true, types: ['node'] }
  consumer.write('types/tsconfig.json', JSON.stringify({ compilerOptions: options }))
  await consumer.node(process.execPath, [`${root}/node_modules/typescript/bin/tsc`, '-p', 'types'])
})

/** What the jobs don't use: every way to take rows, disposal, narrowed errors, and mistakes that must be found. */
const USES = `
import { type Column, EngineError, type ErrorCode, openEngine, openFiles, type QueryOptions } from 'parquetry'
import * as engineAlone from 'parquetry/engine'
import { Client, type Dataset, ParquetryError } from 'parquetry/client'
import { type Connectors, openConnectors } from 'parquetry/connectors'

export async function all(signal: AbortSignal): Promise<number> {
  await using engine = await openEngine({ directory: 'data', role: 'guest' })
  await using files = await openFiles(['a.parquet', 'b.parquet'], { threads: 1 })
  const options: QueryOptions = { filter: 'a gt 1', orderBy: [{ column: 'a', descending: true }], last: 3 }
  using query = await (await engine.dataset(1)).query(options)
  for await (const batch of query.batches({ signal })) batch.numRows.toFixed()
  for await (const row of query.rows()) row['a']
  const stream = await query.bytes('csv')
  for await (const chunk of stream) chunk.byteLength.toFixed()
  const columns: readonly Column[] = files.columns
  // @ts-expect-error there is no such format
  await query.bytes('pdf')
  // @ts-expect-error there is no such option
  files.query({ where: 'a' })
  return (await query.count({ signal })) + columns.length
}

export function codeOf(error: unknown): ErrorCode | number | undefined {
  if (error instanceof engineAlone.EngineError) return error.code
  if (error instanceof EngineError && error.code === 'invalid_filter') return Number(error.details?.['position'])
  return error instanceof ParquetryError ? error.retryAfter : undefined
}

export const connectors: Connectors = openConnectors()

export async function overHttp(client: Client): Promise<Dataset> {
  for await (const row of client.datasets.rows<{ a: number }>(1)) row.a.toFixed()
  const series = await client.providers.series('ecb', 'EXR/D.USD.EUR.SP00.A', { start: '2026-01-01' })
  series.observations.map(({ value }) => value?.toFixed())
  // @ts-expect-error an id is a number
  await client.datasets.get('1')
  return client.datasets.append(1, { format: 'csv', body: 'a\\n1\\n' })
}
`

test('the client is bundled for browsers with nothing of Node in it', async () => {
  consumer.write('browser.js', "export { Client } from 'parquetry/client'")
  const built = await build({
    root: consumer.project,
    configFile: false,
    logLevel: 'error',
    build: { write: false, lib: { entry: 'browser.js', formats: ['es'], fileName: 'client' } },
  })
  const [{ output }] = built as { output: { code: string; imports: string[] }[] }[] as [
    { output: [{ code: string; imports: string[] }] },
  ]
  expect(output).toHaveLength(1)
  expect(output[0].imports).toEqual([])
  expect(output[0].code).not.toMatch(/node:|\bprocess\.|\bBuffer\b/)
  // Without the bundler's comments, which name folders. A third of it are the tables of options and of formats.
  const code = output[0].code.replace(/^\/\/ .*\n/gm, '')
  expect(code.length).toBeLessThan(43_400)
})

/** Prints which packages and what of ours, as `part` finds it in an address, are loaded by what a script does. */
const hookFor = (part: RegExp) => `
import { registerHooks } from 'node:module'
const loaded = new Set()
registerHooks({
  load(url, context, next) {
    const [, name] = /.*\\/node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(url) ?? []
    if (name === 'parquetry') loaded.add(${part}.exec(url)[1])
    else if (name) loaded.add(name)
    return next(url, context)
  },
})
process.on('exit', () => console.log(JSON.stringify([...loaded].sort())))
`

test('the engine loads what it needs when it needs it', async () => {
  const loaded = async (code: string, part = /parquetry\/dist\/([^/]+)/) => {
    consumer.write('hook.js', hookFor(part))
    consumer.write('loads.js', code)
    const { stdout } = await consumer.node(process.execPath, ['--import', './hook.js', 'loads.js'])
    return JSON.parse(stdout.trim().split('\n').at(-1)!)
  }
  // The grammar of filters is a part of the engine.
  const grammar = /chevrotain|regexpp/
  const atOnce = (await loaded("import 'parquetry/engine'")) as string[]
  expect(atOnce.filter((name) => !grammar.test(name))).toEqual(['engine', 'lru-cache'])
  const later = ['apache-arrow', '@duckdb/node-api', 'exceljs', 'yazl', 'connectors', 'server']
  consumer.write('loads.csv', 'a\n1\n')
  await loaded(`
    import { openEngine } from 'parquetry'
    const engine = await openEngine({ directory: 'loads' })
    const { id: repositoryId } = await engine.createRepository({ name: 'r' })
    const { id } = await engine.createDataset({ repositoryId, name: 'd' })
    await (await engine.dataset(id)).replace({ format: 'csv', body: { file: 'loads.csv' } })
    await engine.close()`)
  expect(
    await loaded(`
      import { openEngine } from 'parquetry'
      const engine = await openEngine({ directory: 'loads' })
      using query = await (await engine.dataset(1)).query()
      for await (const row of query.rows()) if (row.a !== 1) throw new Error()
      await engine.close()`),
  ).toEqual(expect.not.arrayContaining(later))
  expect(await loaded("import 'parquetry/connectors'", /parquetry\/dist\/(connectors|engine\/.+)/)).toEqual([
    'connectors',
    'engine/util/nearest.js',
    'engine/util/semaphore.js',
    'lru-cache',
  ])
  // The tables of options, and what names the one that was meant.
  expect(
    await loaded("import 'parquetry/client'", /parquetry\/dist\/(server|(?:engine|connectors)\/.+)/),
  ).toEqual([
    'connectors/transform/series-options.js',
    'engine/error-text.js',
    'engine/ingest/options.js',
    'engine/ingest/upload-format.js',
    'engine/options.js',
    'engine/types/option-values.js',
    'engine/util/nearest.js',
    'server',
  ])
})

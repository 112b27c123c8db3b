import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Client } from '../../server/client/index.ts'
import { type Served, serveSamples } from '../client/served.ts'
import { root, run, succeed } from '../package/consumer.ts'

/** Another Python than the one on the path, as one of a virtual environment that has pandas. */
const python = process.env['PARQUETRY_PYTHON'] ?? 'python3'

const folder = join(root, 'docs/tasks')
const pages = new Map(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]))
const blocksOf = (name: string, language: string) =>
  [...pages.get(name)!.matchAll(new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\``, 'gm'))].map(
    ([, code]) => code!,
  )

/** Pages whose commands need what is not here: Spark, DuckDB's command, a provider, a data directory of a server. */
const ELSEWHERE = ['iceberg.md', 'parquet.md', 'schedule.md', 'backup.md']

let served: Served
let environment: Record<string, string>
let directory: string

beforeAll(async () => {
  served = await serveSamples()
  directory = mkdtempSync(join(tmpdir(), 'parquetry-tasks-'))
  const client = new Client(served)
  await client.accounts.create({ name: 'colleague' })
  environment = {
    URL: served.url,
    KEY: served.key,
    PARQUETRY_SERVER: served.url,
    PARQUETRY_KEY: served.key,
    COLLEAGUE: 'colleague',
    DATA: join(directory, 'data'),
    BACKUP: join(directory, 'backup'),
    ELSEWHERE: join(directory, 'elsewhere'),
  }
})
afterAll(async () => {
  await served[Symbol.asyncDispose]()
  rmSync(directory, { recursive: true, force: true })
})

/** The commands of a page with a repository and a dataset of two versions of its own. */
async function runPage(name: string): Promise<string[]> {
  const client = new Client(served)
  const { id: repositoryId } = await client.repositories.create({ name: `for ${name}` })
  const { id } = await client.datasets.create({ name: 'yours', repositoryId })
  for (const body of ['n\n1\n', 'n\n2\n']) await client.datasets.replace(id, { format: 'csv', body })
  const env = { ...environment, REPOSITORY: String(repositoryId), DATASET: String(id) }
  const printed: string[] = []
  for (const block of blocksOf(name, 'sh')) {
    // What the page on starting defines as an alias.
    const commands = block.replaceAll(
      /^parquetry /gm,
      `"${process.execPath}" "${join(root, 'server/bin.js')}" `,
    )
    printed.push((await succeed('sh', ['-ec', commands], { cwd: directory, env })).stdout)
  }
  return printed
}

const withCommands = [...pages.keys()].filter(
  (name) => !ELSEWHERE.includes(name) && blocksOf(name, 'sh').length > 0,
)

test.each(
  withCommands.filter((name) => name !== 'schedule.md' && name !== 'backup.md'),
)('the commands of %s run as they are printed', async (name) => {
  await expect(runPage(name)).resolves.not.toEqual([])
})

test('the page on undoing prints the rows of the first version, and makes them current', async () => {
  const [, restored] = await runPage('undo.md')
  expect(readFileSync(join(directory, 'before.csv'), 'utf8')).toBe('n\n1\n')
  expect(JSON.parse(restored!)).toMatchObject({ version: 3, rowCount: 1 })
})

test('the page on messy files reads the numbers and days that a person sees', async () => {
  const [preview] = await runPage('upload.md')
  expect(JSON.parse(preview!).columns).toMatchObject([
    { name: 'Zeit', type: 'date' },
    { name: 'Preis', type: 'double' },
    { name: 'Menge', type: 'integer' },
  ])
})

/** The Python of the pages, by the package that it needs. */
const programs = new Map(
  [...pages.values()].flatMap((page) =>
    [...page.matchAll(/<!-- python: ([\w ]+) -->\n```python\n([\s\S]*?)```/g)].map(
      ([, name, code]) => [name!, code!] as const,
    ),
  ),
)

/** What a example prints; undefined, and said so, where Python or the package can't be had. */
async function print(name: string): Promise<string | undefined> {
  const has = await run(python, ['-c', `import ${name.split(' ')[0]}`], { cwd: root }).catch(() => undefined)
  if (has?.code !== 0) {
    console.log(`skipped: the ${name} example, because ${python} has no ${name}`)
    return undefined
  }
  const env = { URL: served.url, KEY: served.key }
  return (await succeed(python, ['-c', programs.get(name)!], { cwd: root, env })).stdout
}

async function perSpecies(filter?: string): Promise<Map<string, { count: number; sum: number }>> {
  const client = new Client({ url: served.url, key: served.key })
  const species = new Map<string, { count: number; sum: number }>()
  for await (const row of client.datasets.rows(3, filter === undefined ? {} : { filter })) {
    const name = String(row['Species'])
    const { count, sum } = species.get(name) ?? { count: 0, sum: 0 }
    species.set(name, { count: count + 1, sum: sum + Number(row['Body Mass (g)']) })
  }
  return species
}

test('there is Python to run', () => {
  expect([...programs.keys()].toSorted()).toEqual([
    'duckdb',
    'fastparquet',
    'pandas',
    'polars',
    'polars by address',
  ])
})

test('the pandas example prints the figures of the rows', async () => {
  const printed = await print('pandas')
  if (printed === undefined) return
  const expected = await perSpecies('"Body Mass (g)" gt 4000')
  for (const [name, { count, sum }] of expected) {
    const [, shownCount, shownMean] = new RegExp(`^${name} +(\\d+) +([\\d.]+)$`, 'm').exec(printed) ?? []
    expect(Number(shownCount)).toBe(count)
    expect(Number(shownMean)).toBeCloseTo(sum / count, 4)
  }
}, 60_000)

test.each([
  'polars',
  'fastparquet',
  'duckdb',
])('the %s example prints the figures of the rows', async (name) => {
  const printed = await print(name)
  if (printed === undefined) return
  for (const [species, { count }] of await perSpecies()) {
    expect(printed).toMatch(new RegExp(`${species}.*\\b${count}\\b`))
  }
}, 60_000)

test('polars reads and scans csv, Parquet and ndjson by their addresses', async () => {
  const printed = await print('polars by address')
  if (printed !== undefined) expect(printed.trim().split(/\s+/)).toEqual(Array(5).fill('344'))
}, 60_000)

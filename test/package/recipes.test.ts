import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Client } from '../../server/client/index.ts'
import { type Served, serveSamples } from '../client/served.ts'
import { root, run, succeed } from './consumer.ts'

/** Another Python than the one on the path, as one of a virtual environment that has pandas. */
const python = process.env['PARQUETRY_PYTHON'] ?? 'python3'

const recipes = readFileSync(join(root, 'engine/guide/recipes.md'), 'utf8')

/** The Python of the recipes, by the package that it needs. */
const programs = new Map(
  [...recipes.matchAll(/<!-- python: (\w+) -->\n```python\n([\s\S]*?)```/g)].map(
    ([, name, code]) => [name!, code!] as const,
  ),
)

let served: Served

beforeAll(async () => {
  served = await serveSamples()
})
afterAll(() => served[Symbol.asyncDispose]())

/** What a recipe prints; undefined, and said so, where Python or the package can't be had. */
async function print(name: string): Promise<string | undefined> {
  const has = await run(python, ['-c', `import ${name}`], { cwd: root }).catch(() => undefined)
  if (has?.code !== 0) {
    console.log(`skipped: the ${name} recipe, because ${python} has no ${name}`)
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

test('there are recipes to run', () => {
  expect([...programs.keys()]).toEqual(['pandas', 'polars', 'duckdb'])
})

test('the pandas recipe prints the figures of the rows', async () => {
  const printed = await print('pandas')
  if (printed === undefined) return
  const expected = await perSpecies('"Body Mass (g)" gt 4000')
  for (const [name, { count, sum }] of expected) {
    const [, shownCount, shownMean] = new RegExp(`^${name} +(\\d+) +([\\d.]+)$`, 'm').exec(printed) ?? []
    expect(Number(shownCount)).toBe(count)
    expect(Number(shownMean)).toBeCloseTo(sum / count, 4)
  }
}, 60_000)

test.each(['polars', 'duckdb'])('the %s recipe prints the figures of the rows', async (name) => {
  const printed = await print(name)
  if (printed === undefined) return
  for (const [species, { count }] of await perSpecies()) {
    expect(printed).toMatch(new RegExp(`${species}.*\\b${count}\\b`))
  }
}, 60_000)

test('the curl recipes do what they say', async () => {
  const [, shell = ''] = /## curl\n\n```sh\n([\s\S]*?)```/.exec(recipes) ?? []
  const commands = shell.split(/\n(?=#)/)
  const env = { URL: served.url, KEY: served.key }
  if ((await run('curl', ['--version'], { cwd: root }).catch(() => undefined))?.code !== 0) {
    console.log('skipped: the curl recipes, because there is no curl')
    return
  }
  const filtered = await succeed('sh', ['-c', commands[0]!.replace('-o heavy.csv', '')], { cwd: root, env })
  expect(
    filtered.stdout
      .trim()
      .split('\n')
      .slice(1)
      .every((line) => line.includes('Dream')),
  ).toBe(true)
  const counted = await succeed('sh', ['-c', commands[1]!], { cwd: root, env })
  expect(counted.stdout).toMatch(/^row-count: \d+/im)
})

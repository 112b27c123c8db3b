import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Engine, openEngine } from '../../engine/index.ts'

let directory: string
let engine: Engine

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'parquetry-quotes-'))
  engine = await openEngine({ directory, threads: 2 })
  const { id: repositoryId } = await engine.createRepository({ name: 'shop' })
  const { id } = await engine.createDataset({ repositoryId, name: 'sales' })
  const body = Buffer.from('n,at,order,Artikel-Nr,Umsatz EUR,net weight (kg)\n1,2,3,4,5,6\n')
  await (await engine.dataset(id)).replace({ format: 'csv', body })
}, 120_000)

afterAll(async () => {
  await engine.close()
  await rm(directory, { recursive: true, force: true })
})

async function messageOf(sql: string): Promise<string> {
  return engine.sql(sql).then(
    (query) => {
      query[Symbol.dispose]()
      return ''
    },
    ({ message }: Error) => message,
  )
}

test.each([
  ['SELECT at FROM sales', 'at'],
  ['SELECT max(at) FROM shop.sales', 'at'],
  ['SELECT n FROM "shop"."sales" WHERE at > 3', 'at'],
  ['SELECT n FROM sales ORDER BY order', 'order'],
  ['SELECT at, order FROM sales', 'at'],
  ['SELECT Artikel-Nr FROM sales', 'Artikel-Nr'],
  ['SELECT n FROM sales WHERE Artikel-Nr > 3', 'Artikel-Nr'],
  ['SELECT max(umsatz eur) FROM sales', 'Umsatz EUR'],
  ['SELECT s.n FROM sales s JOIN sales t ON s.n = t.n WHERE net weight (kg) > 1', 'net weight (kg)'],
])('%s: says that the name of the column needs quotes', async (sql, name) => {
  expect(await messageOf(sql)).toContain(`The name of the column needs double quotes: "${name}".`)
})

test.each([
  'SELECT n n n FROM sales',
  'SELECT at FROM nowhere',
  'SELECT at',
  'SELECT n FROM sales WHERE',
  'SELECT m FROM sales',
  'SELECT "Artikel" FROM sales',
])('%s: says nothing of quotes that would not help', async (sql) => {
  expect(await messageOf(sql)).toMatch(/\w/)
  expect(await messageOf(sql)).not.toContain('quotes')
})

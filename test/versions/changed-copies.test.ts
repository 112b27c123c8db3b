import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Dataset, type Engine, type NewValues, openEngine } from '../../engine/index.ts'

const directory = mkdtempSync(join(tmpdir(), 'parquetry-copies-'))
let engine: Engine
let repositoryId: number
beforeAll(async () => {
  engine = await openEngine({
    directory,
    threads: 1,
    partSizes: { rows: 16 },
    keep: { versions: 100, days: 1 },
  })
  repositoryId = (await engine.createRepository({ name: 'copies' })).id
})
afterAll(async () => {
  await engine.close()
  rmSync(directory, { recursive: true })
})

type Row = Record<string, unknown>
const bytes = (rows: readonly Row[]) => Buffer.from(rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
const ndjson = (rows: readonly Row[]) => ({ format: 'ndjson' as const, body: bytes(rows) })

let names = 0
async function table(rows: readonly Row[], key: readonly string[] = []): Promise<Dataset> {
  const { id } = await engine.createDataset({ repositoryId, name: `copies_${++names}` })
  const dataset = await engine.dataset(id)
  await dataset.replace(ndjson(rows))
  if (key.length > 0) await dataset.declareKey(key)
  return dataset
}

/** A write, and whether it needs a key. */
type Write = (dataset: Dataset, isKeyed: boolean) => Promise<unknown>

const digit = fc.integer({ min: 0, max: 9 })
const row = fc.record({ k: fc.integer({ min: 0, max: 99 }), a: digit, w: fc.constantFrom('x', 'y', null) })
const rows = fc.uniqueArray(row, { selector: ({ k }) => k, minLength: 1, maxLength: 6 })
const condition = fc.oneof(
  digit.map((a) => `a eq ${a}`),
  fc.integer({ min: 0, max: 99 }).map((k) => `k ge ${k} and k lt ${k + 7}`),
  fc.constant("w eq 'x'"),
)
const write: fc.Arbitrary<Write> = fc.oneof(
  condition.map(
    (filter): Write =>
      (dataset) =>
        dataset.deleteRows({ filter }),
  ),
  fc.tuple(condition, fc.constantFrom<NewValues>({ a: '=a add 1' }, { a: 5 }, { w: null }, { a: '=a' })).map(
    ([filter, values]): Write =>
      (dataset) =>
        dataset.editRows({ filter }, values),
  ),
  rows.map(
    (some): Write =>
      (dataset, isKeyed) =>
        isKeyed ? dataset.upsert(ndjson(some)) : dataset.append({ ...ndjson(some), missing: 'null' }),
  ),
  rows.map((some): Write => {
    const withoutA = some.map(({ k, w }) => ({ k, w }))
    return (dataset, isKeyed) =>
      isKeyed ? dataset.upsert(ndjson(withoutA)) : dataset.append({ ...ndjson(withoutA), missing: 'null' })
  }),
  rows.map((some): Write => {
    const wider = some.map((one) => ({ ...one, more: one.a }))
    const upload = { ...ndjson(wider), addColumns: true }
    return (dataset, isKeyed) =>
      isKeyed ? dataset.upsert(upload) : dataset.append({ ...upload, missing: 'null' })
  }),
)

async function rowsOf(dataset: Dataset, version?: number): Promise<Row[]> {
  const query = await dataset.query(version === undefined ? {} : { version })
  return Array.fromAsync(query.rows())
}

/** What an ascending list of all rows of two versions says has changed. */
function expected(
  before: readonly Row[],
  after: readonly Row[],
  version: number,
  isKeyed: boolean,
  isEdit: boolean,
): string[] {
  const columns = ['k', 'a', 'w', 'more']
  const text = (one: Row) => JSON.stringify(columns.map((name) => one[name] ?? null))
  if (isEdit && !isKeyed) {
    return before.flatMap((one, index) => {
      const [old, now] = [text(one), text(after[index]!)]
      return old === now ? [] : [`update_before ${version} ${old}`, `update_after ${version} ${now}`]
    })
  }
  const counts = new Map<string, number>()
  for (const one of before) counts.set(text(one), (counts.get(text(one)) ?? 0) - 1)
  for (const one of after) counts.set(text(one), (counts.get(text(one)) ?? 0) + 1)
  const changed = [...counts].filter(([, n]) => n !== 0)
  const ofKey = Map.groupBy(changed, ([values]) => JSON.parse(values)[0])
  return changed.flatMap(([values, n]) => {
    const isUpdate = isKeyed && ofKey.get(JSON.parse(values)[0])!.length === 2
    const change = isUpdate ? (n < 0 ? 'update_before' : 'update_after') : n < 0 ? 'delete' : 'insert'
    return Array.from({ length: Math.abs(n) }, () => `${change} ${version} ${values}`)
  })
}

async function found(dataset: Dataset, since: number): Promise<string[]> {
  using changes = await dataset.changes({ since })
  using query = changes.query()
  const all: Row[] = await Array.fromAsync(query.rows())
  return all.map((one) => {
    const values = ['k', 'a', 'w', 'more'].map((name) => one[name] ?? null)
    return `${one['_change']} ${one['_version']} ${JSON.stringify(values)}`
  })
}

const START = Array.from({ length: 100 }, (_, k) => ({ k, a: k % 10, w: k % 3 === 0 ? 'x' : null }))

test('changes are what differs between the rows of versions, whatever has been written', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(write, { minLength: 1, maxLength: 6 }),
      fc.boolean(),
      async (writes, isKeyed) => {
        const dataset = await table(START, isKeyed ? ['k'] : [])
        for (const one of writes) await one(dataset, isKeyed)
        const { version } = await dataset.record()
        const operations = new Map(
          (await dataset.versions({ limit: 100 })).map((one) => [one.number, one.operation]),
        )
        const states: Row[][] = []
        for (let number = 1; number <= version; number++) states[number] = await rowsOf(dataset, number)
        for (const since of [1, Math.max(1, version - 1)]) {
          const all: string[] = []
          for (let number = since + 1; number <= version; number++)
            all.push(
              ...expected(
                states[number - 1]!,
                states[number]!,
                number,
                isKeyed,
                operations.get(number) === 'edit',
              ),
            )
          expect((await found(dataset, since)).toSorted()).toEqual(all.toSorted())
        }
      },
    ),
    { numRuns: 12 },
  )
})

/** The numbers of the rows that are noted as changed, by part. */
function noted(dataset: Dataset): number[][] {
  using catalog = new DatabaseSync(join(directory, 'catalog.sqlite'), { readOnly: true })
  const sql = `SELECT p.origin FROM parts p JOIN version_parts vp ON vp.part_id = p.id
    JOIN datasets d ON d.version_id = vp.version_id WHERE d.id = ? AND p.origin IS NOT NULL ORDER BY vp.position`
  return catalog
    .prepare(sql)
    .all(dataset.id)
    .map(({ origin }) => JSON.parse(String(origin)).rows)
}

test('of a part that a change copies, the changed rows are noted, so that others are not compared', async () => {
  const dataset = await table(START, ['k'])
  await dataset.editRows({ filter: 'k eq 3 or k eq 50' }, { a: 100 })
  expect(noted(dataset)).toEqual([[3], [2]])
  await dataset.deleteRows({ filter: 'k eq 4' })
  expect(noted(dataset)).toEqual([[4], [2]])
  await dataset.upsert(ndjson([{ k: 99, a: 1, w: 'x' }]))
  expect(noted(dataset)).toEqual([[4], [2], [19]])
  expect(await found(dataset, 1)).toEqual([
    'update_before 3 [3,3,"x",null]',
    'update_after 3 [3,100,"x",null]',
    'update_before 3 [50,0,null,null]',
    'update_after 3 [50,100,null,null]',
    'delete 4 [4,4,null,null]',
    'update_before 5 [99,9,"x",null]',
    'update_after 5 [99,1,"x",null]',
  ])
})

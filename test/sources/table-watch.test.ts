import { afterAll, expect, test } from 'vitest'
import { TableWatch } from '../../server/sources/table-watch.ts'
import { dataset, platform } from '../server/platform.ts'

const clock = { now: new Date('2026-03-01T10:00:00Z') }
const at = await platform({ now: () => clock.now })
afterAll(() => at[Symbol.asyncDispose]())

const { engine, services } = at
const warnings: string[] = []
const watch = (Watch = TableWatch) =>
  new Watch({
    engine,
    sources: services.sources,
    now: () => clock.now,
    warn: (text) => warnings.push(text),
  })
const pass = (seconds: number) => {
  clock.now = new Date(clock.now.getTime() + seconds * 1_000)
}

async function stored(sql: string, materialize = 'on-change'): Promise<number> {
  const { repository } = await dataset(at, at.root, { csv: 'n\n1\n' })
  const json = { name: 'stored', repositoryId: repository, query: { sql }, materialize }
  return (await at.call(at.root, 'POST', '/datasets', { json })).json().id
}
const append = (id: number) =>
  at.call(at.root, 'POST', `/datasets/${id}/data`, {
    body: 'n\n5\n',
    headers: { 'content-type': 'text/csv' },
  })
const rowsOf = async (id: number) => (await engine.dataset(id)).record().then(({ rowCount }) => rowCount)

test('a stored query is due as soon as one of its tables has changed, and no other', async () => {
  const [one, other] = [
    await dataset(at, at.root, { csv: 'n\n1\n' }),
    await dataset(at, at.root, { csv: 'n\n1\n' }),
  ]
  const [ofOne, ofBoth] = [
    await stored(`SELECT n FROM dataset_${one.id}`),
    await stored(`SELECT n FROM dataset_${one.id} UNION ALL SELECT n FROM dataset_${other.id}`),
  ]
  const hourly = await stored(`SELECT n FROM dataset_${other.id}`, 'hour')
  const tables = watch()
  pass(11)
  await services.refresher.runDue()
  expect(await tables.look()).toBe(0)
  pass(11)
  await services.refresher.runDue()
  pass(1)
  expect(await tables.look()).toBe(0)
  await append(other.id)
  // It ran a second ago, so that it is due in nine.
  expect(await tables.look()).toBe(0)
  pass(10)
  await services.refresher.runDue()
  expect([await rowsOf(ofOne), await rowsOf(ofBoth)]).toEqual([1, 3])
  pass(60)
  await services.refresher.runDue()
  pass(9.9)
  await append(one.id)
  expect(await tables.look()).toBe(0)
  pass(0.1)
  await append(one.id)
  expect(await tables.look()).toBe(2)
  expect(await services.refresher.runDue()).toBe(2)
  expect([await rowsOf(ofOne), await rowsOf(ofBoth), await rowsOf(hourly)]).toEqual([3, 5, 1])
  expect(await tables.look()).toBe(0)
})

test('a look finds nothing of tables and queries that are gone', async () => {
  const { id: table } = await dataset(at, at.root, { csv: 'n\n1\n' })
  const query = await stored(`SELECT n FROM dataset_${table}`)
  const tables = watch()
  await tables.look()
  pass(11)
  await at.call(at.root, 'DELETE', `/datasets/${query}`)
  await at.call(at.root, 'DELETE', `/datasets/${table}`)
  expect(await tables.look()).toBe(0)
  pass(11)
  expect(await tables.look()).toBe(0)
})

test('looking goes on until it is ended', async () => {
  const { id: table } = await dataset(at, at.root, { csv: 'n\n1\n' })
  await stored(`SELECT n FROM dataset_${table}`)
  const [looked, due] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  class Looking extends TableWatch {
    override async look(): Promise<number> {
      const count = await super.look()
      looked.resolve()
      return count
    }
  }
  const ending = new AbortController()
  const running = watch(Looking).run(due.resolve, ending.signal)
  await looked.promise
  pass(20)
  await append(table)
  await due.promise
  ending.abort()
  await running
  expect(warnings).toEqual([])
})

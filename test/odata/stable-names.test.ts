import { afterAll, beforeAll, expect, test } from 'vitest'
import { IS_CLUSTER } from '../cluster/elsewhere.ts'
import { dataset, type Platform, platform } from '../server/platform.ts'

let at: Platform
let ada: string
let bob: string
let eve: string
beforeAll(async () => {
  at = await platform()
  ;[ada, bob, eve] = await Promise.all(['ada', 'bob', 'eve'].map((name) => at.account(name)))
})
afterAll(() => at[Symbol.asyncDispose]())

const names = async (key: string): Promise<string[]> =>
  (await at.call(key, 'GET', '/odata/')).json().value.map((one: { name: string }) => one.name)
const who = async (key: string, set: string) => {
  const answer = await at.call(key, 'GET', `/odata/${set}`)
  return answer.statusCode === 200 ? answer.json().value[0].who : answer.json().error.message
}
const rename = async (key: string, { repository, id }: Ids, home: string, name: string, more = {}) => {
  await at.call(key, 'PATCH', `/repositories/${repository}`, { json: { name: home, ...more } })
  await at.call(key, 'PATCH', `/datasets/${id}`, { json: { name } })
}

type Ids = Awaited<ReturnType<typeof dataset>>

async function named(key: string, home: string, name: string, csv: string, isPrivate = true): Promise<Ids> {
  const made = await dataset(at, key, { name: home, private: isPrivate, csv })
  await rename(key, made, home, name)
  return made
}

test('nobody takes the name of a dataset by a public one of the same names, older or not', async () => {
  const older = await named(eve, 'harmless', 'harmless', 'who\neve\n', false)
  await named(ada, 'pay', 'staff', 'who\nada\n')
  await rename(eve, older, 'pay', 'staff')
  const list = await names(ada)
  expect(list).toContain('pay_staff')
  expect(await who(ada, 'pay_staff')).toBe('ada')
  const hers = `eve_pay_staff_id${older.id}`
  expect(list).toContain(hers)
  expect(await who(ada, hers)).toBe('eve')
  expect(await who(eve, 'pay_staff')).toBe('eve')
  expect(await who(bob, 'pay_staff')).toContain(`Did you mean ${hers}?`)
  // Nor by a new one, nor as a member.
  const newer = await named(eve, 'pay', 'staff', 'who\neve\n', false)
  await at.call(eve, 'PUT', `/repositories/${newer.repository}/members/ada`, {
    json: { permission: 'Write' },
  })
  await rename(eve, newer, 'pay', 'staff', { private: false })
  expect(await who(ada, 'pay_staff')).toBe('ada')
  expect((await names(ada)).filter((name) => name.startsWith('pay'))).toEqual(['pay_staff'])
})

test('a name stays when dataset or repository is renamed, moved or shared, and is never of another meanwhile', async () => {
  const own = await named(bob, 'wages', 'people', 'who\nbob\n')
  expect(await names(bob)).toContain('wages_people')
  const xml = await at.call(bob, 'GET', '/odata/$metadata')
  expect(xml.body).toContain('"wages_people"')
  await rename(bob, own, 'salaries', 'all of them')
  const second = await named(bob, 'wages', 'people', 'who\nsecond\n')
  expect((await names(bob)).filter((name) => name.startsWith('wages'))).toEqual([
    'wages_people',
    'wages_people_1',
  ])
  expect([await who(bob, 'wages_people'), await who(bob, 'wages_people_1')]).toEqual(['bob', 'second'])
  const foreign = `bob_wages_people_id${own.id}`
  const share = (permission: string) =>
    at.call(bob, 'PUT', `/repositories/${own.repository}/members/ada`, { json: { permission } })
  for (const change of [
    () => share('Read'),
    () => share('Write'),
    () => rename(bob, own, 'x', 'y', { private: false }),
  ]) {
    expect((await change())?.statusCode ?? 200).toBe(200)
    expect(await who(ada, foreign)).toBe('bob')
  }
  // It moves to another owner: it keeps its names, and the new owner's are in the way of nobody.
  const target = (
    await at.call(ada, 'POST', '/repositories', { json: { name: 'target', private: false } })
  ).json().id
  await at.call(ada, 'PUT', `/repositories/${target}/members/bob`, { json: { permission: 'Write' } })
  const moved = await at.call(bob, 'PATCH', `/datasets/${own.id}`, { json: { repositoryId: target } })
  expect(moved.statusCode).toBe(200)
  expect([await who(bob, 'wages_people'), await who(ada, foreign), await who(eve, foreign)]).toEqual([
    'bob',
    'bob',
    'bob',
  ])
  // It is free again once the dataset is gone.
  await at.call(bob, 'DELETE', `/datasets/${second.id}`)
  await named(bob, 'wages', 'people', 'who\nthird\n')
  await names(bob)
  expect(await who(bob, 'wages_people_1')).toBe('third')
})

test('names of your own that become the same identifier get numbers in the order in which they are given', async () => {
  const cid = await at.account('cid')
  await named(cid, 'a b', 'c', 'who\nfirst\n')
  expect(await names(cid)).toContain('a_b_c')
  await named(cid, 'a_b', 'c', 'who\nsecond\n')
  expect(await names(cid)).toEqual(expect.arrayContaining(['a_b_c', 'a_b_c_1']))
  expect([await who(cid, 'a_b_c'), await who(cid, 'a_b_c_1')]).toEqual(['first', 'second'])
})

test('a name of your own never looks like one of others', async () => {
  const dan = await at.account('dan')
  const hers = await named(eve, 'open', 'rows', 'who\neve\n', false)
  await named(dan, 'eve_open', `rows_id${hers.id}`, 'who\ndan\n')
  const foreign = `eve_open_rows_id${hers.id}`
  expect(await names(dan)).toEqual(expect.arrayContaining([foreign, `${foreign}_1`]))
  expect([await who(dan, foreign), await who(dan, `${foreign}_1`)]).toEqual(['eve', 'dan'])
})

test('many who ask at once see the same names, which are given once', async () => {
  const fay = await at.account('fay')
  for (let i = 0; i < 5; i++) await named(fay, `home ${i % 2}`, `t ${i}`, 'who\nfay\n')
  const lists = await Promise.all(Array.from({ length: 8 }, () => names(fay)))
  expect(new Set(lists.map((list) => list.join())).size).toBe(1)
  const rows = await at.engine.database.all<{ dataset_id: number }>('SELECT * FROM entity_sets')
  expect(new Set(rows.map(({ dataset_id }) => dataset_id)).size).toBe(rows.length)
})

// The trigger is written in the SQL of SQLite.
test.skipIf(IS_CLUSTER)('the feed is answered where names can not be stored', async () => {
  const gus = await at.account('gus')
  await named(gus, 'late', 'rows', 'who\ngus\n')
  const { database } = at.engine
  await database.exec(
    `CREATE TRIGGER full_disk BEFORE INSERT ON entity_sets BEGIN SELECT raise(ABORT, 'full'); END`,
  )
  expect(await who(gus, 'late_rows')).toBe('gus')
  await database.exec('DROP TRIGGER full_disk')
  expect(await names(gus)).toContain('late_rows')
})

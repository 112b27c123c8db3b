import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { dataset, type Platform, platform } from '../platform.ts'

/**
 * Who has which names: Ada has a private `pay/staff`, which she shares with Bob; Eve, who knows its names, has an older
 * dataset that she makes public and calls the same.
 */
let at: Platform
let ada: string
let bob: string
let eve: string
let cid: string
let own: { repository: number; id: number }
let squat: { repository: number; id: number }
beforeAll(async () => {
  at = await platform({ config: { iceberg: { localFiles: true } } })
  ;[ada, bob, eve, cid] = await Promise.all(['ada', 'bob', 'eve', 'cid'].map((name) => at.account(name)))
  squat = await dataset(at, eve, { name: 'harmless', private: true, csv: 'who\neve\n' })
  own = await dataset(at, ada, { name: 'pay', private: true, csv: 'who\nada\n' })
  await rename(ada, own, 'pay', 'staff')
  const json = { permission: 'Read' }
  await at.call(ada, 'PUT', `/repositories/${own.repository}/members/bob`, { json })
})
afterAll(() => at[Symbol.asyncDispose]())

async function rename(key: string, ids: typeof own, repository: string, name: string, more = {}) {
  const home = { json: { name: repository, ...more } }
  const changes = [
    await at.call(key, 'PATCH', `/repositories/${ids.repository}`, home),
    await at.call(key, 'PATCH', `/datasets/${ids.id}`, { json: { name } }),
  ]
  expect(changes.map(({ statusCode }) => statusCode)).toEqual([200, 200])
}

const readBy = (key: string) => async (method: string, url: string, json?: unknown) => {
  const { statusCode, body } = await at.call(key, method, url, json === undefined ? {} : { json })
  return statusCode === 200 ? (/ada|eve|cid/.exec(body)?.[0] ?? body) : `${statusCode} ${body}`
}

/** What stands under a name, by everything that takes one. */
const DOORS: Readonly<Record<string, (key: string) => Promise<unknown>>> = {
  'an address by name': (key) => readBy(key)('GET', '/d/pay/staff/data'),
  'SQL with the repository': (key) => readBy(key)('POST', '/sql', { sql: 'SELECT who FROM pay.staff' }),
  'SQL in another spelling': (key) => readBy(key)('POST', '/sql', { sql: 'SELECT who FROM Pay.STAFF' }),
  'SQL with the dataset alone': (key) => readBy(key)('GET', '/sql?q=FROM%20staff'),
  'SQL with a past version': (key) =>
    readBy(key)('POST', '/sql', { sql: 'SELECT who FROM pay.staff AT (VERSION => 1)' }),
  'a link': async (key) => {
    const made = await at.call(key, 'POST', '/links', { json: { path: '/d/pay/staff/data' } })
    if (made.statusCode !== 201) return `${made.statusCode} ${made.body}`
    const { url } = made.json()
    const { body } = await at.call(undefined, 'GET', url.slice(url.indexOf('/datasets')))
    return /ada|eve|cid/.exec(body)?.[0] ?? body
  },
  'the namespaces of Iceberg': async (key) => {
    const namespace = (await at.call(key, 'GET', '/iceberg/v1/namespaces/pay')).json()
    const tables = (await at.call(key, 'GET', '/iceberg/v1/namespaces/pay/tables')).json()
    const table = (await at.call(key, 'GET', '/iceberg/v1/namespaces/pay/tables/staff')).json()
    if (tables.identifiers?.length !== 1) return tables
    const uuid = (id: number) => table.metadata?.['table-uuid'] === uuids.get(id)
    const found = [own, squat].find(
      ({ repository }) => String(repository) === namespace.properties?.['parquetry.repository'],
    )
    if (!found || !uuid(found.id)) return namespace
    return found === own ? 'ada' : 'eve'
  },
}

const uuids = new Map<number, string>()

describe('a name without an owner', () => {
  beforeAll(async () => {
    for (const { id, repository } of [own, squat]) {
      const path = `/iceberg/v1/plain/namespaces/r${repository}/tables/d${id}`
      uuids.set(id, (await at.call(at.root, 'GET', path)).json().metadata['table-uuid'])
    }
  })

  test.each(Object.entries(DOORS))('in %s means the same after others have taken it', async (_, open) => {
    await rename(eve, squat, 'harmless', 'harmless', { private: true })
    expect([await open(ada), await open(bob)]).toEqual(['ada', 'ada'])
    await rename(eve, squat, 'pay', 'staff', { private: false })
    // Hers to her, and to those who have no other.
    expect(await Promise.all([ada, bob, eve, cid].map(open))).toEqual(['ada', 'ada', 'eve', 'eve'])
  })

  test('of several public ones means none of them, and the error says what to write', async () => {
    const third = await dataset(at, ada, { name: 'public', csv: 'who\nada\n' })
    await rename(ada, third, 'pay', 'staff')
    const dan = await at.account('dan')
    const byName = (await at.call(dan, 'GET', '/d/pay/staff/data')).json()
    expect(byName.error).toBe(
      'Several datasets are called "pay/staff": write /d/eve/pay/staff or /d/ada/pay/staff.',
    )
    const inSql = (await at.call(dan, 'POST', '/sql', { json: { sql: 'FROM pay.staff' } })).json()
    expect(inSql.error).toContain(
      '"pay"."staff" is ambiguous: write "eve"."pay"."staff" or "ada"."pay"."staff".',
    )
    const inIceberg = (await at.call(dan, 'GET', '/iceberg/v1/namespaces/pay')).json()
    expect(inIceberg.error.message).toContain(`write "pay~${squat.repository}" or "pay~${third.repository}".`)
    // To Ada both are her own.
    const hers = (await at.call(ada, 'GET', '/d/pay/staff')).json().error
    expect(hers).toContain(`write /datasets/${own.id} or /datasets/${third.id}.`)
    const herSql = (await at.call(ada, 'POST', '/sql', { json: { sql: 'FROM ada.pay.staff' } })).json()
    expect(herSql.error).toContain(
      `"ada"."pay"."staff" is ambiguous: write dataset_${own.id} or dataset_${third.id}.`,
    )
    await at.call(ada, 'DELETE', `/repositories/${third.repository}`)
  })
})

describe('a name with its owner', () => {
  test('reaches what is public of others, and nothing else', async () => {
    await rename(eve, squat, 'pay', 'staff', { private: false })
    for (const key of [ada, bob, cid]) {
      const read = readBy(key)
      expect(await read('GET', '/d/eve/pay/staff/data')).toBe('eve')
      expect(await read('GET', '/d/eve/pay/staff/data?$filter=who%20eq%20%27eve%27')).toBe('eve')
      expect(await read('POST', '/sql', { sql: 'SELECT eve.pay.staff.who FROM eve.pay.staff' })).toBe('eve')
      expect(await read('POST', '/sql', { sql: 'FROM "eve"."PAY"."staff"' })).toBe('eve')
      expect(
        (await at.call(key, 'GET', `/iceberg/v1/namespaces/pay~${squat.repository}/tables`)).statusCode,
      ).toBe(200)
    }
    for (const [key, name] of [
      [cid, 'ada'],
      [eve, 'ada'],
      [ada, 'EVE'],
    ] as const) {
      const byName = await at.call(key, 'GET', `/d/${name}/pay/staff`)
      expect([byName.statusCode, byName.json().error.includes(`"${name}/pay/staff"`)]).toEqual([404, true])
      expect(
        (await at.call(key, 'POST', '/sql', { json: { sql: `FROM "${name}".pay.staff` } })).json().code,
      ).toBe('unknown_table')
    }
    const both = 'SELECT a.who AS one, b.who AS other FROM pay.staff a, eve.pay.staff b'
    expect((await at.call(bob, 'POST', '/sql', { json: { sql: both } })).body).toBe('one,other\nada,eve\n')
  })

  test('is suggested where a name without one is of somebody else', async () => {
    expect((await at.call(cid, 'GET', '/d/bob/pay/staff')).json().error).toContain(
      'did you mean "eve/pay/staff"?',
    )
    const inSql = (await at.call(cid, 'POST', '/sql', { json: { sql: 'FROM elsewhere.staff' } })).json()
    expect(inSql.error).toContain('Did you mean "pay"."staff"?')
  })

  test('is told from a name and what follows it, whatever the dataset is called', async () => {
    const home = (await at.call(cid, 'POST', '/repositories', { json: { name: 'pay' } })).json().id
    const { paths } = (await at.call(undefined, 'GET', '/openapi.json')).json()
    const { BELOW_A_DATASET } = await import('../../../server/routes/by-name.ts')
    for (const [path] of Object.entries<object>(paths).filter(([one]) => one.startsWith('/datasets/{id}/'))) {
      const below = path
        .slice('/datasets/{id}/'.length)
        .replace('{version}', '3')
        .replace('{file}', '1.parquet')
      expect(BELOW_A_DATASET.test(below), path).toBe(true)
    }
    for (const name of ['data', 'versions', 'profile']) {
      const made = await at.call(cid, 'POST', '/datasets', { json: { name, repositoryId: home } })
      const csv = { body: 'who\ncid\n', headers: { 'content-type': 'text/csv' } }
      await at.call(cid, 'PUT', `/datasets/${made.json().id}/data`, csv)
      expect((await at.call(cid, 'GET', `/d/cid/pay/${name}/`)).json().id).toBe(made.json().id)
      expect(await readBy(cid)('GET', `/d/cid/pay/${name}/data`)).toBe('cid')
      expect(await readBy(cid)('GET', `/d/pay/${name}/data`)).toBe('cid')
    }
    await at.call(cid, 'DELETE', `/repositories/${home}`)
  })
})

test('dataset_17 means the dataset with that id, unless one of your own is called so', async () => {
  const read = (key: string) => readBy(key)('POST', '/sql', { sql: `FROM dataset_${own.id}` })
  expect(await Promise.all([ada, bob].map(read))).toEqual(['ada', 'ada'])
  await rename(eve, squat, 'pay', `dataset_${own.id}`, { private: false })
  expect(await Promise.all([ada, bob, eve].map(read))).toEqual(['ada', 'ada', 'eve'])
  // Not the public one either where the right to that with the id is missing.
  expect(await read(cid)).toMatch(/^400 .*unknown_table/)
  await rename(eve, squat, 'pay', 'staff')
})

test('a repository with a dot in its name is not one of an owner', async () => {
  const dotted = await dataset(at, cid, { name: 'eve.pay', private: true, csv: 'who\ncid\n' })
  await rename(cid, dotted, 'eve.pay', 'staff')
  expect(await readBy(cid)('POST', '/sql', { sql: 'FROM eve.pay.staff' })).toBe('eve')
  expect(await readBy(cid)('POST', '/sql', { sql: 'FROM "eve.pay".staff' })).toBe('cid')
  await at.call(cid, 'DELETE', `/repositories/${dotted.repository}`)
})

test('a key that is limited to repositories finds nothing under the names of others', async () => {
  const other = await dataset(at, ada, { name: 'other', private: true })
  const json = { name: 'limited', repositories: [other.repository] }
  const { apiKey } = (await at.call(ada, 'POST', '/account/keys', { json })).json()
  for (const open of Object.values(DOORS)) {
    const found = JSON.stringify(await open(apiKey))
    expect(found).not.toMatch(/"(ada|eve)"/)
    expect(found).toMatch(/40[034]|NoSuch/)
  }
  await at.call(ada, 'DELETE', `/repositories/${other.repository}`)
})

test('a saved query means what it meant, whoever takes the names in it, and ends with the right of who saved it', async () => {
  await rename(eve, squat, 'harmless', 'harmless', { private: true })
  const home = (
    await at.call(bob, 'POST', '/repositories', { json: { name: 'views', private: false } })
  ).json().id
  const query = { sql: 'SELECT who FROM pay.staff' }
  const save = async (name: string, more = {}) => {
    const saved = await at.call(bob, 'POST', '/datasets', {
      json: { name, repositoryId: home, query, ...more },
    })
    return saved.json().id
  }
  const id = await save('live')
  await rename(eve, squat, 'pay', 'staff', { private: false })
  const read = readBy(cid)
  expect(await read('GET', `/datasets/${id}/data`)).toBe('ada')
  const member = `/repositories/${own.repository}/members/bob`
  await at.call(ada, 'DELETE', member)
  expect(await read('GET', `/datasets/${id}/data`)).toMatch(/^4.*saved_query/)
  await at.call(ada, 'PUT', member, { json: { permission: 'Read' } })
  expect(await read('GET', `/d/bob/views/live/data`)).toBe('ada')
})

describe('the lists', () => {
  test('of repositories and of found datasets have your own first, then those shared with you', async () => {
    await rename(eve, squat, 'pay', 'staff', { private: false })
    const home = (await at.call(bob, 'POST', '/repositories', { json: { name: 'mine' } })).json().id
    const list = (await at.call(bob, 'GET', '/repositories')).json()
    const owners = list.map((one: { owner: string }) => one.owner)
    expect(owners).toEqual([...owners.filter((one: string) => one === 'bob'), 'ada', 'eve'])
    const found = (await at.call(bob, 'GET', '/search?q=staff')).json().datasets
    expect(found.map((one: { id: number }) => one.id)).toEqual([own.id, squat.id])
    await at.call(bob, 'DELETE', `/repositories/${home}`)
  })
})

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { dataset, NUMBERS, type Platform, platform } from '../platform.ts'

/**
 * Who may do what: every operation of the OpenAPI document by everybody who may ask. An operation that is not in the
 * table fails the test, and so does a line for one that is gone.
 */
const COLUMNS = ['stranger', 'reader', 'writer', 'owner', 'admin'] as const

/** Those who ask, and in whose column is what they get. */
const ASKERS = {
  'no key': undefined,
  'bad key': undefined,
  'rotated key': undefined,
  /** The account of the owner, who was disabled. */
  'disabled owner': undefined,
  /** A link to another dataset of the owner. */
  'a link': undefined,
  stranger: 'stranger',
  /** Has public repositories and datasets of the same names. */
  squatter: 'stranger',
  /** May read a saved query over the dataset, in another repository. */
  'reader of a saved query': 'stranger',
  /** A key of the owner that is limited to another repository. */
  'limited key': 'stranger',
  reader: 'reader',
  writer: 'writer',
  owner: 'owner',
  admin: 'admin',
  'reader, by name': 'reader',
  'owner, by name': 'owner',
} as const satisfies Readonly<Record<string, (typeof COLUMNS)[number] | undefined>>
type Asker = keyof typeof ASKERS
const everyAsker = Object.keys(ASKERS) as Asker[]

/** Statuses of the columns; without a valid key it is 401 unless the operation is public. */
type Row = readonly [status: readonly [number, number, number, number, number], body?: unknown]

const everybody = (status: number): Row[0] => [status, status, status, status, status]
const csv = { csv: NUMBERS }

/** Every repository and dataset here is private. An operation that changes something runs on a fresh one for each asker. */
const TABLE: Readonly<Record<string, Row>> = {
  'GET /repositories': [everybody(200)],
  'POST /repositories': [everybody(201), { name: 'new' }],
  'GET /repositories/{id}': [[403, 200, 200, 200, 200]],
  'PUT /repositories/{id}': [[403, 403, 200, 200, 200], { description: 'changed' }],
  'PATCH /repositories/{id}': [[403, 403, 200, 200, 200], { description: 'changed' }],
  'DELETE /repositories/{id}': [[403, 403, 204, 204, 204]],
  'GET /repositories/{id}/members': [[403, 200, 200, 200, 200]],
  'GET /repositories/{id}/members/{account}': [[403, 200, 200, 200, 200]],
  'PUT /repositories/{id}/members/{account}': [[403, 403, 403, 200, 200], { permission: 'Write' }],
  'DELETE /repositories/{id}/members/{account}': [[403, 403, 403, 204, 204]],
  'GET /datasets': [everybody(200)],
  'POST /datasets': [[403, 403, 201, 201, 201], 'dataset'],
  'GET /datasets/{id}': [[403, 200, 200, 200, 200]],
  'PUT /datasets/{id}': [[403, 403, 200, 200, 200], { description: 'changed' }],
  'PATCH /datasets/{id}': [[403, 403, 200, 200, 200], { description: 'changed' }],
  'DELETE /datasets/{id}': [[403, 403, 204, 204, 204]],
  'GET /datasets/{id}/columns': [[403, 200, 200, 200, 200]],
  'PUT /datasets/{id}/columns': [
    [403, 403, 200, 200, 200],
    [
      { name: 'n', type: 'integer' },
      { name: 'word', type: 'string' },
    ],
  ],
  'GET /datasets/{id}/data': [[403, 200, 200, 200, 200]],
  'GET /datasets/{id}/parquet': [[403, 200, 200, 200, 200]],
  'GET /datasets/{id}/parquet/{version}/{file}': [[403, 200, 200, 200, 200]],
  'PUT /datasets/{id}/data': [[403, 403, 200, 200, 200], csv],
  'POST /datasets/{id}/data': [[403, 403, 200, 200, 200], csv],
  'POST /datasets/{id}/copy': [[403, 403, 201, 201, 201], 'dataset'],
  'DELETE /datasets/{id}/data': [[403, 403, 200, 200, 200]],
  'PATCH /datasets/{id}/data': [[403, 403, 200, 200, 200], { word: 'x' }],
  'GET /datasets/{id}/versions': [[403, 200, 200, 200, 200]],
  'GET /datasets/{id}/versions/{version}': [[403, 200, 200, 200, 200]],
  'GET /datasets/{id}/changes': [[403, 200, 200, 200, 200]],
  'GET /datasets/{id}/revisions': [[403, 200, 200, 200, 200]],
  'GET /datasets/{id}/profile': [[403, 200, 200, 200, 200]],
  'GET /datasets/{id}/croissant.json': [[403, 200, 200, 200, 200]],
  'GET /datasets/{id}/datapackage.json': [[403, 200, 200, 200, 200]],
  'GET /datasets/{id}/schema.json': [[403, 200, 200, 200, 200]],
  'POST /datasets/{id}/restore': [[403, 403, 200, 200, 200], { version: 1 }],
  // The dataset has no key.
  'POST /datasets/{id}/undo': [[403, 403, 409, 409, 409], { version: 1 }],
  'GET /datasets/{id}/source': [[403, 200, 200, 200, 200]],
  'PUT /datasets/{id}/source': [[403, 403, 200, 200, 200], { series: ['fred/X'] }],
  'DELETE /datasets/{id}/source': [[403, 403, 204, 204, 204]],
  'POST /datasets/{id}/data/$query': [[403, 200, 200, 200, 200], { $top: 1 }],
  'GET /sql': [everybody(400)],
  'POST /sql': [everybody(200), { sql: 'SELECT 1 AS a' }],
  'GET /providers': [everybody(200)],
  'GET /providers/{slug}': [everybody(200)],
  'GET /providers/{slug}/browse': [everybody(200)],
  'GET /providers/{slug}/series/{series_id}': [everybody(200)],
  'GET /providers/{slug}/series': [everybody(200)],
  'GET /series': [everybody(200)],
  'GET /providers/{slug}/search': [everybody(200)],
  'GET /providers/{slug}/releases': [everybody(200)],
  'GET /search': [everybody(200)],
  'GET /user-keys': [everybody(200)],
  'PUT /user-keys/{slug}': [everybody(200), { key: 'a-key-of-mine-1' }],
  'DELETE /user-keys/{slug}': [everybody(204)],
  'GET /account': [everybody(200)],
  'POST /account/api-key': [everybody(201)],
  'GET /account/keys': [everybody(200)],
  'POST /account/keys': [everybody(201), { name: 'another' }],
  'DELETE /account/keys/{name}': [everybody(404)],
  'GET /accounts': [[403, 403, 403, 403, 200]],
  'POST /accounts': [[403, 403, 403, 403, 201], { name: 'made-by-admin' }],
  'GET /accounts/{account}': [[403, 403, 403, 403, 200]],
  'PUT /accounts/{account}': [[403, 403, 403, 403, 200], { plan: 'pro' }],
  'POST /accounts/{account}/api-key': [[403, 403, 403, 403, 201]],
  'GET /plans': [[403, 403, 403, 403, 200]],
  'POST /preview': [everybody(200), csv],
  'GET /links': [everybody(200)],
  'DELETE /links/{id}': [everybody(404)],
  'POST /links': [everybody(201), { path: '/datasets/1/data' }],
  'GET /metrics': [[403, 403, 403, 403, 200]],
}

const PUBLIC = ['GET /healthz', 'GET /readyz', 'GET /openapi.json', 'GET /docs']

let at: Platform
let operations: string[]
beforeAll(async () => {
  at = await platform({
    config: { providers: { fred: { key: 'k', limits: { windows: [{ requests: 1000, perSeconds: 60 }] } } } },
    routes: {
      '/fred/category/children': { body: { categories: [] } },
      '/fred/releases/dates': { body: { count: 0, release_dates: [] } },
      '/fred/series': { body: { seriess: [{ id: 'X', title: 'X', frequency: 'Daily', units: 'u' }] } },
      '/fred/series/observations': {
        body: { count: 1, observations: [{ date: '2024-01-01', value: '1' }] },
      },
    },
  })
  const { paths } = (await at.call(undefined, 'GET', '/openapi.json')).json()
  operations = Object.entries<object>(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  )
})
afterAll(() => at[Symbol.asyncDispose]())

/** Operations that only read although they are no GET. */
const READS = ['POST /sql', 'POST /preview', 'POST /links']

function expectedFor(operation: string, asker: Asker): number {
  const column = ASKERS[asker]
  if (column === undefined) return 401
  const [statuses] = TABLE[operation]!
  const isElsewhere = !/^\S+ \/(repositories\/\{id\}|datasets)/.test(operation)
  if (asker !== 'limited key' || !isElsewhere) return statuses[COLUMNS.indexOf(column)]!
  const isRead = operation.startsWith('GET') || READS.includes(operation)
  return isRead ? statuses[COLUMNS.indexOf('owner')]! : 403
}

let made = 0

/** What is in the rows and the descriptions of the owner, and of the squatter. */
const SECRET = 'known to the owner'
const SQUATTED = 'from the squatter'

/** A private repository with a dataset, a reader, a writer and somebody who is removed or changed; and a key to ask with. */
async function scene(asker: Asker) {
  const n = ++made
  // Who is nobody is refused before anything is looked up.
  if (asker === 'no key') return { n, repository: 1, id: 1, key: undefined }
  if (asker === 'bad key') return { n, repository: 1, id: 1, key: 'pq_nonsense' }
  if (asker === 'squatter' || asker.endsWith('by name')) await squat(`squatter${n}`)
  const keys: Partial<Record<Asker, string>> = { admin: at.root }
  for (const name of ['owner', 'reader', 'writer', 'stranger'] as const)
    keys[name] = await at.account(`${name}${n}`)
  await at.account(`other${n}`)
  const { repository, id } = await dataset(at, keys.owner!, {
    private: true,
    csv: `${NUMBERS}11,${SECRET}\n`,
  })
  for (const path of [`/repositories/${repository}`, `/datasets/${id}`]) {
    await at.call(keys.owner!, 'PATCH', path, { json: { description: SECRET } })
  }
  const members = { [`reader${n}`]: 'Read', [`writer${n}`]: 'Write', [`other${n}`]: 'Read' }
  for (const [name, permission] of Object.entries(members)) {
    const url = `/repositories/${repository}/members/${name}`
    expect((await at.call(keys.owner!, 'PUT', url, { json: { permission } })).statusCode).toBe(200)
  }
  if (asker === 'rotated key') {
    keys[asker] = keys.owner!
    await at.services.accounts.rotateKey((await at.services.accounts.byName(`owner${n}`)).id)
  }
  if (asker === 'disabled owner') {
    keys[asker] = keys.owner!
    await at.call(at.root, 'PUT', `/accounts/owner${n}`, { json: { disabled: true } })
  }
  const base = { n, repository, id }
  if (asker === 'squatter') return { ...base, key: squatters.get(`squatter${n}`) }
  if (asker === 'a link') return { ...base, key: undefined, query: await otherLink(keys.owner!) }
  if (asker === 'limited key') return { ...base, key: await limitedKey(keys.owner!) }
  if (asker === 'reader of a saved query') return { ...base, key: await readerOf(keys.owner!, id, n) }
  if (asker.endsWith('by name')) return { ...base, key: keys[ASKERS[asker]!], name: '/d/tables/table' }
  return { ...base, key: keys[asker] }
}

const scenes = new Map<Asker, ReturnType<typeof scene>>()

/** One scene for all that an asker reads, and for what is refused: whatever changes something has one of its own. */
function sceneFor(operation: string, asker: Asker) {
  const leavesItAsItWas =
    operation.startsWith('GET') || READS.includes(operation) || expectedFor(operation, asker) >= 400
  if (!leavesItAsItWas || isFollowed(operation)) return scene(asker)
  return scenes.get(asker) ?? scenes.set(asker, scene(asker)).get(asker)!
}

const isFollowed = (operation: string) => /\/(source|revisions)$/.test(operation)

const squatters = new Map<string, string>()

/** Somebody who gives everything public the same names as the owner, and knows what it is called. */
async function squat(name: string): Promise<void> {
  const key = await at.account(name)
  squatters.set(name, key)
  await dataset(at, key, { csv: `n,word\n1,${SQUATTED}\n` })
}

async function otherLink(owner: string): Promise<string> {
  const { id } = await dataset(at, owner, { private: true })
  const { url } = (await at.call(owner, 'POST', '/links', { json: { path: `/datasets/${id}/data` } })).json()
  return url.slice(url.indexOf('?') + 1)
}

async function limitedKey(owner: string): Promise<string> {
  const { repository } = await dataset(at, owner, { private: true })
  const json = { name: 'limited', repositories: [repository] }
  return (await at.call(owner, 'POST', '/account/keys', { json })).json().apiKey
}

/** Who may read one row of the dataset by a query that the owner has saved elsewhere. */
async function readerOf(owner: string, id: number, n: number): Promise<string> {
  const key = await at.account(`query-reader${n}`)
  const home = (await at.call(owner, 'POST', '/repositories', { json: { name: 'queries' } })).json().id
  const query = { dataset: id, filter: 'n eq 1' }
  const saved = await at.call(owner, 'POST', '/datasets', {
    json: { name: 'one', repositoryId: home, query },
  })
  const json = { permission: 'Read' }
  await at.call(owner, 'PUT', `/repositories/${home}/members/query-reader${n}`, { json })
  expect((await at.call(key, 'GET', `/datasets/${saved.json().id}/data`)).body).toBe('n,word\n1,\n')
  return key
}

/** The file of a dataset in the version that its scene made. */
async function fileOf(id: number): Promise<string> {
  // Who is nobody is refused before the file is looked for.
  if (!(await at.engine.datasets()).some((one) => one.id === id)) return '1/1.parquet'
  using snapshot = await (await at.engine.dataset(id)).snapshot()
  const [file] = await snapshot.files()
  return `${snapshot.version}/${file!.number}.parquet`
}

/** A dataset that may follow series holds nothing else; one that is asked for its source has one. */
async function follow(id: number, operation: string): Promise<void> {
  await (await at.engine.dataset(id)).replace({
    format: 'csv',
    columns: [
      { name: 'series_id', type: 'string' },
      { name: 'date', type: 'date' },
      { name: 'value', type: 'double' },
    ],
    replaceColumns: true,
    body: (async function* () {
      yield Buffer.from('series_id,date,value\nfred/X,2024-01-01,1\n')
    })(),
  })
  if (operation.startsWith('PUT')) return
  await at.call(at.root, 'PUT', `/datasets/${id}/source`, { json: { series: ['fred/X'] } })
}

async function statusOf(operation: string, asker: Asker): Promise<number> {
  const { n, repository, id, key, ...how } = await sceneFor(operation, asker)
  const [method, template] = operation.split(' ') as [string, string]
  if (operation === 'DELETE /user-keys/{slug}' && key !== undefined) {
    await at.call(key, 'PUT', '/user-keys/fred', { json: { key: 'a-key-of-mine-1' } })
  }
  if (isFollowed(operation) && ASKERS[asker] !== undefined) await follow(id, operation)
  const path = template
    .replace('{id}', String(template.startsWith('/repositories') ? repository : id))
    .replace('{account}', `other${n}`)
    .replace('{slug}', 'fred')
    .replace('{series_id}', 'X')
    .replace('{version}/{file}', template.includes('{file}') ? await fileOf(id) : '')
    .replace('{version}', '1')
    .replace(/\/changes$/, '/changes?since=0')
    .replace(/\/data$/, (path) => (/^(DELETE|PATCH)/.test(method) ? `${path}?$filter=n eq 1` : path))
    .replace(/\/series$/, (path) => `${path}?ids=${template === '/series' ? 'fred/X' : 'X'}`)
  const named = 'name' in how ? path.replace(`/datasets/${id}`, how.name) : path
  const url = 'query' in how ? `${named}${named.includes('?') ? '&' : '?'}${how.query}` : named
  const body = TABLE[operation]?.[1]
  const options =
    body === undefined
      ? {}
      : body === csv
        ? { body: NUMBERS, headers: { 'content-type': 'text/csv' } }
        : { json: body === 'dataset' ? { name: 'new', repositoryId: repository } : body }
  const { statusCode, body: answer } = await at.call(key, method, url, options)
  // Nobody else's rows and words, in whatever is answered.
  if ([undefined, 'stranger'].includes(ASKERS[asker])) expect(answer).not.toContain(SECRET)
  if ('name' in how && template.startsWith('/datasets/')) expect(answer).not.toContain(SQUATTED)
  if (operation === 'POST /account/api-key' && asker === 'admin' && statusCode === 201) {
    // The key of the admin is needed again: put the old one back.
    const { createHash } = await import('node:crypto')
    const hash = createHash('sha256').update(at.root).digest()
    await at.engine.database.run("UPDATE accounts SET key_hash = ? WHERE name = 'root'", hash)
  }
  return settled(statusCode)
}

/** A profile may still be being made, which the one who asks may know as well. */
function settled(status: number): number {
  return status === 202 ? 200 : status
}

it('every operation is in the table, and the table has no other', () => {
  expect([...Object.keys(TABLE), ...PUBLIC].sort()).toEqual([...operations].sort())
})

it('every route of the application is an operation of the document', () => {
  const routes = at.app.printRoutes({ commonPrefix: false, includeHooks: false })
  const count = [...routes.matchAll(/\((?:[A-Z]+(?:, )?)+\)/g)]
    .flatMap(([methods]) => methods.slice(1, -1).split(', '))
    .filter((method) => method !== 'HEAD').length
  // And the root, which redirects, the script of the reference and the icon that browsers ask for; and the OData service, which describes itself by
  // $metadata: four paths with five methods, and four connection files. Its tests ask it as every caller.
  // And links that end in the name of a file.
  // And the door for agents, and the page that shows it to them.
  // And Iceberg's catalog, whose tests ask it as every caller: nine paths in two forms of names, what it says of itself,
  // and all other paths below it, each with five methods.
  // The datasets by their names are drawn as one with these last ones.
  expect(count).toBe(operations.length + 3 + 4 * 5 + 4 + 1 + 2 + 20 * 5)
})

describe.each(Object.keys(TABLE))('%s', (operation) => {
  it.each(everyAsker)('by %s', async (asker) => {
    expect(await statusOf(operation, asker)).toBe(expectedFor(operation, asker))
  })
})

describe.each(PUBLIC)('%s', (operation) => {
  it.each(everyAsker)('by %s', async (asker) => {
    expect(await statusOf(operation, asker)).toBe(200)
  })
})

describe('of a public repository', () => {
  it('everybody with a key reads, and strangers write nothing', async () => {
    const owner = await at.account('public-owner')
    const stranger = await at.account('public-stranger')
    const { repository, id } = await dataset(at, owner)
    const ask = async (operation: string) => {
      const [method, template] = operation.split(' ') as [string, string]
      const body = TABLE[operation]![1]
      const url = template
        .replace('{id}', String(template.startsWith('/repositories') ? repository : id))
        .replace('{account}', 'public-owner')
        .replace('{version}/{file}', template.includes('{file}') ? await fileOf(id) : '')
        .replace('{version}', '1')
        .replace(/\/changes$/, '/changes?since=0')
      const options =
        body === undefined
          ? {}
          : body === csv
            ? { body: NUMBERS, headers: { 'content-type': 'text/csv' } }
            : { json: body === 'dataset' ? { name: 'new', repositoryId: repository } : body }
      return settled((await at.call(stranger, method, url, options)).statusCode)
    }
    await follow(id, 'GET')
    for (const operation of Object.keys(TABLE).filter(
      (one) => (one.includes('{id}') && !one.includes('/links')) || one === 'POST /datasets',
    )) {
      const reads =
        (operation.startsWith('GET') || operation.endsWith('$query')) && !operation.includes('members')
      expect(await ask(operation), operation).toBe(reads ? 200 : 403)
    }
  })
})

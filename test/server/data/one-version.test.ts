import { Readable } from 'node:stream'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Engine, openEngine } from '../../../engine/index.ts'
import { dataset, type Platform, platform } from '../platform.ts'

let at: Platform
/** Another process on the same directory, as far as the server can tell. */
let other: Engine
let id: number
let table = ''
let repository = 0
let saved: number
/** The newest version. Each has as many rows as its number says. */
let newest: number
beforeAll(async () => {
  at = await platform()
  other = await openEngine({ directory: at.directory })
})
afterAll(async () => {
  await other.close()
  await at[Symbol.asyncDispose]()
})

async function freshTables(): Promise<void> {
  table = `table${repository}`
  const made = await dataset(at, at.root, { name: table, csv: 'n\n1\n' })
  id = made.id
  repository = made.repository
  newest = 1
  const query = { sql: `SELECT n FROM dataset_${id}` }
  const view = { name: 'saved', repositoryId: made.repository, query }
  saved = (await call('POST', '/datasets', { json: view })).json().id
}

const call = (method: string, url: string, options: Parameters<Platform['call']>[3] = {}) =>
  at.call(at.root, method, url, options)
const get = async (url: string, headers: Record<string, string> = {}) => {
  const response = await call('GET', url, { headers })
  if (response.statusCode >= 300) throw new Error(`${url}: ${response.statusCode} ${response.body}`)
  return response
}

const rowsAt = (version: number | undefined, query = '') =>
  `/datasets/${id}/data?${query}${version === undefined ? '' : `&$version=${version}`}`

const csvOf = (version: number) =>
  `n\n${Array.from({ length: version }, (_, index) => `${index + 1}\n`).join('')}`

/** The version that has these rows; an error if none has. */
function versionOf(csv: string): number {
  const version = csv.split('\n').length - 2
  expect(csv).toBe(csvOf(version))
  return version
}

async function append(): Promise<void> {
  const table = await other.dataset(id)
  await table.append({ format: 'csv', body: Readable.from([Buffer.from(`n\n${newest + 1}\n`)]) })
  newest += 1
}

/** Commits just before the n-th call of the catalog that `work` makes. Gives whether it makes so many. */
async function committingAt(n: number, work: () => Promise<unknown>): Promise<boolean> {
  const { database } = at.engine
  let calls = 0
  let committing: Promise<void> | undefined
  const names = ['all', 'cached', 'transaction', 'transient'] as const
  for (const name of names) {
    const original = database[name] as (...parameters: unknown[]) => Promise<unknown>
    const counted = async (...parameters: unknown[]) => {
      calls += 1
      if (calls === n) committing = append()
      await committing
      return original.apply(database, parameters)
    }
    Object.defineProperty(database, name, { value: counted, configurable: true })
  }
  try {
    await work()
    await committing
  } finally {
    for (const name of names) Reflect.deleteProperty(database, name)
  }
  return calls >= n
}

/** Reads an entity set in two pages. */
async function pages(set: string): Promise<number[]> {
  const prefer = { prefer: `odata.maxpagesize=${Math.ceil(newest / 2) + 1}` }
  const first = (await get(`/repositories/${repository}/odata/${set}?$orderby=n&$count=true`, prefer)).json()
  const next: string | undefined = first['@odata.nextLink']
  const rest = next === undefined ? [] : (await get(pathOf(next))).json().value
  const rows: { n: number }[] = [...first.value, ...rest]
  return [versionOf(`n\n${rows.map(({ n }) => `${n}\n`).join('')}`), first['@odata.count']]
}

const pathOf = (url: string) => url.replace(/^https?:\/\/[^/]+/, '')
const sql = (text: string) => get(`/sql?q=${encodeURIComponent(text)}`)

/** What may be kept of a version: a request for it or, without a number, for the newest. Gives the versions that it shows. */
const kept: Readonly<Record<string, (version?: number) => Promise<readonly number[]>>> = {
  'a small answer': async (version) => [versionOf((await get(rowsAt(version))).body)],
  'a count': async (version) => {
    const { body, headers } = await get(rowsAt(version, '$filter=n gt 0&$top=1000'))
    return [versionOf(body), Number(headers['row-count'])]
  },
  'an answer with its count': async (version) => {
    const response = await get(rowsAt(version, '$count=true&$format=json'))
    return [response.json().length, Number(response.headers['row-count'])]
  },
  'a file that is read in pieces': async (version) => {
    const { body, headers } = await get(rowsAt(version, '$skip=0'), { range: 'bytes=0-' })
    expect(headers['content-range']).toBe(`bytes 0-${body.length - 1}/${body.length}`)
    return [versionOf(body)]
  },
  'the length of a file': async (version) => {
    const { headers } = await call('HEAD', rowsAt(version, '$orderby=n'))
    const lengths = Array.from({ length: newest + 1 }, (_, one) => csvOf(one).length)
    return [lengths.indexOf(Number(headers['content-length']))]
  },
  'an answer of SQL': async (version) => {
    const table = `dataset_${id}${version === undefined ? '' : ` AT (VERSION => ${version})`}`
    return [versionOf((await sql(`SELECT n FROM ${table} ORDER BY n`)).body)]
  },
  'a page of a feed': async (version) => {
    const at = version === undefined ? '' : `&$version=${version}`
    const page = (await get(`/repositories/${repository}/odata/${table}?$count=true${at}`)).json()
    return [page.value.length, page['@odata.count']]
  },
}

/** What shows only the newest version. */
const newestOnly: Readonly<Record<string, () => Promise<readonly number[]>>> = {
  'pages of a feed': () => pages(table),
  'pages of the feed of a saved query': () => pages('saved'),
  'a saved query': async () => [versionOf((await get(`/datasets/${saved}/data?$orderby=n`)).body)],
  'a profile': async () => {
    for (;;) {
      const response = await get(`/datasets/${id}/profile`)
      if (response.statusCode === 202) await at.engine.settled()
      else return [response.json().version, response.json().rowCount, Number(response.json().columns[0].max)]
    }
  },
  'Parquet files': async () => {
    const files: { url: string; rows: number }[] = (await get(`/datasets/${id}/parquet`)).json()
    const [version] = files.map(({ url }) => Number(/\/parquet\/(\d+)\//.exec(url)?.[1]))
    for (const { url } of files) await get(pathOf(url))
    return [version!, files.reduce((sum, { rows }) => sum + rows, 0)]
  },
  'a description for other programs': async () => {
    const { version, resources } = (await get(`/datasets/${id}/datapackage.json`)).json()
    return [Number(version), Number(/\$version=(\d+)/.exec(resources[0].path)?.[1])]
  },
  'rows that versions changed': async () => {
    const { body, headers } = await get(`/datasets/${id}/changes?since=${newest - 2}`)
    return [Number(headers['next-since']), Number(body.trim().split('\n').at(-1)!.split(',')[2])]
  },
  'a copy': async () => {
    const json = { name: `copy of ${newest}`, repositoryId: repository }
    const copy = (await call('POST', `/datasets/${id}/copy`, { json })).json()
    const [made] = (await get(`/datasets/${copy.id}/versions`)).json()
    return [copy.rowCount, Number(/version (\d+)/.exec(made.note)?.[1])]
  },
}

it.each(
  Object.keys({ ...kept, ...newestOnly }),
)('%s shows one version, whatever is committed meanwhile', async (kind) => {
  await freshTables()
  const ask = kept[kind] ?? newestOnly[kind]!
  const seen = new Set<number>()
  for (let n = 1; ; n++) {
    // Nothing of this version has been kept yet.
    await append()
    const before = newest
    let shown: readonly number[] = []
    const isReached = await committingAt(n, async () => {
      shown = await ask()
    })
    expect([n, new Set(shown).size, shown[0]]).toEqual([n, 1, expect.toBeOneOf([before, newest])])
    seen.add(shown[0]! - before)
    if (kept[kind]) {
      const past = [...(await ask(before)), ...(await ask(newest))]
      expect([...new Set(past)]).toEqual(before === newest ? [newest] : [before, newest])
    }
    if (!isReached) break
  }
  // Commits came before the version was looked up, and after it.
  expect([...seen].sort()).toEqual([0, 1])
})

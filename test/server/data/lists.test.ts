import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { dataset, type Platform, platform } from '../platform.ts'

const DATASETS = 2_000
const COLUMNS = Array.from({ length: 16 }, (_, n) => ({ name: `column ${n}`, type: 'double' as const }))
let at: Platform
let id: number
let repository: number

beforeAll(async () => {
  at = await platform()
  ;({ id, repository } = await dataset(at, at.root, { private: true }))
  await at.engine.transaction(async (t) => {
    for (let n = 1; n < DATASETS; n++) {
      await at.engine.createDataset({ repositoryId: repository, name: `table ${n}`, columns: COLUMNS }, t)
    }
  })
}, 120_000)
afterAll(() => at[Symbol.asyncDispose]())

const lists = () => ['/datasets', '/odata/$metadata', `/repositories/${repository}/odata/$metadata`]
const get = (url: string, tag?: unknown, key = at.root) =>
  at.call(key, 'GET', url, tag === undefined ? {} : { headers: { 'if-none-match': String(tag) } })

describe('a list of all datasets', () => {
  test('is sent again only if something has changed', async () => {
    for (const url of lists()) {
      const changes = [
        () => at.engine.updateDataset(id, { description: `other, for ${url}` }),
        () => at.call(at.root, 'POST', `/datasets/${id}/data`, { body: 'n,word\n77,more\n', headers: CSV }),
      ]
      for (const change of changes) {
        const first = await get(url)
        expect(first.statusCode).toBe(200)
        expect((await get(url, first.headers['etag'])).statusCode, url).toBe(304)
        await change()
        expect((await get(url, first.headers['etag'])).statusCode, url).toBe(200)
      }
    }
  })

  test('of one account is not that of another', async () => {
    const tags = [at.root, await at.account('stranger')].map(
      async (key) => (await get('/datasets', undefined, key)).headers['etag'],
    )
    expect(new Set(await Promise.all(tags)).size).toBe(2)
  })

  test('is whole, as XML and as JSON', async () => {
    expect((await get('/datasets')).json()).toHaveLength(DATASETS)
    const xml = (await get('/odata/$metadata')).body
    expect(xml.match(/<EntityType /g)).toHaveLength(DATASETS)
    expect(xml.match(/<EntitySet /g)).toHaveLength(DATASETS)
    const json = (await get('/odata/$metadata?$format=json')).json()
    const members = Object.keys(json.Parquetry.Container)
    expect(members.filter((name) => !/^[$@]/.test(name))).toHaveLength(DATASETS)
  })

  test('leaves others their turn while it is written', async () => {
    for (const url of lists()) {
      let turns = 0
      let immediate = setImmediate(function turn() {
        turns++
        immediate = setImmediate(turn)
      })
      await get(url)
      clearImmediate(immediate)
      // Two hundred datasets at a time, and those of the container once more.
      expect(turns, url).toBeGreaterThan(DATASETS / 200)
    }
  })
})

const CSV = { 'content-type': 'text/csv' }

import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { serveProcess } from '../server/process.ts'

/** Keys of the accounts in the fixture. They open nothing else. */
const ROOT = 'the-key-of-version-0.2.0'
const ADA = 'pq_PKBq77LdcSNDzGHrGBVMLqVfFMLFtSvy1gcz0s'
const ROBOT = 'pq_AieV5HbA4144L0hp9c5ZnTdQVMbS6dJy3gqIHd'

const folder = mkdtempSync(join(tmpdir(), 'parquetry-opened-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('a data directory of version 0.2.0 has its rows, rights and keys', async () => {
  const data = join(folder, '0.2.0')
  cpSync(join(import.meta.dirname, 'fixtures/0.2.0'), data, { recursive: true })
  await using served = await serveProcess({ data })
  const ask = async (key: string, method = 'GET', path = '/datasets/1/data') => {
    const body = method === 'GET' ? {} : { body: 'n,t,d\n4,,\n' }
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'text/csv' }
    const response = await fetch(served.url + path, { method, headers, ...body })
    return { status: response.status, text: await response.text() }
  }
  const rows = 'n,t,d\n1,é,2020-01-31\n2,,2021-02-28\n3,x,\n'
  for (const key of [ROOT, ADA, ROBOT]) expect(await ask(key)).toEqual({ status: 200, text: rows })
  expect((await ask(ADA, 'POST')).status).toBe(403)
  expect((await ask(ROBOT, 'POST')).status).toBe(403)
  expect((await ask('a-key-of-nobody-at-all')).status).toBe(401)
  expect((await ask(ROOT, 'POST')).status).toBe(200)
  expect((await ask(ROOT)).text).toBe(`${rows}4,,\n`)
  const migrated = /The catalog of an older version was migrated from step \d+ to step \d+\./g
  expect(served.said().out.match(migrated)).toHaveLength(1)
})

/** What 0.3.0 itself answered: each row of each version, a saved query and one whose rows are stored, names in OData. */
test('a data directory of version 0.3.0 has its versions, changes, queries, names and keys', async () => {
  const data = join(folder, '0.3.0')
  cpSync(join(import.meta.dirname, 'fixtures/0.3.0'), data, { recursive: true })
  const environment = { PARQUETRY_ROOT_KEY: 'the-key-of-version-0.3.0' }
  await using served = await serveProcess({ data, environment })
  const ask = async (path: string, key = environment.PARQUETRY_ROOT_KEY, body?: string) => {
    const method = body === undefined ? 'GET' : 'POST'
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'text/plain' }
    const response = await fetch(served.url + path, { method, headers, ...(body && { body }) })
    return `${response.status}\n${await response.text()}`
  }
  const kept = readFileSync(join(import.meta.dirname, 'fixtures/0.3.0-rows.ndjson'), 'utf8')
  for (let version = 0; version <= 5; version++) {
    const start = `{"version":${version},"row":`
    const lines = kept.split('\n').filter((line) => line.startsWith(start))
    const rows = lines.map((line) => `${line.slice(start.length, -1)}\n`).join('')
    expect(await ask(`/datasets/4/data?$format=ndjson&$version=${version}`)).toBe(`200\n${rows}`)
  }
  const changes = await ask('/datasets/4/changes?since=2&$select=_change,_version,id,x,t')
  expect(changes).toBe(
    '200\n_change,_version,id,x,t\nupdate_before,3,2,-0,""\nupdate_after,3,2,,two\nupdate_before,4,4,1e+300,four\n' +
      'update_after,4,4,7.5,four\ndelete,5,3,,\n',
  )
  // Read around the Bloom filters of its files, in which DuckDB would miss rows.
  const found = "SELECT id FROM pay.staff WHERE y = from_base64('AAEC') ORDER BY id"
  expect(await ask('/sql', undefined, found)).toBe('200\nid\n1\n4\n')
  expect(await ask('/datasets/5/data')).toBe('200\nid,t\n1,é\n2,two\n')
  expect(await ask('/datasets/6/data')).toBe('200\nb,n\ntrue,2\n,1\n')
  const [ada, robot] = [
    'pq_siyBZpZlQMpmMVxO75Xk5zULiJfYf9pX12yH2e',
    'pq_eBSJ2WROuAe0nuAnIrord9XpUXHZpzaD080oNx',
  ]
  expect(await ask('/odata/pay_staff/$count', robot)).toBe('200\n3')
  // Names of other people's datasets have the owner and the id now.
  expect(await ask('/odata/pay_staff/$count', ada)).toMatch(/^404\n.*root_pay_staff_id4/)
  expect(await ask('/odata/root_pay_staff_id4/$count', ada)).toBe('200\n3')
  for (const key of [ada, robot]) expect(await ask('/datasets/4/data', key, 'id\n9\n')).toMatch(/^403/)
})

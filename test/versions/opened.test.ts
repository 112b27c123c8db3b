import { cpSync, mkdtempSync, rmSync } from 'node:fs'
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
  const data = join(folder, 'data')
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

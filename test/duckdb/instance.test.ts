import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { Duck } from '../../engine/duckdb/duck.ts'
import { openExecutor } from '../../engine/export/index.ts'

const root = mkdtempSync(join(tmpdir(), 'parquetry-instance-'))
afterAll(() => rmSync(root, { recursive: true }))
const outside = join(root, 'outside.csv')
writeFileSync(outside, 'a\n1\n')
const options = { tempDirectory: join(root, 'inside'), allowedDirectories: [join(root, 'inside')] }
const read = `SELECT a FROM read_csv('${outside}')`
const forbidden = /disabled by configuration|not allowed/

test('a query reads nothing outside of the folders', async () => {
  const executor = await openExecutor(options)
  const columns = [{ name: 'a', type: 'integer' }] as const
  await expect(executor.rows({ sql: read, parameters: [], columns })).rejects.toThrow(forbidden)
  await executor.close()
})

test('an upload is read outside of the folders only where none are named', async () => {
  const free = await Duck.open({ tempDirectory: options.tempDirectory })
  expect(await free.run(read)).toEqual([[1n]])
  await free.close()
  const shut = await Duck.open(options)
  await expect(shut.run(read)).rejects.toThrow(forbidden)
  await shut.close()
})

test('no statement opens it again', async () => {
  const duck = await Duck.open(options)
  await expect(duck.run('SET GLOBAL enable_external_access = true')).rejects.toThrow()
  await expect(duck.run("SET TimeZone = 'Europe/Paris'")).rejects.toThrow('locked')
  await duck.close()
})

import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { Duck } from '../../engine/duckdb/duck.ts'
import { spillLimit } from '../../engine/duckdb/instance.ts'
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

test('what a query moves to the disk has a bound, and one that needs more says so', async () => {
  const executor = await openExecutor({ ...options, threads: 1, memoryLimit: '64MiB', mostTemporary: '8MiB' })
  const sorted = (rows: number) => ({
    sql: `SELECT s FROM (SELECT md5(i::VARCHAR) AS s FROM range(${rows}) t(i) ORDER BY s) LIMIT 1 OFFSET ${rows - 1}`,
    parameters: [],
    columns: [{ name: 's', type: 'string' }] as const,
  })
  await expect(executor.rows(sorted(5_000_000))).rejects.toMatchObject({
    code: 'storage_full',
    message: expect.stringContaining('needs more room on the disk than there is for it'),
  })
  expect(await executor.rows(sorted(10))).toHaveLength(1)
  await executor.close()
})

test('that bound is a share of the disk', () => {
  const { bavail, bsize } = statfsSync(root)
  const limit = Number.parseInt(spillLimit(root, 1 / 2), 10)
  expect(limit / ((bavail * bsize) / 2 ** 20)).toBeCloseTo(1 / 2, 1)
  expect(spillLimit(root, 1 / 2, 5 * 2 ** 20)).toBe('5MiB')
  expect(spillLimit(root, 0)).toBe('1MiB')
})

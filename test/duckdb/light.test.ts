import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { openExecutor } from '../../engine/export/index.ts'

const root = mkdtempSync(join(tmpdir(), 'parquetry-light-'))
afterAll(() => rmSync(root, { recursive: true }))
const options = { tempDirectory: join(root, 'inside'), allowedDirectories: [join(root, 'inside')] }

const SETTING = `SELECT CAST(current_setting('threads') AS BIGINT)`
const COLUMNS = [{ name: 'threads', type: 'integer' }] as const
const statement = (light?: boolean, sql = SETTING) => ({ sql, parameters: [], columns: COLUMNS, light })

test('light statements run with one thread', async () => {
  const executor = await openExecutor({ ...options, threads: 3 })
  expect(await executor.rows(statement())).toEqual([[3]])
  expect(await executor.rows(statement(true))).toEqual([[1]])
  expect(await executor.rows(statement(false))).toEqual([[3]])
  expect(executor.stats()).toMatchObject({ statements: 0 })
  await executor.close()
})

test('those of many rows, which are fetched while they are read, have all threads', async () => {
  const executor = await openExecutor({ ...options, threads: 3 })
  const threads = async (whole: boolean) => {
    const [rows] = await Array.fromAsync(executor.values(statement(true), { whole }), (some) => [...some])
    return rows
  }
  expect(await threads(true)).toEqual([[1]])
  expect(await threads(false)).toEqual([[3]])
  await executor.close()
})

test('light statements read nothing outside of the folders, and change no setting', async () => {
  const outside = join(root, 'outside.csv')
  writeFileSync(outside, 'a\n1\n')
  const executor = await openExecutor({ ...options, threads: 3 })
  const read = executor.rows(statement(true, `SELECT a FROM read_csv('${outside}')`))
  await expect(read).rejects.toThrow(/disabled by configuration|not allowed/)
  await expect(executor.rows(statement(true, 'SET GLOBAL threads = 2'))).rejects.toThrow('locked')
  await executor.close()
})

test('an aborted light statement ends, and closing ends those that run', async () => {
  const executor = await openExecutor({ ...options, threads: 3 })
  const endless = statement(true, 'SELECT sum(a.range * b.range) FROM range(1000000) a, range(1000000) b')
  const controller = new AbortController()
  const aborted = executor.rows(endless, { signal: controller.signal })
  setTimeout(() => controller.abort(), 100)
  await expect(aborted).rejects.toMatchObject({ code: 'cancelled' })
  const closed = executor.rows(endless)
  setTimeout(() => void executor.close(), 100)
  await expect(closed).rejects.toMatchObject({ code: 'cancelled' })
})

import { tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { sizeOfLimit } from '../../engine/duckdb/instance.ts'
import { openEngine, openFiles } from '../../engine/index.ts'
import { checkRuntime } from '../../engine/util/runtime.ts'
import { openWorkplace } from './workplace.ts'

test('Bun and Deno are refused in a sentence that names what runs there', () => {
  expect(() => checkRuntime()).not.toThrow()
  expect(() => checkRuntime({ node: '24.3.0', bun: '1.4.5' })).toThrow(
    "Parquetry's engine and server need Node 22.19 or newer and do not run on Bun 1.4.5. parquetry/client does.",
  )
  expect(() => checkRuntime({ node: '24.3.0', deno: '2.9.6' })).toThrow('do not run on Deno 2.9.6')
})

test.for([
  'lots',
  '4096',
  '0GB',
  '99999999999999TB',
  5,
])('a memory limit of %j is refused when an engine is opened', async (limit) => {
  const memoryLimit = limit as string
  const refused = {
    code: 'invalid_option',
    message: expect.stringMatching(/^memoryLimit is .*; it must be a size with a unit, such as "4GiB"/),
  }
  const directory = join(tmpdir(), 'parquetry-never-opened')
  await expect(openEngine({ directory, memoryLimit })).rejects.toMatchObject(refused)
  await expect(openFiles('nothing.parquet', { memoryLimit })).rejects.toMatchObject(refused)
})

test('a memory limit may be a part of the memory', async () => {
  await using place = await openWorkplace({ memoryLimit: '12.5 %' })
  using query = place.engine.relation([{ name: 'n', type: 'integer' }], [[1]]).query({ filter: 'n gt 0' })
  expect(await query.count()).toBe(1)
  expect(sizeOfLimit('50%')).toBe(`${Math.round(totalmem() / 2 ** 21)}MiB`)
  expect(sizeOfLimit('0.000001%')).toBe('1MiB')
  expect(sizeOfLimit('3 GiB')).toBe('3 GiB')
})

test.each([
  [{ treads: 2 }, 'Unknown option "treads". Did you mean threads? Valid options: '],
  [{ threads: 0 }, 'threads is a whole number from 1 to 1024; it is 0.'],
  [{ threads: 3e9 }, 'threads is a whole number from 1 to 1024; it is 3000000000.'],
  [{ workers: 'two' }, 'workers is a whole number from 1 to 1024; it is "two".'],
])('options that could not take effect are refused: %j', async (options, message) => {
  const refused = { code: 'invalid_option', message: expect.stringContaining(message) }
  await expect(openEngine({ directory: 'nowhere', ...options } as never)).rejects.toMatchObject(refused)
  await expect(openFiles('nothing.parquet', options as never)).rejects.toMatchObject(refused)
})

test.each([
  [{ store: { adress: 's3://bucket' } }, '"adress". Did you mean address?'],
  [{ checks: { everyDay: 1 } }, '"everyDay". Did you mean everyDays?'],
  [{ partSizes: { row: 3 } }, '"row". Did you mean rows?'],
  [{ uploadLimits: { byte: 3 } }, '"byte". Did you mean bytes?'],
  [{ trino: { address: 'http://127.0.0.1' } }, '"address".'],
])('options within options that do not exist are refused: %j', async (options, said) => {
  await expect(openEngine({ directory: 'nowhere', ...options } as never)).rejects.toMatchObject({
    code: 'invalid_option',
    message: expect.stringContaining(`Unknown option ${said} Valid options: `),
  })
})

test.each([
  [{}],
  [{ directory: 1 }],
  [{ directory: '' }],
])('no directory, or none in words, is refused: %j', async (options) => {
  await expect(openEngine(options as never)).rejects.toMatchObject({
    code: 'invalid_option',
    message: expect.stringMatching(/^directory is the path of a folder; it is (missing|1|"")\.$/),
  })
})

test('a role that there is not is refused', async () => {
  await expect(openEngine({ directory: 'nowhere', role: 'Server' } as never)).rejects.toMatchObject({
    code: 'invalid_option',
    message: 'role is server or guest; it is "Server".',
  })
})

import { execFileSync } from 'node:child_process'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bytesIn, bytesOf, openTestExecutor, statement, type TestExecutor } from '../support.ts'

let executor: TestExecutor
beforeAll(async () => {
  executor = await openTestExecutor()
})
afterAll(() => executor.close())

const many = (rows: number) =>
  statement(`SELECT CAST(i AS BIGINT), md5(i::VARCHAR) FROM range(${rows}) t(i)`, {
    n: 'integer',
    hash: 'string',
  })

const coding = 'gzip'

test.for([
  'csv',
  'tsv',
  'json',
  'ndjson',
  'arrow',
] as const)('%s is one member of gzip that unpacks to what it is without, from none to many pieces', async (format) => {
  for (const rows of [0, 1, 3_000, 200_000]) {
    for (const few of rows < 1_000 ? [true, false] : [false]) {
      const plain = await bytesOf(executor, many(rows), format)
      const packed = few
        ? await bytesIn(await executor.bytes(many(rows), format, { whole: true }, { coding }))
        : await bytesOf(executor, many(rows), format, { coding })
      // Node's reader takes several members, too; zlib's own tool complains of what follows the first.
      expect(gunzipSync(packed).equals(plain)).toBe(true)
      expect(packed.readUInt32LE(packed.length - 4)).toBe(plain.length)
      if (rows > 1_000) expect(packed.length).toBeLessThan(0.75 * plain.length)
    }
  }
})

test('the tool gzip takes it, too', { skip: process.platform === 'win32' }, async () => {
  const packed = await bytesOf(executor, many(200_000), 'csv', { coding })
  const plain = await bytesOf(executor, many(200_000), 'csv')
  const unpacked = execFileSync('gzip', ['-dc'], { input: packed, maxBuffer: 2 ** 30 })
  expect(unpacked.equals(plain)).toBe(true)
})

test('a stream says whether it is compressed, which a format with compression of its own is not', async () => {
  const codingOf = async (format: 'csv' | 'xlsx' | 'parquet') => {
    await using stream = await executor.bytes(many(10), format, {}, { coding })
    return stream.coding
  }
  expect(await codingOf('csv')).toBe('gzip')
  expect((await executor.bytes(many(10), 'csv', { whole: true }, { coding })).coding).toBe('gzip')
  expect(await codingOf('xlsx')).toBeUndefined()
  expect(await codingOf('parquet')).toBeUndefined()
})

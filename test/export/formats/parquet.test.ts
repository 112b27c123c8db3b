import { readdirSync, writeFileSync } from 'node:fs'
// @ts-expect-error The package has no types.
import parquetjs from 'parquetjs-lite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bytesOf, openTestExecutor, statement, type TestExecutor } from '../support.ts'

const NAMES = ['a', 'A', 'c1', 'c0', 'with "quotes" and blanks', 'Größe 😀', 'long '.repeat(60)]

describe('a Parquet export', () => {
  let executor: TestExecutor
  beforeAll(async () => {
    executor = await openTestExecutor()
  })
  afterAll(() => executor.close())

  it('gives columns the names that users gave them, also where only case tells them apart', async () => {
    const columns = Object.fromEntries(NAMES.map((name) => [name, 'integer' as const]))
    const select = NAMES.map((_, index) => `i * 10 + ${index}`).join(', ')
    // Several row groups, so that the footer names each column often.
    const query = statement(
      `SELECT ${select} FROM range(300000) t(i) WHERE i >= CAST($1 AS BIGINT)`,
      columns,
      ['5'],
    )
    const stream = await executor.bytes(query, 'parquet')
    const pieces: Uint8Array[] = []
    for await (const piece of stream) pieces.push(piece)
    expect(stream.rows()).toBe(299_995)
    const file = `${executor.directory}/names.parquet`
    writeFileSync(file, Buffer.concat(pieces))

    const reader = await parquetjs.ParquetReader.openFile(file)
    expect(Object.keys(reader.schema.fields)).toEqual(NAMES)
    const cursor = reader.getCursor()
    expect(Object.values(await cursor.next()).map(Number)).toEqual([50, 51, 52, 53, 54, 55, 56])
    await reader.close()

    const described = statement(`SELECT name FROM parquet_schema('${file}') OFFSET 1`, { name: 'string' })
    expect((await executor.rows(described)).flat()).toEqual(NAMES)
    const sums = statement(`SELECT count(*), CAST(sum(a) AS BIGINT) FROM read_parquet('${file}')`, {
      n: 'integer',
      s: 'integer',
    })
    expect(await executor.rows(sums)).toEqual([[299_995, 10 * ((299_999 * 300_000) / 2 - 10)]])
  })

  it('writes the same bytes each time', async () => {
    const query = statement('SELECT i FROM range(12) t(i) WHERE i >= CAST($1 AS BIGINT)', { n: 'integer' }, [
      '5',
    ])
    const file = async () => (await bytesOf(executor, query, 'parquet')).toString('latin1')
    // Several at once, so that a file is now and then complete a moment before that is heard of.
    const files = new Set<string>()
    for (let n = 0; n < 40; n++) for (const one of await Promise.all([1, 2, 3, 4].map(file))) files.add(one)
    expect(files.size).toBe(1)
  })

  it('writes a file without rows', async () => {
    const query = statement('SELECT 1::BIGINT, $1 WHERE false', { n: 'integer', t: 'string' }, ['x'])
    const file = `${executor.directory}/empty.parquet`
    writeFileSync(file, await bytesOf(executor, query, 'parquet'))
    const described = statement(`SELECT column_name FROM (DESCRIBE FROM read_parquet('${file}'))`, {
      name: 'string',
    })
    expect((await executor.rows(described)).flat()).toEqual(['n', 't'])
  })

  const long = statement(
    'SELECT i, md5(i::VARCHAR) FROM range(3000000) t(i) WHERE i % 1000000 < CAST($1 AS BIGINT)',
    { n: 'integer', hash: 'string' },
    ['900000'],
  )
  const left = () => readdirSync(`${executor.directory}/tmp`).filter((name) => name.startsWith('export-'))

  it('hands bytes out while the file is being written, and removes it where its reader leaves', async () => {
    const stream = await executor.bytes(long, 'parquet')
    // The statement that writes is under way until the last byte.
    expect(executor.stats().statements).toBe(1)
    for await (const piece of stream) {
      expect(Buffer.from(piece.subarray(0, 4)).toString()).toBe('PAR1')
      break
    }
    expect(executor.stats()).toMatchObject({ statements: 0, exports: 0 })
    expect(left()).toEqual([])
  })

  it('tells what failed in the middle, and leaves nothing', async () => {
    const failing = {
      ...long,
      sql: long.sql.replace('SELECT i,', "SELECT CASE WHEN i = 2500000 THEN error('no') ELSE i END,"),
    }
    await expect(bytesOf(executor, failing, 'parquet')).rejects.toThrow('no')
    expect(left()).toEqual([])
    expect(executor.stats()).toMatchObject({ statements: 0, exports: 0 })
  })

  it('ends with its signal, before the first byte and behind it', async () => {
    for (const pieces of [0, 1]) {
      const gone = new AbortController()
      const opening = executor.bytes(long, 'parquet', { signal: gone.signal })
      if (pieces === 0) gone.abort()
      const read = async () => {
        for await (const _ of await opening) gone.abort()
      }
      await expect(read()).rejects.toMatchObject({ code: 'cancelled' })
      expect(left()).toEqual([])
    }
  })
})

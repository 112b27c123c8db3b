import { writeFileSync } from 'node:fs'
// @ts-expect-error The package has no types.
import parquetjs from 'parquetjs-lite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Executor } from '../../../engine/export/index.ts'
import { bytesOf, openTestExecutor, SOURCES, statement } from '../support.ts'

const NAMES = ['a', 'A', 'c1', 'c0', 'with "quotes" and blanks', 'Größe 😀', 'long '.repeat(60)]

describe.each(SOURCES)('over %s', (source) => {
  let executor: Executor & { readonly directory: string }
  beforeAll(async () => {
    executor = await openTestExecutor({ source })
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

  it('writes a file without rows', async () => {
    const query = statement('SELECT 1::BIGINT, $1 WHERE false', { n: 'integer', t: 'string' }, ['x'])
    const file = `${executor.directory}/empty.parquet`
    writeFileSync(file, await bytesOf(executor, query, 'parquet'))
    const described = statement(`SELECT column_name FROM (DESCRIBE FROM read_parquet('${file}'))`, {
      name: 'string',
    })
    expect((await executor.rows(described)).flat()).toEqual(['n', 't'])
  })
})

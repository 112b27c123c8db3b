import { readFileSync } from 'node:fs'
import { makeData, makeVector, Null, Table, tableToIPC } from 'apache-arrow'
import { expect, test } from 'vitest'
import { FIELD, listOf } from '../../engine/parquet/footer.ts'
import { fileEnd, MAGIC } from '../../engine/parquet/parquet-file.ts'
import { i32, i64, readStruct, type Struct, writeStruct } from '../../engine/parquet/thrift.ts'
import { useBench } from '../ingest/support/helper.ts'

const bench = useBench()

/** A small file of DuckDB's with other metadata. */
async function changed(change: (meta: Struct) => void): Promise<Buffer> {
  const file = bench.path()
  await bench.query(`COPY (SELECT 1 AS a) TO '${file}' (FORMAT parquet)`)
  const bytes = readFileSync(file)
  const start = bytes.length - 8 - bytes.readUInt32LE(bytes.length - 8)
  const meta = readStruct(bytes.subarray(start, -8))
  change(meta)
  return Buffer.concat([bytes.subarray(0, start), fileEnd(writeStruct(meta))])
}

test('a small file that says that it has very many rows is refused before they are read', async () => {
  const rows = 1_000_000_000
  const file = await changed((meta) => {
    meta.set(FIELD.file.rows, i64(rows))
    const groups = listOf(meta, FIELD.file.rowGroups).values as Struct[]
    for (const group of groups) group.set(FIELD.group.rows, i64(rows))
  })
  expect(await bench.refusal('parquet', file)).toBe(
    `413 upload_too_large: The Parquet file holds ${rows} values in ${file.length} bytes; a file of this size may ` +
      `hold ${20_000_000 + 2_000 * file.length}.`,
  )
})

test.each([
  [
    'columns',
    100_000,
    100_000,
    '400 invalid_upload: The Parquet file has 100000 columns; a dataset has at most 20000.',
  ],
  [
    'fields within a column',
    1,
    200_000,
    '400 invalid_upload: The schema of the Parquet file has 200001 fields; the limit is 100000.',
  ],
])('a file of very many %s is refused before they are read', async (_, children, elements, message) => {
  const file = await changed((meta) => {
    const schema = listOf(meta, FIELD.file.schema)
    const [root, element] = schema.values as [Struct, Struct]
    root.set(FIELD.element.children, i32(children))
    schema.values = [root, ...Array<Struct>(elements).fill(element)]
  })
  expect(file.subarray(-4)).toEqual(MAGIC)
  expect(await bench.refusal('parquet', file)).toBe(message)
})

test('Arrow batches of many rows in few bytes are read up to a bound', async () => {
  const nulls = (length: number) =>
    tableToIPC(new Table({ a: makeVector(makeData({ type: new Null(), length })) }), 'stream')
  expect((await bench.read('arrow', nulls(10_000))).rows).toBe(10_000)
  const many = nulls(100_000_000)
  expect(await bench.refusal('arrow', many)).toBe(
    `400 invalid_upload: A batch has 100000000 rows; a file of ${many.length} bytes may have ${1_000_000 + 8 * many.length}.`,
  )
})

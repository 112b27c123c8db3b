import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { rowGroups, shownFooter } from '../../engine/parquet/footer.ts'
import { readStruct, type Struct, TYPE, type Value, writeStruct } from '../../engine/parquet/thrift.ts'
import { openWorkplace } from '../engine/workplace.ts'

const value = fc.letrec<{ struct: Struct; field: { type: number; value: Value } }>((tie) => ({
  field: fc.oneof(
    { depthSize: 'small' },
    fc.boolean().map((one) => ({ type: TYPE.true, value: one })),
    fc.integer().map((one) => ({ type: TYPE.i32, value: one })),
    fc.maxSafeInteger().map((one) => ({ type: TYPE.i64, value: one })),
    fc.constantFrom(2n ** 63n - 1n, -(2n ** 63n)).map((one) => ({ type: TYPE.i64, value: one })),
    fc.uint8Array().map((one) => ({ type: TYPE.binary, value: one })),
    fc.uint8Array({ minLength: 8, maxLength: 8 }).map((one) => ({ type: TYPE.double, value: one })),
    fc
      .array(fc.integer(), { maxLength: 20 })
      .map((values) => ({ type: TYPE.list, value: { element: TYPE.i32, values } })),
    fc
      .array(tie('struct'), { maxLength: 3 })
      .map((values) => ({ type: TYPE.list, value: { element: TYPE.struct, values } })),
    tie('struct').map((one) => ({ type: TYPE.struct, value: one })),
  ),
  struct: fc
    .dictionary(fc.integer({ min: 1, max: 60 }).map(String), tie('field'), { maxKeys: 6 })
    .map((fields) => new Map(Object.entries(fields).map(([id, one]) => [Number(id), one])) as Struct),
}))

/** Booleans have their value for a type, and bytes are read as views. */
const plain = (one: unknown): unknown =>
  one instanceof Map
    ? [...one].map(([id, field]) => [id, plain(field.value)])
    : one instanceof Uint8Array
      ? [...one]
      : typeof one === 'object' && one !== null
        ? (one as { values: unknown[] }).values.map(plain)
        : one

describe('Thrift', () => {
  test('what was written is read again', () => {
    fc.assert(
      fc.property(value.struct, (struct) => {
        expect(plain(readStruct(writeStruct(struct)))).toEqual(plain(struct))
      }),
    )
  })

  test('bytes that are no struct are an error that says where, not nonsense', () => {
    expect(() => readStruct(Buffer.from([0x15, 0x02, 0x19]))).toThrow('cut off at byte')
    expect(() => readStruct(Buffer.from([0x1f]))).toThrow('unknown type 15')
    expect(() => readStruct(Buffer.from([0x18, 0xff, 0xff, 0xff, 0xff, 0x0f]))).toThrow('cut off after')
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        try {
          readStruct(bytes)
        } catch (error) {
          expect(error).toBeInstanceOf(RangeError)
        }
      }),
    )
  })
})

async function fileWith(sql: string): Promise<Buffer> {
  const { mkdtempSync, readFileSync, rmSync } = await import('node:fs')
  const { DuckDBInstance } = await import('@duckdb/node-api')
  const folder = mkdtempSync('/tmp/parquetry-footer-')
  try {
    const instance = await DuckDBInstance.create()
    const connection = await instance.connect()
    await connection.run(`COPY (${sql}) TO '${folder}/a.parquet' (FORMAT parquet, ROW_GROUP_SIZE 2048)`)
    connection.closeSync()
    instance.closeSync()
    return readFileSync(`${folder}/a.parquet`)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const footerOf = (file: Buffer) => {
  const length = file.readUInt32LE(file.length - 8)
  return file.subarray(file.length - 8 - length, file.length - 8)
}

describe('a footer', () => {
  test('that nothing is changed in is the same, byte for byte', async () => {
    const footer = footerOf(await fileWith("SELECT i AS c0, 'x' || i AS c1 FROM range(5000) t(i)"))
    expect(Buffer.from(writeStruct(readStruct(footer))).equals(footer)).toBe(true)
  })

  test('names columns as their users do, marks JSON, and leaves out what is ours', async () => {
    const file = await fileWith(`SELECT i AS c0, '{"a":1}' AS c1, i AS r FROM range(5000) t(i)`)
    const start = file.length - 8 - footerOf(file).length
    const footer = shownFooter(footerOf(file), [
      { name: 'Größe "x"', type: 'integer' },
      { name: 'größe "x"', type: 'json' },
    ])
    const tail = Buffer.alloc(8)
    tail.writeUInt32LE(footer.length)
    tail.write('PAR1', 4)
    const { writeFileSync } = await import('node:fs')
    await using place = await openWorkplace()
    const path = `${place.directory}/shown.parquet`
    writeFileSync(path, Buffer.concat([file.subarray(0, start), footer, tail]))
    const { openFiles } = await import('../../engine/index.ts')
    await using files = await openFiles([path])
    using query = files.query({ filter: '"Größe ""x""" ge 4999' })
    const rows: unknown[] = []
    for await (const row of query.rows()) rows.push(row)
    expect(rows).toEqual([{ 'Größe "x"': 4999, 'größe "x"': '{"a":1}' }])
    expect(query.plan.columns.map(({ type }) => type)).toEqual(['integer', 'json'])
  })

  test('says where the rows of each group lie', async () => {
    const file = await fileWith('SELECT i AS c0, i % 3 AS c1 FROM range(5000) t(i)')
    const groups = rowGroups(footerOf(file))
    expect(groups.map(({ rows }) => rows)).toEqual([2048, 2048, 904])
    expect(groups[0]!.from).toBe(4)
    for (const [index, group] of groups.entries()) {
      expect(group.to).toBeGreaterThan(group.from)
      if (index > 0) expect(group.from).toBeGreaterThanOrEqual(groups[index - 1]!.to)
    }
    expect(groups.at(-1)!.to).toBeLessThanOrEqual(file.length - 8 - footerOf(file).length)
  })

  test('of fewer columns than are to be shown is refused', async () => {
    const footer = footerOf(await fileWith('SELECT 1 AS c0'))
    const columns = [
      { name: 'a', type: 'integer' as const },
      { name: 'b', type: 'integer' as const },
    ]
    expect(() => shownFooter(footer, columns)).toThrow('fewer columns')
  })
})

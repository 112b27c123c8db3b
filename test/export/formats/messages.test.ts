import { MessageReader, type RecordBatchFileReader, RecordBatchReader } from 'apache-arrow'
import type { RecordBatch } from 'apache-arrow/ipc/metadata/message'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { bytesOf, openTestExecutor, statement, type TestExecutor } from '../support.ts'

let executor: TestExecutor
beforeAll(async () => {
  executor = await openTestExecutor()
})
afterAll(() => executor.close())

const QUERY = statement(
  `SELECT CASE WHEN i % 7 > 0 THEN i END, i % 3 = 0, i / 4, repeat('x', (i % 5)::INTEGER),
    CASE WHEN i % 2 = 0 THEN uuid() END, CAST(i AS DECIMAL(30,2)), DATE '2020-01-01' + (i % 9)::INTEGER
  FROM range(5003) t(i)`,
  {
    n: 'integer',
    b: 'boolean',
    d: 'double',
    s: 'string',
    u: 'uuid',
    m: 'decimal(30,2)',
    day: 'date',
  },
)

it('every buffer of a message begins at a whole word, and there are zeros between buffers', async () => {
  const bytes = await bytesOf(executor, QUERY, 'arrow')
  const reader = new MessageReader(bytes)
  reader.readMessage()
  let rows = 0
  for (let message = reader.readMessage(); message; message = reader.readMessage()) {
    const { nodes, buffers, length } = message.header() as RecordBatch
    const body = reader.readMessageBody(message.bodyLength)
    expect(nodes.map((node) => node.length)).toEqual(Array(7).fill(length))
    expect(nodes.slice(1, 4).map((node) => node.nullCount)).toEqual([0, 0, 0])
    expect(Math.abs(nodes[0]!.nullCount - length / 7)).toBeLessThan(1)
    expect(Math.abs(nodes[4]!.nullCount - length / 2)).toBeLessThan(1)
    let end = 0
    for (const { offset, length } of buffers) {
      expect(offset % 8).toBe(0)
      expect(offset).toBeGreaterThanOrEqual(end)
      expect(body.subarray(end, offset).every((byte) => byte === 0)).toBe(true)
      end = offset + length
    }
    expect(body.subarray(end).every((byte) => byte === 0)).toBe(true)
    expect(message.bodyLength - end).toBeLessThan(8)
    rows += length
  }
  expect(rows).toBe(5003)
})

it.each([
  0, 1, 5003, 200_000,
])('a file is the stream with a footer that has the position of each batch: %i rows', async (rows) => {
  const query = statement(`SELECT i, 'text ' || i FROM range(${rows}) t(i)`, { i: 'integer', s: 'string' })
  const file = await bytesOf(executor, query, 'arrow-file')
  expect(file.subarray(0, 8).toString('latin1')).toBe('ARROW1\0\0')
  const reader = RecordBatchReader.from(file).open() as RecordBatchFileReader
  expect(reader.isFile()).toBe(true)
  let first = rows
  for (let batch = reader.numRecordBatches - 1; batch >= 0; batch--) {
    const { numRows, data } = reader.readRecordBatch(batch)!
    first -= numRows
    expect(data.children[0]!.values[0]).toBe(BigInt(first))
  }
  expect(first).toBe(0)
  const streamed = [...RecordBatchReader.from(file.subarray(8))].map(({ numRows }) => numRows)
  expect(streamed.reduce((sum, more) => sum + more, 0)).toBe(rows)
})

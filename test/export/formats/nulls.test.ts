import { tableFromIPC } from 'apache-arrow'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bytesOf, openTestExecutor, statement, type TestExecutor } from '../support.ts'

let executor: TestExecutor
beforeAll(async () => {
  executor = await openTestExecutor()
})
afterAll(() => executor.close())

// What DuckDB leaves in memory where a value is null: here the value itself, elsewhere whatever was there before.
const TYPES = {
  boolean: 'i >= 0',
  integer: '72340172838076673 + i',
  double: '1.5::DOUBLE + i',
  'decimal(38,2)': '(1e30::DECIMAL(38,2) + i)',
  date: "DATE '2020-01-01' + i::INTEGER",
  time: "TIME '10:20:30' + to_microseconds(i)",
  timestamp: "TIMESTAMP '2020-01-01' + to_microseconds(i)",
} as const

test.each(
  Object.entries(TYPES),
)('nulls of %s are zeros in Arrow, not what stood in memory', async (type, sql) => {
  const query = statement(`SELECT CASE WHEN i % 3 = 0 THEN ${sql} END FROM range(5000) t(i)`, {
    value: type as keyof typeof TYPES,
  })
  const table = tableFromIPC(await bytesOf(executor, query, 'arrow'))
  let nulls = 0
  for (const { values, nullBitmap, length, stride } of table.getChildAt(0)!.data) {
    for (let row = 0; row < length; row++) {
      if ((nullBitmap[row >> 3]! >> (row & 7)) & 1) continue
      nulls++
      const stored =
        type === 'boolean'
          ? [((values as Uint8Array)[row >> 3]! >> (row & 7)) & 1]
          : [...values.subarray(row * stride, (row + 1) * stride)]
      expect(stored.map(Number).every((word) => word === 0)).toBe(true)
    }
  }
  expect(nulls).toBe(3333)
})

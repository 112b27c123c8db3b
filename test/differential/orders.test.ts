import fc from 'fast-check'
import { expect, test } from 'vitest'
import { differential } from './differential.ts'
import { sortedRows } from './questions.ts'

const ORDERS = Number(process.env['PARQUETRY_TEST_ORDERS'] ?? 250)

test(`${ORDERS} random orders have the first rows of a model without SQL and statistics`, {
  timeout: 120_000 + ORDERS * 60,
}, async () => {
  const tally = await differential(sortedRows(1, fc.constant(undefined)), ORDERS)
  expect(tally.compared).toBe(tally.asked)
})

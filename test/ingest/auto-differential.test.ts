import { expect, test } from 'vitest'
import { faultIn, makeTable } from './support/auto-tables.ts'
import { useBench } from './support/helper.ts'

/** How many tables; `npm run test:differential` sets more. */
const TABLES = Number(process.env['PARQUETRY_TEST_TABLES'] ?? 200)
const SEED = Number(process.env['PARQUETRY_TEST_SEED'] ?? 1)

const bench = useBench()

test(`each value of ${TABLES} random tables is what was meant, or text with a reason`, {
  timeout: 60_000 + TABLES * 200,
}, async () => {
  const tally = { columns: 0, typed: 0 }
  for (let seed = SEED; seed < SEED + TABLES; seed++) {
    const made = makeTable(seed)
    if (made.isWider) {
      expect(await bench.refusal('csv', made.text, { options: { dialect: 'auto' } })).toMatch(/^400 /)
      continue
    }
    const {
      shape,
      values,
      reasons = [],
    } = await bench.read('csv', made.text, { options: { dialect: 'auto' } })
    const place = `table ${seed}:\n${made.text.slice(0, 300)} … ${made.text.slice(-900)}`
    expect([shape.length, values.length], place).toEqual([made.columns.length, made.columns[0]!.cells.length])
    for (const [at, column] of made.columns.entries()) {
      const type = shape[at]!.replace(/^.*: /, '')
      const found = values.map((row) => row[at]!)
      expect(
        faultIn(column, type, found, reasons[at] !== undefined),
        `column ${at + 1} of ${place}`,
      ).toBeUndefined()
      if (!made.isLate && column.cells.some(({ meant, written }) => meant !== written && meant !== null)) {
        tally.columns++
        if (type !== 'string') tally.typed++
      }
    }
  }
  // Rules that read nothing would never be wrong.
  expect(tally.typed).toBeGreaterThan(tally.columns * 0.8)
})

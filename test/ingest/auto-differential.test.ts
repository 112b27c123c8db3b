import { expect, test } from 'vitest'
import { faultIn, makeTable, unusedIn } from './support/auto-tables.ts'
import { useBench } from './support/helper.ts'

/** How many tables; `npm run test:differential` sets more. */
const TABLES = Number(process.env['PARQUETRY_TEST_TABLES'] ?? 80)
const SEED = Number(process.env['PARQUETRY_TEST_SEED'] ?? 1)

const AUTO = { options: { dialect: 'auto' } } as const

const bench = useBench()

test(`each value of ${TABLES} random tables is what was meant, or text with a reason`, {
  timeout: 60_000 + TABLES * 200,
}, async () => {
  const tally = { columns: 0, typed: 0 }
  for (let seed = SEED; seed < SEED + TABLES; seed++) {
    const made = makeTable(seed)
    const place = `table ${seed}:\n${made.text.slice(0, 300)} … ${made.text.slice(-900)}`
    if (made.isRefused) {
      expect(await bench.refusal('csv', made.text, AUTO), place).toMatch(/^400 /)
      continue
    }
    const {
      shape,
      values,
      reasons = [],
      options = {},
    } = await bench.read('csv', made.text, AUTO).catch((error: unknown) => {
      throw new Error(`refused: ${place}`, { cause: error })
    })
    expect([shape.length, values.length], place).toEqual([made.columns.length, made.columns[0]!.cells.length])
    const types = shape.map((column) => column.replace(/^.*: /, ''))
    // Rows below those that were looked at may leave a column text that was to be something else.
    if (!made.isLate) expect(unusedIn(options, made, types), `options of ${place}`).toBeUndefined()
    for (const [at, column] of made.columns.entries()) {
      const type = types[at]!
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

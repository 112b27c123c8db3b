import { expect, test } from 'vitest'
import { Random } from '../filter/support/random.ts'
import { Asked } from './support/asked.ts'
import { apply } from './support/model.ts'
import { Pipelines, print } from './support/pipelines.ts'
import { COLUMNS, type ModelTable, randomTable, textOf } from './support/sample.ts'

/** How many pipelines; a longer run sets it, and another seed with it. */
const COUNT = Number(process.env['PARQUETRY_TEST_PIPELINES'] ?? 4_000)
const SEED = Number(process.env['PARQUETRY_TEST_SEED'] ?? 20_261_121)
const PER_TABLE = 500

const TYPES = { K: 'string', J: 'string', N: 'integer', P: 'decimal(10,2)', D: 'double' } as const

test(`${COUNT} random pipelines give what the standard's rules give, in the same order`, {
  timeout: 60_000 + COUNT * 30,
}, async () => {
  let some = 0
  for (let number = 0; number * PER_TABLE < COUNT; number++) {
    const random = new Random(SEED + number)
    // Now and then a table without rows.
    const table = randomTable(random, number % 8 === 7 ? 0 : 1 + random.below(30))
    const cells = table.rows.map((row) => row.map(textOf))
    await using asked = await Asked.create(TYPES, cells)
    const pipelines = new Pipelines(random)
    for (let index = 0; index < PER_TABLE; index++) {
      const steps = pipelines.next()
      const text = print(steps)
      const wanted = apply(table, steps)
      const answer = await asked.answer({ apply: text }).catch((error: unknown) => {
        throw new Error(`${text}: ${error}`, { cause: error })
      })
      if (wanted.rows.length > 0 && wanted.rows.length !== table.rows.length) some++
      expect({ text, ...answer, rows: answer.rows.map((row) => row.map(near)) }).toEqual({
        text,
        ...expected(wanted),
      })
    }
  }
  // A generator that drifted to pipelines that give nothing, or all, would show nothing.
  expect(some).toBeGreaterThan(COUNT / 4)
  expect(COLUMNS.map(({ name }) => name)).toEqual(Object.keys(TYPES))
})

function expected({ columns, rows }: ModelTable) {
  return {
    names: columns.map(({ name }) => name),
    rows: rows.map((row) => row.map((cell) => near(textOf(cell)))),
  }
}

/** Means are rounded in different places. */
function near(text: string | null): string | null {
  if (text === '-0') return '0'
  return text !== null && /^-?\d+\.\d+(e-?\d+)?$/.test(text) ? Number(text).toPrecision(12) : text
}

import { afterAll, beforeAll, expect, test } from 'vitest'
import { EngineError } from '../../engine/errors.ts'
import { type CompiledFilter, compileFilter, runtimeFilterError } from '../../engine/filter/index.ts'
import { GOODS, GOODS_ROWS } from './support/goods.ts'
import { Mutator } from './support/mutate.ts'
import { Random } from './support/random.ts'
import { Table } from './support/table.ts'

/** How many strings; a longer run sets it, and another seed with it. */
const COUNT = Number(process.env['PARQUETRY_TEST_STRINGS'] ?? 8_000)
const SEED = Number(process.env['PARQUETRY_TEST_SEED'] ?? 20_241_102)
/** One in so many of those that compile is run. */
const RUN_ONE_IN = 5

const CODES = ['invalid_filter', 'filter_too_complex', 'filter_type_error', 'invalid_columns']

let table: Table
beforeAll(async () => {
  table = await Table.create(GOODS, GOODS_ROWS)
})
afterAll(() => table[Symbol.asyncDispose]())

test(`${COUNT} strings give a filter or a clear refusal`, {
  timeout: 60_000 + COUNT * 3,
}, async () => {
  const mutator = new Mutator(new Random(SEED))
  const tally = { compiled: 0, refused: 0, run: 0 }
  for (let index = 0; index < COUNT; index++) {
    const text = mutator.next()
    const compiled = compileOrRefuse(text)
    if (!compiled) {
      tally.refused++
      continue
    }
    if (tally.compiled++ % RUN_ONE_IN > 0) continue
    tally.run++
    await run(text, compiled)
  }
  expect(tally.compiled).toBeGreaterThan(COUNT / 50)
  expect(tally.refused).toBeGreaterThan(COUNT / 5)
})

type Compiled = Pick<CompiledFilter, 'sql' | 'parameters'>

function compileOrRefuse(text: string): Compiled | undefined {
  try {
    return compileFilter(text, table.columns)
  } catch (error) {
    const clear =
      error instanceof EngineError &&
      CODES.includes(error.code) &&
      /^(?:@\w+: )?[A-Z].*[.?]$/s.test(error.message)
    if (clear) return undefined
    throw new Error(`${JSON.stringify(text)} raises ${error}`, { cause: error })
  }
}

async function run(text: string, { sql, parameters }: Compiled): Promise<void> {
  try {
    await table.query(`SELECT row FROM t WHERE ${sql}`, parameters)
  } catch (error) {
    if (!runtimeFilterError(error))
      throw new Error(`${JSON.stringify(text)} fails: ${error}`, { cause: error })
  }
}

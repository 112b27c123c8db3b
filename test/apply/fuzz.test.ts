import { afterAll, beforeAll, expect, test } from 'vitest'
import { EngineError } from '../../engine/errors.ts'
import { QUERY } from '../../engine/options.ts'
import { planQuery, type QueryOptions } from '../../engine/plan/plan.ts'
import { rowsStatement } from '../../engine/plan/statements.ts'
import { Random } from '../filter/support/random.ts'
import { Asked } from './support/asked.ts'
import { mutatedQuery } from './support/mutate.ts'

/** How many texts; a longer run sets it, and another seed with it. */
const COUNT = Number(process.env['PARQUETRY_TEST_STRINGS'] ?? 5_000)
const SEED = Number(process.env['PARQUETRY_TEST_SEED'] ?? 20_261_122)
/** One in so many of those that are taken is run. */
const RUN_ONE_IN = 5

/** It may begin with the name of an option of the library. */
const SENTENCE = new RegExp(`^(?:[A-Z]|(?:${Object.keys(QUERY).join('|')})(?=:? )).*[.?]$`, 's')

const TYPES = {
  K: 'string',
  N: 'integer',
  P: 'decimal(10,2)',
  D: 'double',
  Day: 'date',
  Doc: 'json',
} as const

let asked: Asked
beforeAll(async () => {
  asked = await Asked.create(TYPES, [
    ['a', '1', '1.50', '0.5', '2024-02-29', '{"a":[1]}'],
    [null, null, null, null, null, null],
  ])
})
afterAll(() => asked[Symbol.asyncDispose]())

test(`${COUNT} texts give an answer or a clear refusal`, {
  timeout: 60_000 + COUNT * 5,
}, async () => {
  const random = new Random(SEED)
  const tally = { taken: 0, refused: 0 }
  for (let index = 0; index < COUNT; index++) {
    const options: QueryOptions = mutatedQuery(random)
    if (!isPlanned(options)) tally.refused++
    else if (tally.taken++ % RUN_ONE_IN === 0) await run(options)
  }
  expect(tally.taken).toBeGreaterThan(COUNT / 50)
  expect(tally.refused).toBeGreaterThan(COUNT / 5)
})

function isPlanned(options: QueryOptions): boolean {
  try {
    planQuery(
      { columns: asked.columns, rows: 2, rowBytes: 1, scan: () => ({ kind: 'foreign', sql: 't' }) },
      options,
    )
    return true
  } catch (error) {
    if (error instanceof EngineError && error.code !== 'internal' && SENTENCE.test(error.message))
      return false
    throw new Error(`${JSON.stringify(options)} raises ${error}`, { cause: error })
  }
}

async function run(options: QueryOptions): Promise<void> {
  try {
    await asked.answer(options)
  } catch (error) {
    if (!(error instanceof EngineError))
      throw new Error(`${JSON.stringify(options)} fails: ${error}`, { cause: error })
  }
}

test('nothing that a user writes reaches SQL but through parameters', () => {
  const mark = 'zqzqz'
  const columns = [{ name: mark, type: 'string', sql: 'c0' }] as const
  const sqlOf = (options: QueryOptions) =>
    rowsStatement(
      planQuery({ columns, rows: 1, rowBytes: 1, scan: () => ({ kind: 'foreign', sql: 't' }) }, options),
      undefined,
    )
  for (const options of [
    {
      apply: `filter(${mark} eq '${mark}')/compute('${mark}' as ${mark}2)/groupby((${mark}),aggregate(${mark}2 with max as "${mark}'; DROP"))`,
    },
    { apply: `concat(search(${mark}),search("${mark}'"))/orderby(concat(${mark},'${mark}'))` },
    {
      compute: `concat(${mark},'${mark}') as "${mark}""--"`,
      search: `${mark} OR "${mark}"`,
      orderBy: `indexof(${mark},'${mark}')`,
    },
    { filter: `${mark} in @${mark}`, aliases: { [`@${mark}`]: `['${mark}']` } },
  ] satisfies QueryOptions[]) {
    const { sql, parameters } = sqlOf(options)
    expect(sql).not.toContain(mark)
    expect(parameters.join()).toContain(mark)
  }
})

import fc from 'fast-check'
import { EngineError } from '../../engine/errors.ts'
import type { Queryable, QueryOptions } from '../../engine/index.ts'
import type { Question } from './questions.ts'
import { COLUMNS, modelOf, type Plan, plans, Writer } from './tables.ts'

/** 500 questions from this one find two faults, if they are put back: rows of nulls lost by `ne`, and by `year(…)`. */
const SEED = Number(process.env['PARQUETRY_TEST_SEED'] ?? 2)
/** Questions of one table, at most and on average. */
const MOST = 100
const MEAN = 50

interface Tally {
  asked: number
  /** Answered with some rows, and the model knew which. */
  compared: number
  refused: number
}

/** Asks random questions of random tables until there are enough; fast-check shrinks the first that differs. */
export async function differential(question: fc.Arbitrary<Question>, count: number): Promise<Tally> {
  const tally: Tally = { asked: 0, compared: 0, refused: 0 }
  /** The number of the question that was the first to differ. */
  let first: number | undefined
  await using writer = await Writer.open()
  const property = fc.asyncProperty(
    plans(),
    fc.array(question, { minLength: 1, maxLength: MOST, size: 'max' }),
    async (plan, asked) => {
      const model = modelOf(plan)
      await using table = await writer.write(plan)
      for (const { options, wanted, found } of asked) {
        tally.asked += 1
        const right = wanted(model)
        const answer = await answerOf(table.source, options, found, right === undefined)
        if (answer === undefined) tally.refused += 1
        if (answer === undefined || right === undefined) continue
        tally.compared += 1
        if (JSON.stringify(answer) === JSON.stringify(right)) continue
        first ??= tally.asked
        const asking = JSON.stringify(options)
        throw new Error(
          `question ${first}: ${asking} of ${show(plan, asking)}\n${cut(answer)} instead of ${cut(right)}`,
        )
      }
    },
  )
  for (let round = 0; tally.asked < count; round++) {
    const seed = SEED + round
    const run = await fc.check(property, { seed, numRuns: Math.ceil((count - tally.asked) / MEAN) })
    // fast-check would print all cells of the table, and how they are shrunk.
    if (run.failed)
      throw new Error(`${String(run.errorInstance)}\nseed ${seed}, path ${run.counterexamplePath}`)
  }
  return tally
}

/**
 * Undefined where the question is refused.
 * @param mayFail whether it may fail on a value
 */
async function answerOf(
  source: Queryable,
  options: QueryOptions,
  found: Question['found'],
  mayFail: boolean,
): Promise<unknown> {
  try {
    using query = await source.query(options)
    return await found(query)
  } catch (error) {
    const refused = error instanceof EngineError && /^(?:filter_type_error|invalid_filter)$/.test(error.code)
    if (refused || (mayFail && error instanceof EngineError)) return undefined
    throw error
  }
}

/** A table in a few words: for each block, the columns that are asked for and not null throughout. */
function show({ layout, before, dictionaries, blocks }: Plan, asking: string): string {
  const words = new Set(asking.split(/\W+/))
  const lines = blocks.map((block, number) => {
    const columns = block.flatMap((cells, at) => {
      const texts = cells.map((cell) => cell?.cell ?? 'null')
      const single = new Set(texts).size === 1
      return !words.has(COLUMNS[at]!.name) || (single && texts[0] === 'null')
        ? []
        : [`${COLUMNS[at]!.name}: ${single ? texts[0] : texts.join(' ')}`]
    })
    return `  block ${number}: ${columns.join('; ')}`
  })
  return `${layout}, added before block ${before}, dictionaries: ${dictionaries}\n${lines.join('\n')}`
}

function cut(value: unknown): string {
  return JSON.stringify(value)?.slice(0, 300)
}

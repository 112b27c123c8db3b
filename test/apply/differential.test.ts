import { expect, test } from 'vitest'
import { EngineError } from '../../engine/errors.ts'
import { Random } from '../filter/support/random.ts'
import { type Answer, Asked } from './support/asked.ts'
import { apply, Emptied } from './support/model.ts'
import { type Asking, Pipelines } from './support/pipelines.ts'
import { print, printOptions } from './support/print.ts'
import { COLUMNS, type ModelTable, randomTable, textOf } from './support/sample.ts'

/** How many questions; a longer run sets it, and another seed with it, as the shards of the CI do. */
const COUNT = Number(process.env['PARQUETRY_TEST_PIPELINES'] ?? 400)
const SEED = Number(process.env['PARQUETRY_TEST_SEED'] ?? 20_261_121)
const PER_TABLE = 500

const TYPES = { K: 'string', J: 'string', N: 'integer', P: 'decimal(10,2)', D: 'double' } as const

test(`${COUNT} random pipelines give what the standard's rules give, in the same order`, {
  timeout: 60_000 + COUNT * 30,
}, async () => {
  const tally = { some: 0, refused: 0 }
  for (let number = 0; number * PER_TABLE < COUNT; number++) {
    const random = new Random(SEED + number)
    // Now and then a table without rows.
    const table = randomTable(random, number % 8 === 7 ? 0 : 1 + random.below(30))
    const cells = table.rows.map((row) => row.map(textOf))
    await using asked = await Asked.create(TYPES, cells)
    const pipelines = new Pipelines(random)
    for (let index = 0; index < PER_TABLE; index++) {
      const asking = pipelines.next()
      const options = { apply: print(asking.steps), ...printOptions(asking.options) }
      // What is bound is parsed and planned twice, which takes half of the time.
      const answer = await (index % 20 === 0 ? asked.answer(options) : asked.answerInline(options)).catch(
        (error: unknown) => error,
      )
      const difference = compared(answer, wantedOf(table, asking))
      if (difference !== undefined) throw new Error(`${JSON.stringify(options)}: ${difference}`)
      if (answer instanceof Error) tally.refused++
      else if ((answer as Answer).rows.length > 0 && (answer as Answer).rows.length !== table.rows.length) {
        tally.some++
      }
    }
  }
  // A generator that drifted to pipelines that give nothing, or all, or are refused, would show nothing.
  expect(tally.some).toBeGreaterThan(COUNT / 4)
  expect(tally.refused).toBeLessThan(COUNT / 5)
  expect(COLUMNS.map(({ name }) => name)).toEqual(Object.keys(TYPES))
})

function wantedOf(table: ModelTable, { steps, options }: Asking): ModelTable | Emptied {
  try {
    return apply(apply(table, steps), options)
  } catch (error) {
    if (error instanceof Emptied) return error
    throw error
  }
}

/** What differs, if anything does. */
function compared(answer: unknown, wanted: ModelTable | Emptied): string | undefined {
  if (answer instanceof Error) {
    // Whether a group loses its rows isn't known from the question alone.
    const mayLose = answer instanceof EngineError && answer.message.includes('a step that may leave no row')
    return mayLose ? undefined : String(answer)
  }
  const { names, rows } = answer as Answer
  if (wanted instanceof Emptied) return `a group was lost, in ${JSON.stringify(rows)}`
  const { columns } = wanted
  const texts = wanted.rows.map((row) => row.map(textOf))
  const same =
    names.length === columns.length &&
    names.every((name, at) => name === columns[at]!.name) &&
    rows.length === texts.length &&
    rows.every((row, at) =>
      row.every((cell, index) => isSame(cell, texts[at]![index]!, columns[index]!.rough ?? false)),
    )
  if (same) return undefined
  const wantedNames = columns.map(({ name }) => name)
  return `${JSON.stringify({ names, rows })} instead of ${JSON.stringify({ names: wantedNames, rows: texts })}`
}

function isSame(given: string | null, wanted: string | null, rough: boolean): boolean {
  if (given === wanted) return true
  if (given === null || wanted === null) return false
  const [a, b] = [Number(given), Number(wanted)]
  // The two zeros are equal, and a decimal may be written with fewer zeros behind its point.
  if (!rough) return given.trim() !== '' && wanted.trim() !== '' && a === b
  return a === b || Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(a), Math.abs(b))
}

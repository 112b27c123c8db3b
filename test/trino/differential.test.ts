import { expect, test } from 'vitest'
import { EngineError, type QueryOptions } from '../../engine/index.ts'
import { Pipelines } from '../apply/support/pipelines.ts'
import { print, printOptions } from '../apply/support/print.ts'
import { COLUMNS, randomTable, textOf } from '../apply/support/sample.ts'
import { Random } from '../filter/support/random.ts'
import { TrinoService } from './service.ts'
import { TRINO_PROGRAM } from './trino-server.ts'

/** How many questions; a longer run sets it, and another seed with it. */
const COUNT = Number(process.env['PARQUETRY_TEST_TRINO_PIPELINES'] ?? 150)
const SEED = Number(process.env['PARQUETRY_TEST_SEED'] ?? 20_261_122)
const PER_TABLE = 100
/** Trino's coordinator works on several while others wait for their next page. */
const AT_ONCE = 4

const TYPES = { string: 'string', integer: 'integer', decimal: 'decimal(10,2)', double: 'double' } as const

test.runIf(TRINO_PROGRAM)(
  `${COUNT} random pipelines give the same bytes from Trino as from DuckDB, or stay with DuckDB`,
  { timeout: 300_000 + COUNT * 5_000 },
  async () => {
    await using service = await TrinoService.start()
    const tally = { Trino: 0, DuckDB: 0, refused: 0 }
    const kept = new Map<string, number>()
    for (let number = 0; number * PER_TABLE < COUNT; number++) {
      const random = new Random(SEED + number)
      const { rows } = randomTable(random, 5 + random.below(30))
      const lines = rows.map((row) => row.map((cell) => quoted(textOf(cell))).join(','))
      const cut = 1 + random.below(lines.length - 1)
      const columns = COLUMNS.map(({ name, type }) => ({ name, type: TYPES[type] }))
      const id = await service.table(columns, lines.slice(0, cut), lines.slice(cut))
      const pipelines = new Pipelines(random)
      const questions = Array.from({ length: Math.min(PER_TABLE, COUNT - number * PER_TABLE) }, () => {
        const { steps, options } = pipelines.next()
        // Without a limit, rows of which there may be many would stay with DuckDB.
        return { top: 1_000, apply: print(steps), ...printOptions(options) }
      })
      const work = async () => {
        for (let options = questions.pop(); options; options = questions.pop()) {
          tally[await compare(service, id, options, kept)]++
        }
      }
      await Promise.all(Array.from({ length: AT_ONCE }, work))
    }
    const { answered, repeated } = await service.figures()
    console.log(JSON.stringify({ ...tally, answered, repeated }), Object.fromEntries(kept))
    // A dialect that says little, or that fails in Trino, would show nothing.
    expect(answered + repeated).toBe(tally.Trino)
    expect(answered).toBeGreaterThan(COUNT * 0.25)
    expect(repeated).toBeLessThan(COUNT * 0.05)
  },
)

async function compare(
  service: TrinoService,
  id: number,
  options: QueryOptions,
  kept: Map<string, number>,
): Promise<'Trino' | 'DuckDB' | 'refused'> {
  let alone: string
  try {
    alone = await service.askAlone(id, options)
  } catch (error) {
    if (error instanceof EngineError) return 'refused'
    throw error
  }
  const why = await service.explain(id, options)
  if (why.startsWith('Read by: DuckDB')) {
    // It would give the same bytes only where it rounds deviations in the same way at each run.
    kept.set(why, (kept.get(why) ?? 0) + 1)
    return 'DuckDB'
  }
  const { text } = await service.ask(id, options)
  expect(text, JSON.stringify(options)).toBe(alone)
  return 'Trino'
}

/** A cell of csv; null is empty, and an empty text is quoted. */
function quoted(text: string | null): string {
  return text === null ? '' : `"${text.replaceAll('"', '""')}"`
}

import { expect, test } from 'vitest'
import { EngineError, type QueryOptions } from '../../engine/index.ts'
import { Pipelines } from '../apply/support/pipelines.ts'
import { print, printOptions } from '../apply/support/print.ts'
import { COLUMNS, randomTable, textOf } from '../apply/support/sample.ts'
import { Random } from '../filter/support/random.ts'
import { TrinoService } from './service.ts'
import { TRINO_PROGRAM } from './trino-server.ts'

/** How many questions; the long form asks 20,000, which takes some hours. */
const COUNT = Number(process.env['PARQUETRY_TEST_TRINO_PIPELINES'] ?? 150)
const SEED = Number(process.env['PARQUETRY_TEST_SEED'] ?? 20_261_122)
const PER_TABLE = 100

const TYPES = { string: 'string', integer: 'integer', decimal: 'decimal(10,2)', double: 'double' } as const

test.runIf(TRINO_PROGRAM)(
  `${COUNT} random pipelines give the same bytes from Trino as from DuckDB, or stay with DuckDB`,
  { timeout: 300_000 + COUNT * 5_000 },
  async () => {
    await using service = await TrinoService.start()
    const tally = { Trino: 0, DuckDB: 0, 'DuckDB after Trino': 0, refused: 0 }
    const kept = new Map<string, number>()
    for (let number = 0; number * PER_TABLE < COUNT; number++) {
      const random = new Random(SEED + number)
      const { rows } = randomTable(random, 5 + random.below(30))
      const lines = rows.map((row) => row.map((cell) => quoted(textOf(cell))).join(','))
      const cut = 1 + random.below(lines.length - 1)
      const columns = COLUMNS.map(({ name, type }) => ({ name, type: TYPES[type] }))
      const id = await service.table(columns, lines.slice(0, cut), lines.slice(cut))
      const pipelines = new Pipelines(random)
      for (let index = 0; index < Math.min(PER_TABLE, COUNT - number * PER_TABLE); index++) {
        const asking = pipelines.next()
        // Without a limit, rows of which there may be many would stay with DuckDB.
        const options = { top: 1_000, apply: print(asking.steps), ...printOptions(asking.options) }
        tally[await compare(service, id, options, kept)]++
      }
    }
    console.log(JSON.stringify(tally), Object.fromEntries(kept))
    // A dialect that says little, or that fails in Trino, would show nothing.
    expect(tally.Trino).toBeGreaterThan(COUNT * 0.25)
    expect(tally['DuckDB after Trino']).toBeLessThan(COUNT * 0.05)
  },
)

async function compare(
  service: TrinoService,
  id: number,
  options: QueryOptions,
  kept: Map<string, number>,
): Promise<'Trino' | 'DuckDB' | 'DuckDB after Trino' | 'refused'> {
  let alone: string
  try {
    alone = await service.askAlone(id, options)
  } catch (error) {
    if (error instanceof EngineError) return 'refused'
    throw error
  }
  const { text, by, why } = await service.ask(id, options)
  if (by === 'DuckDB') {
    // DuckDB itself may round deviations in another way at each run.
    kept.set(why, (kept.get(why) ?? 0) + 1)
    return by
  }
  if (by === 'DuckDB after Trino') console.warn(`Trino failed: ${JSON.stringify(options)}`)
  expect(text, JSON.stringify(options)).toBe(alone)
  return by
}

/** A cell of csv; null is empty, and an empty text is quoted. */
function quoted(text: string | null): string {
  return text === null ? '' : `"${text.replaceAll('"', '""')}"`
}

import { expect, test } from 'vitest'
import { EngineError } from '../../engine/errors.ts'
import { compileFilter } from '../../engine/filter/index.ts'
import { NotTranslatable } from '../../engine/filter/sql/dialect.ts'
import { positional, trino } from '../../engine/filter/sql/trino.ts'
import { failureOf } from '../../engine/trino/client.ts'
import { dataset, type Platform } from '../server/platform.ts'
import { askTrino, TrinoRefusal } from '../trino/ask.ts'
import { TrinoService } from '../trino/service.ts'
import { TRINO_PROGRAM } from '../trino/trino-server.ts'
import { evaluate, failsEarly } from './support/evaluate.ts'
import { Generator } from './support/generate.ts'
import type { Model, Row } from './support/model.ts'
import { COLUMNS, randomRows } from './support/pools.ts'
import { print } from './support/print.ts'
import { Random } from './support/random.ts'
import type { Cell } from './support/table.ts'

const COUNT = Number(process.env['PARQUETRY_TEST_FILTERS'] ?? 500)
const SEED = Number(process.env['PARQUETRY_TEST_SEED'] ?? 20_261_122)
const PER_TABLE = 1_000
/** Each filter of a statement is a stage of it, of which Trino takes 150. */
const PER_STATEMENT = 40
const AT_ONCE = 2

/** The first column numbers the rows. */
const columns = COLUMNS.map(({ name, type }, index) => ({ name, type, sql: `c${index + 1}` }))

type Ask = (sql: string, parameters: readonly string[]) => Promise<unknown[][]>

/** A filter in all its forms. */
interface Case {
  readonly filter: string
  readonly sql: string
  readonly parameters: readonly string[]
  /** Whether each row passes; undefined where the standard's rules fail. */
  readonly expected: readonly (boolean | undefined)[]
  /** Whether it may fail, by these rules, which say nothing of what else is beyond a type of Trino. */
  readonly mayFail: boolean
}

test.runIf(TRINO_PROGRAM)(
  `${COUNT} random filters pass the same rows in Trino, or it can't say them`,
  {
    timeout: 300_000 + COUNT * 1_000,
  },
  async () => {
    await using service = await TrinoService.start()
    const ask: Ask = (sql, parameters) => askTrino(service.trino.url, sql, parameters)
    const tally = { same: 0, selective: 0, unsaid: 0, refused: 0, failed: 0, failedAlone: 0 }
    for (let number = 0; number * PER_TABLE < COUNT; number++) {
      const random = new Random(SEED + number)
      const { cells, rows } = randomRows(random, 50)
      const table = await upload(service.at, cells)
      const generator = new Generator(random)
      const cases: Case[] = []
      for (let index = 0; index < Math.min(PER_TABLE, COUNT - number * PER_TABLE); index++) {
        const model = generator.condition(1 + random.below(4))
        const made = caseOf(model, print(model, random), rows, table)
        if (typeof made === 'string') tally[made]++
        else cases.push(made)
      }
      const statements = statementsOf(cases)
      const work = async () => {
        for (let some = statements.pop(); some; some = statements.pop()) {
          const answers = await passingOf(some, ask)
          some.forEach((one, index) => {
            const passing = answers[index]
            if (!passing) tally[one.mayFail ? 'failed' : 'failedAlone']++
            else {
              compare(one, passing)
              tally.same++
              if (passing.size > 0 && passing.size < rows.length) tally.selective++
            }
          })
        }
      }
      await Promise.all(Array.from({ length: AT_ONCE }, work))
    }
    console.log(JSON.stringify(tally))
    // A dialect that says nothing, or filters that fail or pass everything, would show nothing.
    expect(tally.same).toBeGreaterThan(COUNT * 0.6)
    expect(tally.selective).toBeGreaterThan(COUNT * 0.25)
    expect(tally.failedAlone).toBeLessThan(COUNT * 0.02)
  },
)

function caseOf(
  model: Model,
  filter: string,
  rows: readonly Row[],
  table: string,
): Case | 'unsaid' | 'refused' {
  try {
    const said = compileFilter(filter, columns, { dialect: trino })
    const statement = positional(`c0 FROM ${table} WHERE ${said.sql}`, said.parameters)
    const outcomes = rows.map((row) => evaluate(model, row))
    return {
      ...statement,
      filter,
      expected: outcomes.map(({ value }) => (value === undefined ? undefined : value === true)),
      mayFail: failsEarly(model) || outcomes.some(({ failing }) => failing),
    }
  } catch (error) {
    if (error instanceof NotTranslatable) return 'unsaid'
    if (error instanceof EngineError) return 'refused'
    throw error
  }
}

/** Groups cases that are asked in one statement. What may fail is asked alone. */
function statementsOf(cases: readonly Case[]): Case[][] {
  const safe = cases.filter(({ mayFail }) => !mayFail)
  const groups: Case[][] = cases.filter(({ mayFail }) => mayFail).map((one) => [one])
  for (let from = 0; from < safe.length; from += PER_STATEMENT) {
    groups.push(safe.slice(from, from + PER_STATEMENT))
  }
  return groups
}

/** The rows that pass each filter; undefined for one that fails in Trino, which asks DuckDB then. */
async function passingOf(
  cases: readonly Case[],
  ask: Ask,
): Promise<readonly (ReadonlySet<number> | undefined)[]> {
  const sql = cases.map((one, index) => `SELECT ${index}, ${one.sql}`).join(' UNION ALL ')
  try {
    const passing = cases.map(() => new Set<number>())
    const parameters = cases.flatMap((one) => one.parameters)
    for (const [index, row] of await ask(sql, parameters)) passing[Number(index)]!.add(Number(row))
    return passing
  } catch (error) {
    if (cases.length > 1) {
      const middle = cases.length >> 1
      const halves = [cases.slice(0, middle), cases.slice(middle)]
      return (await Promise.all(halves.map((half) => passingOf(half, ask)))).flat()
    }
    // Values that overflow are the filter's own. Anything else is a mistake of ours.
    if (failureOf(error instanceof TrinoRefusal ? error : {}).kind === 'values') return [undefined]
    throw new Error(`${cases[0]!.filter}\n${sql}\n${error}`)
  }
}

function compare({ filter, sql, expected }: Case, passing: ReadonlySet<number>): void {
  expected.forEach((value, index) => {
    if (value === undefined || value === passing.has(index)) return
    throw new Error(`${filter}\n${sql}\nrow ${index}: the model says ${value}, Trino ${passing.has(index)}`)
  })
}

/** Puts the rows into a dataset, and gives the name of its table. */
async function upload(at: Platform, cells: readonly (readonly Cell[])[]): Promise<string> {
  const { repository, id } = await dataset(at, at.root, { csv: 'n\n1\n' })
  const fields = [{ name: 'row', type: 'integer' }, ...COLUMNS.map(({ name, type }) => ({ name, type }))]
  const rows = cells.map((line, index) => [index, ...line.map(jsonOf)])
  const url = `/datasets/${id}/data?columns=replace`
  const answer = await at.call(at.root, 'PUT', url, { json: { columns: fields, rows } })
  expect(answer.statusCode, answer.body).toBe(200)
  return `r${repository}.d${id}`
}

function jsonOf(cell: Cell, at: number): unknown {
  if (cell === null) return null
  switch (COLUMNS[at]!.type) {
    case 'boolean':
      return cell === 'true'
    case 'double':
      return cell.replace('Infinity', 'INF')
    case 'timestamp':
      return cell.replace('Z', '')
    default:
      return cell
  }
}

import { expect, test } from 'vitest'
import { compile, compileFilter } from '../../engine/filter/index.ts'
import { Unsaid } from '../../engine/filter/sql/dialect.ts'
import { positional, trino } from '../../engine/filter/sql/trino.ts'
import { dataset, type Platform } from '../server/platform.ts'
import { askTrino } from '../trino/ask.ts'
import { TrinoService } from '../trino/service.ts'
import { TRINO_PROGRAM } from '../trino/trino-server.ts'
import { evaluate } from './support/evaluate.ts'
import { Generator } from './support/generate.ts'
import type { Model, Row } from './support/model.ts'
import { COLUMNS, randomRows } from './support/pools.ts'
import { print } from './support/print.ts'
import { Random } from './support/random.ts'
import type { Cell } from './support/table.ts'

const COUNT = Number(process.env['PARQUETRY_TEST_FILTERS'] ?? 500)
const SEED = Number(process.env['PARQUETRY_TEST_SEED'] ?? 20_261_122)
const AT_ONCE = 3

/** The first column numbers the rows. */
const columns = COLUMNS.map(({ name, type }, index) => ({ name, type, sql: `c${index + 1}` }))

test.runIf(TRINO_PROGRAM)(
  `${COUNT} random filters pass the same rows in Trino, or it can't say them`,
  {
    timeout: 300_000 + COUNT * 1_000,
  },
  async () => {
    await using service = await TrinoService.start()
    const { at } = service
    const ask = (sql: string, parameters: readonly string[]) => askTrino(service.trino.url, sql, parameters)
    const random = new Random(SEED)
    const { cells, rows } = randomRows(random, 50)
    const table = await upload(at, cells)
    const generator = new Generator(random)
    const tally = { same: 0, selective: 0, unsaid: 0, failed: 0 }
    let left = COUNT
    const work = async () => {
      while (left-- > 0) {
        const model = generator.condition(1 + random.below(4))
        const outcome = await compare(model, print(model, random), rows, table, ask)
        tally[outcome]++
        if (outcome === 'selective') tally.same++
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, work))
    console.log(JSON.stringify(tally))
    // A dialect that says nothing, or filters that pass everything, would show nothing.
    expect(tally.same).toBeGreaterThan(COUNT * 0.7)
    expect(tally.selective).toBeGreaterThan(COUNT * 0.25)
  },
)

/** @returns `failed` where the filter is refused, or fails in Trino, which asks DuckDB then */
async function compare(
  model: Model,
  filter: string,
  rows: readonly Row[],
  table: string,
  ask: (sql: string, parameters: readonly string[]) => Promise<unknown[][]>,
): Promise<'same' | 'selective' | 'unsaid' | 'failed'> {
  let passing: ReadonlySet<number>
  let sql = ''
  try {
    const said = compile(compileFilter(filter, columns).tree, { dialect: trino })
    const statement = positional(`SELECT c0 FROM ${table} WHERE ${said.sql}`, said.parameters)
    sql = statement.sql
    passing = new Set((await ask(sql, statement.parameters)).map(([row]) => Number(row)))
  } catch (error) {
    if (error instanceof Unsaid) return 'unsaid'
    // What Trino doesn't understand is a mistake of ours; values that overflow are the filter's own.
    if (/SYNTAX|NOT_FOUND|TYPE_MISMATCH|NOT_SUPPORTED/.test(String(error))) {
      throw new Error(`${filter}\n${sql}\n${error}`)
    }
    return 'failed'
  }
  rows.forEach((row, index) => {
    const { value } = evaluate(model, row)
    if (value === undefined || (value === true) === passing.has(index)) return
    throw new Error(`${filter}\n${sql}\nrow ${index}: the model says ${value}, Trino ${passing.has(index)}`)
  })
  return passing.size > 0 && passing.size < rows.length ? 'selective' : 'same'
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

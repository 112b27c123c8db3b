import { DuckDBInstance } from '@duckdb/node-api'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Queryable, QueryOptions } from '../../engine/index.ts'
import {
  inResultOrder,
  planAt,
  positionsStatement,
  rowsStatement,
  turnsOf,
} from '../../engine/plan/statements.ts'
import type { Query } from '../../engine/query.ts'
import type { Statement } from '../../engine/types/index.ts'
import { sortedRows } from './questions.ts'
import { plans, Writer } from './tables.ts'

/** Of rows so wide, eight are read at a time. */
const ROW_BYTES = 8 << 20

const TABLES = Number(process.env['PARQUETRY_TEST_ORDERS'] ?? 250) / 50

test('rows that are found by their keys first are those of one statement, in the same order', {
  timeout: 120_000 + TABLES * 3_000,
}, async () => {
  await using writer = await Writer.open()
  const duckdb = await (await DuckDBInstance.create(':memory:', { threads: '1' })).connect()
  await duckdb.run("SET TimeZone = 'UTC'")
  const rows = async ({ sql, parameters }: Statement) =>
    (await duckdb.runAndReadAll(sql, [...parameters])).getRowsJson()
  let compared = 0
  const property = fc.asyncProperty(
    plans().map((plan) => ({ ...plan, layout: 'parts' as const })),
    fc.array(sortedRows(1), { minLength: 30, maxLength: 50 }),
    async (table, asked) => {
      await using written = await writer.write(table)
      for (const { options } of asked) {
        using query = await queryOf(written.source, options)
        if (!query) continue
        const { plan } = query
        const wide = { ...plan, columns: plan.source }
        const whole = await query
          .count()
          .then((matches) => rows(rowsStatement(wide, matches)))
          .catch(() => undefined)
        if (!whole) continue
        const found = (await rows(positionsStatement(wide))).map(
          ([file, row]) => [Number(file), Number(row)] as const,
        )
        const positions = inResultOrder(wide, found)
        const at = (some: typeof positions) => rows(rowsStatement(planAt(wide, some), undefined))
        expect(await at(positions), JSON.stringify(options)).toEqual(whole)
        const turns = []
        for (const some of turnsOf({ ...wide, resultBytes: ROW_BYTES }, positions))
          turns.push(...(await at(some)))
        expect(turns, JSON.stringify(options)).toEqual(whole)
        compared += whole.length > 0 ? 1 : 0
      }
    },
  )
  await fc.assert(property, { seed: 1, numRuns: TABLES, endOnFailure: true })
  expect(compared).toBeGreaterThan(TABLES * 10)
})

/** Undefined where the question is refused. */
async function queryOf(source: Queryable, options: QueryOptions): Promise<Query | undefined> {
  try {
    return await source.query(options)
  } catch {
    return undefined
  }
}

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openExecutor } from '../../engine/export/index.ts'

const directory = mkdtempSync(join(tmpdir(), 'parquetry-parameters-'))
let executor: Awaited<ReturnType<typeof openExecutor>>
beforeAll(async () => {
  executor = await openExecutor({ tempDirectory: directory, allowedDirectories: [], threads: 2 })
})
afterAll(async () => {
  await executor.close()
  rmSync(directory, { recursive: true })
})

/** A statement that returns its parameters in a given order. */
function echo(parameters: readonly string[], order: readonly number[], light: boolean) {
  const cells = order.map((index, column) => `$${index + 1}::VARCHAR AS c${column}`)
  const columns = order.map((_, column) => ({ name: `c${column}`, type: 'string' as const }))
  // Each parameter must stand somewhere in a statement.
  const all = parameters.map((_, index) => `$${index + 1}::VARCHAR IS NOT NULL`)
  return { sql: `SELECT ${cells.join(', ')} WHERE ${all.join(' AND ')}`, parameters, columns, light }
}

const texts = fc.array(fc.oneof(fc.string({ unit: 'binary', maxLength: 40 }), fc.constant('200')), {
  minLength: 1,
  maxLength: 20,
})
const echoes = texts.chain((parameters) =>
  fc.record({
    parameters: fc.constant(parameters),
    order: fc.array(fc.nat(parameters.length - 1), { minLength: 1, maxLength: 30 }),
    light: fc.boolean(),
  }),
)

test('DuckDB receives what is bound, in any order, from many statements at the same time', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(echoes, { minLength: 1, maxLength: 12 }), async (statements) => {
      const found = statements.map(({ parameters, order, light }) =>
        executor.rows(echo(parameters, order, light)),
      )
      const expected = statements.map(({ parameters, order }) => [order.map((index) => parameters[index])])
      expect(await Promise.all(found)).toEqual(expected)
    }),
    { numRuns: 200 },
  )
})

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openEngine } from '../../engine/index.ts'
import { isInstalled, openTpc, type Suite } from './tpc.ts'

/** Numbers as numbers, rounded as sums of doubles are in one order or another. */
function plain(value: unknown): unknown {
  const text =
    value instanceof Date ? value.toISOString().slice(0, 10) : value === null ? null : String(value)
  return text?.trim() && Number.isFinite(Number(text)) ? Number(Number(text).toPrecision(9)) : text
}

/** Rows as texts, sorted, because rows that an order does not tell apart come in any. */
const comparable = (rows: readonly (readonly unknown[])[]) =>
  rows.map((row) => JSON.stringify(row.map(plain))).sort()

const cases: readonly [Suite, number][] = [
  ['tpch', 22],
  ['tpcds', 99],
]

test.for(cases)(
  '%s: all %i questions have the answers that DuckDB gives on its own tables',
  {
    timeout: 300_000,
  },
  async ([suite, count], { skip }) => {
    if (!isInstalled(suite)) skip()
    const directory = await mkdtemp(join(tmpdir(), 'parquetry-tpc-'))
    onTestFinished(() => rm(directory, { recursive: true, force: true }))
    await using engine = await openEngine({ directory, threads: 2 })
    using tpc = await openTpc(suite, 0.01, engine)
    expect(tpc.questions).toHaveLength(count)
    for (const [number, sql] of tpc.questions) {
      const wanted = (await tpc.duck.runAndReadAll(sql)).getRowsJS()
      using query = await engine.sql(sql)
      const rows = await Array.fromAsync(query.rows(), Object.values)
      expect(comparable(rows), `question ${number}`).toEqual(comparable(wanted))
    }
  },
)

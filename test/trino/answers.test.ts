import { DuckDBInstance } from '@duckdb/node-api'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { duckdb } from '../../engine/filter/sql/dialect.ts'
import { trino } from '../../engine/filter/sql/trino.ts'
import type { QueryOptions } from '../../engine/index.ts'
import { askTrino } from './ask.ts'
import { COLUMNS, LINES } from './every-type.ts'
import { TrinoService } from './service.ts'
import { TRINO_PROGRAM } from './trino-server.ts'

/** The longest sequence that Trino makes. */
const STEP = 10_000

let service: TrinoService
let id: number
beforeAll(async () => {
  if (!TRINO_PROGRAM) return
  service = await TrinoService.start()
  // Several parts, so that the order of rows is not that of one file.
  id = await service.table(COLUMNS, LINES.slice(0, 3), LINES.slice(3, 4), LINES.slice(4))
}, 300_000)
afterAll(() => service?.[Symbol.asyncDispose]())

describe.runIf(TRINO_PROGRAM)(
  'a real Trino gives the same answers, byte for byte and in the same order',
  () => {
    test.each<QueryOptions>([
      { filter: 'n ne 77', top: 100 },
      { filter: 'flag eq true', top: 100 },
      { filter: "day ge 1900-01-01 and word ne 'c'", top: 3, skip: 1 },
      { filter: 'd gt 0', top: 100, select: 'word,d' },
      { filter: 'flag ne true', last: 2 },
      { filter: 'year(instant) lt 3000000000 and year(day) ne 5000000000', top: 100 },
      { search: 'Ä OR b', top: 100 },
      { search: 'NOT "a"', orderBy: 'n', top: 2 },
      { filter: '1 divby round(d) eq -INF', top: 100 },
      { orderBy: 'word,n desc', top: 100 },
      { orderBy: 'id', top: 100 },
      { orderBy: 'id desc,flag', top: 100 },
      { orderBy: 'price desc', top: 4, skip: 2 },
      { orderBy: 'year(day) desc', top: 100 },
      { orderBy: 'clock,instant', top: 100 },
      { orderBy: 'moment', last: 3 },
      { compute: 'price mul 2 as twice, length(word) as long', orderBy: 'twice', top: 100 },
      { apply: 'groupby((word))' },
      { apply: 'groupby((word,flag),aggregate($count as rows,n with max as most,price with sum as sum))' },
      { apply: 'groupby((flag),aggregate(word with first as first,id with last as last,d with last as d))' },
      { apply: 'groupby((day,clock,moment,instant,id,j))' },
      { apply: 'aggregate($count as rows,word with countdistinct as words,instant with min as first)' },
      { apply: 'filter(n eq 12345)/aggregate($count as rows,price with sum as sum)' },
      { apply: 'groupby((word),aggregate($count as rows))', orderBy: 'rows desc', top: 2 },
      { apply: 'groupby((flag),topcount(1,n))/groupby((flag,word))' },
      { apply: 'topcount(3,price)' },
      { apply: 'bottomcount(2,day)/compute(year(day) as y)' },
      { apply: 'orderby(word desc,n)/top(4)/groupby((flag))' },
      { apply: 'groupby((rollup(flag,word)),aggregate($count as rows))' },
      {
        apply:
          'concat(groupby((flag),aggregate($count as rows)),groupby((flag,word),aggregate(n with min as rows))/groupby((flag,rows)))',
      },
      { apply: 'concat(orderby(n)/top(2),filter(flag eq true)/top(3))' },
      { apply: 'groupby((word))', filter: "word eq '' or word gt 'a'" },
    ])('%o', async (options) => {
      const { text, by, why } = await service.ask(id, options)
      expect(why).toMatch(/^Read by: Trino, because it reads \d+ bytes of columns, at least 0$/)
      expect(by).toBe('Trino')
      expect(text).toBe(await service.askAlone(id, options))
    })
  },
)

test.runIf(TRINO_PROGRAM)(
  'every character is searched as DuckDB does, or disputed',
  { timeout: 120_000 },
  async () => {
    const instance = await DuckDBInstance.create(':memory:')
    const connection = await instance.connect()
    const surrogates = 'NOT n BETWEEN 55296 AND 57343'
    const text = `('é' || chr(CAST(n AS INTEGER)) || 'x')`
    const answer = await connection.runAndReadAll(
      `SELECT hex(encode(${duckdb.plain(text)})) FROM range(1, 1114112) AS t(n) WHERE ${surrogates} ORDER BY n`,
    )
    const ours = answer.getRowsJson().map(([hex]) => hex)
    const undisputed = trino.plain(text).replace("fail('a rare character')", 'NULL')
    const theirs: unknown[] = []
    for (let from = 1; from < 1_114_112; from += STEP) {
      const numbers = `UNNEST(sequence(${from}, ${Math.min(from + STEP, 1_114_112) - 1})) AS t(n)`
      const sql = `SELECT to_hex(to_utf8(${undisputed})) FROM ${numbers} WHERE ${surrogates} ORDER BY n`
      for (const [hex] of await askTrino(service.trino.url, sql)) theirs.push(hex)
    }
    expect(theirs).toHaveLength(ours.length)
    const different = theirs.flatMap((hex, index) => (hex !== null && hex !== ours[index] ? [index] : []))
    expect(different).toEqual([])
    expect(theirs.filter((hex) => hex === null).length).toBeLessThan(62_000)
    connection.closeSync()
    instance.closeSync()
  },
)

test.runIf(TRINO_PROGRAM)('an answer of many rows is whole and in order', async () => {
  const columns = [
    { name: 'n', type: 'integer' },
    { name: 'word', type: 'string' },
    { name: 'd', type: 'double' },
  ]
  const lines = Array.from({ length: 60_000 }, (_, n) => `${n},w${(n * 7_919) % 10_007},${n / 7}`)
  const many = await service.table(columns, lines.slice(0, 25_000), lines.slice(25_000))
  const options = { orderBy: 'word', top: 50_000, filter: 'n mod 50 ne 7' }
  const { text, by } = await service.ask(many, options)
  expect(by).toBe('Trino')
  expect(text).toBe(await service.askAlone(many, options))
})

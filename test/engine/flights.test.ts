import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { DuckDBInstance } from '@duckdb/node-api'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Dataset } from '../../engine/index.ts'
import { newDataset, openWorkplace, textOf } from './workplace.ts'

const FLIGHTS = fileURLToPath(new URL('../data/flights-3m.parquet', import.meta.resolve('vega-datasets')))

describe('three million flights', () => {
  let place: Awaited<ReturnType<typeof openWorkplace>>
  let dataset: Dataset
  let sql: (text: string) => Promise<unknown[][]>

  beforeAll(async () => {
    place = await openWorkplace()
    dataset = await newDataset(place.engine)
    await dataset.replace({ body: { file: FLIGHTS }, format: 'parquet' })
    const connection = await (await DuckDBInstance.create()).connect()
    sql = async (text) => (await connection.runAndReadAll(text)).getRowsJson()
  }, 120_000)
  afterAll(() => place[Symbol.asyncDispose]())

  test.each([
    ['csv', (file: string) => `read_csv('${file}', header = true, parallel = false)`],
    ['tsv', (file: string) => `read_csv('${file}', header = true, delim = '\t', parallel = false)`],
    ['json', (file: string) => `read_json('${file}', format = 'array')`],
  ] as const)(
    'come out of %s row for row as they went in',
    async (format, reader) => {
      const file = join(place.directory, `flights.${format}`)
      using query = await dataset.query()
      expect((await query.toFile(file, format)).rows).toBe(3_000_000)
      const numbered = (source: string) =>
        `(SELECT row_number() OVER () AS n, date::TIMESTAMP AS date, delay, distance, origin, destination FROM ${source})`
      const different = await sql(`
        SELECT count(*) FROM ${numbered(`read_parquet('${FLIGHTS}')`)} a
        FULL JOIN ${numbered(reader(file))} b USING (n)
        WHERE (a.date, a.delay, a.distance, a.origin, a.destination)
          IS DISTINCT FROM (b.date, b.delay, b.distance, b.origin, b.destination)`)
      expect(different).toEqual([['0']])
    },
    120_000,
  )

  const cases = [
    [{ top: 5 }, 'LIMIT 5'],
    [{ last: 5 }, 'LIMIT 5 OFFSET 2999995'],
    [{ skip: 1_234_567, top: 5 }, 'LIMIT 5 OFFSET 1234567'],
    [{ filter: "delay gt 100 and origin eq 'LAX'", top: 5 }, "WHERE delay > 100 AND origin = 'LAX' LIMIT 5"],
    [{ orderBy: 'delay desc, date', top: 5 }, 'ORDER BY delay DESC, date LIMIT 5'],
  ] as const

  test.each(cases)('%o gives the rows of the same SQL', async (options, clause) => {
    const time = "strftime(date, '%Y-%m-%dT%H:%M:%S')"
    const expected = await sql(
      `SELECT ${time} || ',' || delay || ',' || distance || ',' || origin || ',' || destination
       FROM (FROM read_parquet('${FLIGHTS}') ${clause})`,
    )
    using query = await dataset.query(options)
    const lines = (await textOf(await query.bytes('csv'))).trimEnd().split('\n').slice(1)
    expect(lines).toEqual(expected.flat())
  })

  test('count what matches, before truncation', async () => {
    const filter = "delay gt 100 and origin eq 'LAX'"
    using query = await dataset.query({ filter, last: 5 })
    const matching = await sql(
      `SELECT count(*) FROM read_parquet('${FLIGHTS}') WHERE delay > 100 AND origin = 'LAX'`,
    )
    expect(await query.count()).toBe(Number(matching[0]![0]))
    const expected = await sql(
      `SELECT destination FROM (SELECT *, row_number() OVER () n FROM read_parquet('${FLIGHTS}'))
       WHERE delay > 100 AND origin = 'LAX' ORDER BY n DESC LIMIT 5`,
    )
    const found: unknown[] = []
    for await (const row of query.rows()) found.unshift(row['destination'])
    expect(found).toEqual(expected.flat())
    expect(query.resultRows(await query.count())).toBe(5)
  })
})

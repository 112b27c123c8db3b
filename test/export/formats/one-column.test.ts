import { execFileSync, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Format } from '../../../engine/types/index.ts'
import { openTestExecutor, statement, type TestExecutor, textOf } from '../support.ts'

let executor: TestExecutor
beforeAll(async () => {
  executor = await openTestExecutor()
})
afterAll(() => executor.close())

const NUMBERS = statement('SELECT unnest([1, NULL, 3, NULL]::BIGINT[])', { n: 'integer' })
const TEXTS = statement("SELECT unnest(['a', NULL, '', 'b'])", { t: 'string' })

describe('a table of one column', () => {
  it.each<Format>(['csv', 'tsv'])('has no empty lines as %s, which most programs skip', async (format) => {
    expect(await textOf(executor, NUMBERS, format)).toBe('n\n1\n""\n3\n""\n')
    expect(await textOf(executor, TEXTS, format)).toBe('t\na\n""\n""\nb\n')
  })

  it('has the text for null that was asked for', async () => {
    expect(await textOf(executor, TEXTS, 'csv', { dialect: { null: 'NA' } })).toBe('t\na\nNA\n""\nb\n')
    expect(await textOf(executor, NUMBERS, 'csv', { dialect: { null: '' } })).toBe('n\n1\n\n3\n\n')
  })

  // Base R takes quotes alone for an empty line, unless it keeps those.
  it.for([
    ['base R', 'base', 'read.csv(path, blank.lines.skip = FALSE)'],
    ['readr', 'readr', 'readr::read_csv(path, show_col_types = FALSE)'],
  ])('has all rows in %s', async ([, needed, call], context) => {
    if (spawnSync('Rscript', ['-e', `loadNamespace("${needed}")`]).status !== 0)
      return context.skip('not installed')
    for (const table of [NUMBERS, TEXTS]) {
      const path = join(executor.directory, 'one.csv')
      writeFileSync(path, await textOf(executor, table, 'csv'))
      const script = `path <- ${JSON.stringify(path)}; cat(nrow(${call}))`
      expect(execFileSync('Rscript', ['-e', script], { encoding: 'utf8' })).toBe('4')
    }
  })

  const python = process.env['PARQUETRY_PYTHON']
  it.skipIf(python === undefined).each([
    ['pandas', 'import pandas\nprint(len(pandas.read_csv(path)))'],
    ['polars', 'import polars\nprint(len(polars.read_csv(path)))'],
    ['pyarrow', 'from pyarrow import csv\nprint(csv.read_csv(path).num_rows)'],
    [
      'the csv module of Python',
      'import csv\nprint(len([row for row in csv.reader(open(path)) if row]) - 1)',
    ],
    ['DuckDB', 'import duckdb\nprint(len(duckdb.read_csv(path, header=True).fetchall()))'],
  ])('has all rows in %s', async (_, script) => {
    for (const table of [NUMBERS, TEXTS]) {
      const path = join(executor.directory, 'one.csv')
      writeFileSync(path, await textOf(executor, table, 'csv'))
      const program = `path = ${JSON.stringify(path)}\n${script}`
      expect(execFileSync(python!, ['-c', program], { encoding: 'utf8' }).trim()).toBe('4')
    }
  })
})

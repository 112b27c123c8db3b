import { expect, test } from 'vitest'
import { KIND } from '../../engine/export/formats/text/cells.ts'
import { COLUMN_TYPES, FORMATS, sqlType } from '../../engine/types/index.ts'
import { sources, textOf } from './sources.ts'

/** `$filter` has types of its own, and so have uploads formats: what can be read is not what can be written. */
const APART = /^engine\/(filter|ingest)\//

const code = sources('engine').filter((file) => !APART.test(file))

/** Sources in which most of the names stand as literals or keys. */
function knowing(names: readonly string[]): string[] {
  return code
    .filter((file) => {
      const text = textOf(file).replace(/^\s*(\/?\*|\/\/).*$/gm, '')
      const known = names.filter((name) =>
        new RegExp(`'${name}'|KIND\\.${name}\\b|^\\s*${name}: |[{,] ${name}: `, 'm').test(text),
      )
      return known.length > names.length / 2
    })
    .sort()
}

/**
 * Types are one table. Who adds one adds an entry, and the compiler points at the others here, which are complete by
 * `satisfies` or an exhaustive `switch`.
 */
test('the places that know most column types are these', () => {
  expect(knowing(Object.keys(COLUMN_TYPES))).toEqual([
    'engine/duckdb/normalise.ts', // types of foreign files onto ours
    'engine/export/formats/json.ts', // what needs quotes and escapes
    'engine/export/formats/text/cells.ts', // a value as text, and the order in which text formats tell types apart
    'engine/export/formats/xlsx/limits.ts', // what a cell can't hold
    'engine/export/formats/xlsx/sheets.ts', // how wide its column is at least
    'engine/export/index.ts', // a value of JavaScript
    'engine/iceberg/manifest.ts', // bounds of values as Iceberg writes them
    'engine/trino/client.ts', // how Trino writes values in JSON
    'engine/types/columns.ts', // which types may become which
    'engine/types/index.ts', // the table
  ])
})

/** A format is one encoder and a line in the list; `server/transfers/formats.ts` says what it is called in HTTP. */
test('the places that know most formats are these', () => {
  expect(knowing(FORMATS)).toEqual([
    'engine/export/encode.ts', // the list
    'engine/options.ts', // which options are for which formats
    'engine/types/index.ts', // the names
  ])
})

test('each column type has a text kind, a layout and a name in Arrow and DuckDB', () => {
  expect(Object.keys(KIND).sort()).toEqual(Object.keys(COLUMN_TYPES).sort())
  expect(sqlType('decimal(18,3)')).toBe('DECIMAL(18,3)')
  expect(sqlType('timestamptz')).toBe('TIMESTAMPTZ')
})

import { expect, test } from 'vitest'
import type { ColumnType } from '../../engine/types/index.ts'
import { column, useBench } from './support/helper.ts'

const bench = useBench()

/** Reads one column of a type from csv, and gives the statistics of the part, without those of the ordinals. */
async function statisticsOf(type: ColumnType, values: readonly string[]) {
  const columns = [column('a', type)]
  const text = `a\n${values.map((value) => `${value || ''}\n`).join('')}`
  const { statistics } = await bench.read('csv', text, { existing: columns })
  return statistics[0]
}

const LONG = 'ü'.repeat(40)

test.for<readonly [ColumnType, readonly string[], string | null, string | null]>([
  ['boolean', ['true', 'true'], 'true', 'true'],
  ['boolean', ['true', 'false'], 'false', 'true'],
  [
    'integer',
    ['-9223372036854775808', '9223372036854775807', '0'],
    '-9223372036854775808',
    '9223372036854775807',
  ],
  ['double', ['1e300', '-0.1', '0.5'], '-0.1', '1e+300'],
  ['double', ['1', '-Infinity', 'inf'], '-inf', 'inf'],
  ['double', ['1', 'NaN', 'inf'], null, null],
  ['decimal(4,2)', ['-99.99', '0.05'], '-9999', '5'],
  ['decimal(18,3)', ['-123456789012345.678', '2'], '-123456789012345678', '2000'],
  [
    'decimal(38,1)',
    ['-1234567890123456789012345678901234567.8', '0.1'],
    '-12345678901234567890123456789012345678',
    '1',
  ],
  ['string', ['b', 'a', 'ü', '""'], '', 'ü'],
  ['string', [`${LONG}${LONG}`, 'z'], 'z', null],
  ['date', ['1969-12-31', '0001-01-01', '9999-12-31'], '-719162', '2932896'],
  ['time', ['00:00:00.000001', '23:59:59'], '1', '86399000000'],
  ['timestamp', ['1969-12-31T23:59:59', '2000-01-01T00:00:00'], '-1000000', '946684800000000'],
  ['timestamptz', ['2000-01-01T01:00:00+01:00'], '946684800000000', '946684800000000'],
  [
    'uuid',
    ['ffffffff-ffff-ffff-ffff-ffffffffffff', '01234567-89ab-cdef-0123-456789abcdef'],
    '01234567-89ab-cdef-0123-456789abcdef',
    'ffffffff-ffff-ffff-ffff-ffffffffffff',
  ],
  ['json', ['[1]', '"""x"""'], '"x"', '[1]'],
  ['binary', ['AAAA'], null, null],
])('the bounds of %s %j are known', async ([type, values, min, max]) => {
  expect(await statisticsOf(type, values)).toMatchObject({ min, max, nulls: 0 })
})

test('nulls are counted, and a column of nothing else has no bounds', async () => {
  expect(await statisticsOf('integer', ['1', '', ''])).toMatchObject({ min: '1', max: '1', nulls: 2 })
  expect(await statisticsOf('integer', ['', ''])).toMatchObject({ min: null, max: null, nulls: 2 })
})

test('bounds are those of all row groups, of which one may have no values', async () => {
  const rows = Array.from({ length: 300_000 }, (_, row) => (row < 122_880 ? '' : String(row)))
  const found = await statisticsOf('integer', rows)
  expect(found).toMatchObject({ min: '122880', max: '299999', nulls: 122_880 })
  expect(found?.bytes).toBeGreaterThan(100)
})

test('bounds are unknown if a row group does not know its own', async () => {
  const rows = Array.from({ length: 200_000 }, (_, row) => (row === 150_000 ? 'NaN' : String(row)))
  expect(await statisticsOf('double', rows)).toMatchObject({ min: null, max: null, nulls: 0 })
})

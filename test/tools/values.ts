import type { ColumnType } from '../../engine/index.ts'

/** A column that is carried through other programs: its values as text, as our csv has them; null where there is none. */
export interface Tried {
  /** What the page calls it. */
  readonly name: string
  readonly type: ColumnType
  readonly values: readonly (string | null)[]
}

/**
 * Each type with ordinary values and a null; the furthest that it holds apart, because not every program gets there; and
 * texts with what separates, quotes and means null elsewhere.
 */
export const TRIED: readonly Tried[] = [
  { name: 'boolean', type: 'boolean', values: ['true', 'false', null, 'true'] },
  { name: 'integer', type: 'integer', values: ['1', '-42', null, '999999999999999'] },
  {
    name: 'integer, extremes',
    type: 'integer',
    values: ['9007199254740993', null, '9223372036854775807', '-9223372036854775808'],
  },
  { name: 'double', type: 'double', values: ['0.5', '-1.25', null, '0.1'] },
  { name: 'double, extremes', type: 'double', values: ['1.7976931348623157e308', null, '5e-324', '-1e-300'] },
  { name: 'double, not finite', type: 'double', values: ['0.5', '-1e-18', 'INF', null, '-INF', 'NaN'] },
  { name: 'decimal', type: 'decimal(18,4)', values: ['1.5000', '-0.0001', null, '99999999.9999'] },
  {
    name: 'decimal, extremes',
    type: 'decimal(38,10)',
    values: ['1.5000000000', null, '9999999999999999999999999999.9999999999', '-0.0000000001'],
  },
  {
    name: 'string',
    type: 'string',
    values: ['plain', 'größe 日本 😀', null, 'two\nlines, "quoted"; and\ta tab', ' blanks ', '007'],
  },
  { name: 'string, empty and NA', type: 'string', values: ['a', '', null, 'NA', 'b'] },
  { name: 'date', type: 'date', values: ['2024-02-29', '1970-01-01', null] },
  { name: 'date, extremes', type: 'date', values: ['2024-02-29', null, '0001-01-01', '9999-12-31'] },
  { name: 'time', type: 'time', values: ['10:20:30', '23:59:59', null] },
  { name: 'time, microseconds', type: 'time', values: ['10:20:30.5', '00:00:00', null, '23:59:59.999999'] },
  { name: 'timestamp', type: 'timestamp', values: ['2024-02-29T10:20:30', '1970-01-01T00:00:00', null] },
  {
    name: 'timestamp, extremes',
    type: 'timestamp',
    values: ['1969-12-31T23:59:58.999999', null, '0001-01-01T00:00:00', '9999-12-31T23:59:59'],
  },
  {
    name: 'timestamptz',
    type: 'timestamptz',
    values: ['2024-02-29T10:20:30Z', '1969-12-31T23:59:59Z', null, '2024-07-01T00:00:00Z'],
  },
  {
    name: 'uuid',
    type: 'uuid',
    values: ['550e8400-e29b-41d4-a716-446655440000', '00000000-0000-0000-0000-000000000000', null],
  },
  { name: 'binary', type: 'binary', values: ['AAEC/w==', 'aGVsbG8=', null] },
  { name: 'json', type: 'json', values: ['{"a":[1,"é",null]}', '[1.5,true]', null, '"text"', '{}'] },
]

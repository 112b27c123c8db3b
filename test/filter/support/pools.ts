import type { SqlColumn } from '../../../engine/filter/index.ts'
import type { Row, Type, Value } from './model.ts'
import type { Random } from './random.ts'
import type { Cell } from './table.ts'

/** A value as DuckDB reads it, as a filter writes it, and as the model has it. */
export interface Sample {
  readonly cell: string
  readonly text: string
  readonly value: Value
  readonly type: Type
}

function integer(text: string): Sample {
  return { cell: text, text, value: BigInt(text), type: 'integer' }
}

function double(text: string, value = Number(text)): Sample {
  return { cell: text, text, value, type: 'double' }
}

function decimal(text: string): Sample {
  const [whole, fraction = ''] = text.replace(/^[+-]/, '').split('.')
  const digits = BigInt(`${whole}${fraction}`)
  const length = Math.max(String(digits).length, fraction.length, 1)
  const value = { digits: text.startsWith('-') ? -digits : digits, scale: fraction.length }
  return { cell: text, text, value, type: { precision: length, scale: fraction.length } }
}

function string(value: string): Sample {
  return { cell: value, text: `'${value.replaceAll("'", "''")}'`, value, type: 'string' }
}

function date(text: string): Sample {
  return { cell: text, text, value: BigInt(Date.parse(`${text}T00:00Z`)) / 86_400_000n, type: 'date' }
}

function timeMicros(text: string): bigint {
  const [clock, fraction = ''] = text.split('.')
  const [hours, minutes, seconds] = clock!.split(':').map(BigInt)
  return ((hours! * 60n + minutes!) * 60n + seconds!) * 1_000_000n + BigInt(fraction.padEnd(6, '0'))
}

function time(text: string): Sample {
  return { cell: text, text, value: timeMicros(text), type: 'time' }
}

function moment(text: string, type: 'timestamp' | 'timestamptz'): Sample {
  const [day, clock] = text.split('T')
  const value = (date(day!).value as bigint) * 86_400_000_000n + timeMicros(clock!)
  return { cell: `${text}Z`, text: `${text}Z`, value, type }
}

const TIMES = ['00:00:00', '23:59:59.999999', '12:00:00', '07:07:07.5', '00:00:01']
const DAYS = [
  '1970-01-01',
  '1969-12-31',
  '2000-02-29',
  '2024-01-01',
  '0001-01-01',
  '9999-12-31',
  '2023-12-31',
]
const MOMENTS = DAYS.flatMap((day) => TIMES.map((clock) => `${day}T${clock}`))

const TEXTS = [
  ...['', ' ', 'a', 'A', 'abc', 'Abc', 'ABC', 'b', "O'Neil", "''", 'say "hi"', '100%', 'a_b', '\\', '\\n'],
  ...['é', 'e\u0301', '🎉x', 'x🎉', '日本', '\u00a0nb\u3000', '\ttab\t', '\uffee', 'null', 'true', '5'],
  ...["x'; DROP TABLE t; --", '$1', '{}', 'line\nbreak', 'zz'],
]

export const SAMPLES = {
  integer: [
    '0',
    '1',
    '-1',
    '2',
    '3',
    '5',
    '10',
    '-7',
    '100',
    '9007199254740993',
    '9223372036854775807',
    '-9223372036854775808',
    '2147483648',
  ].map(integer),
  small: ['-3', '-1', '0', '1', '2', '4', '7'].map(integer),
  double: [
    double('NaN'),
    { ...double('INF', Number.POSITIVE_INFINITY), cell: 'Infinity' },
    { ...double('-INF', Number.NEGATIVE_INFINITY), cell: '-Infinity' },
    ...[
      '0',
      '-0.0',
      '0.1',
      '0.5',
      '1.5',
      '2.5',
      '-2.5',
      '3',
      '9007199254740992',
      '1e300',
      '-1e-300',
      '5e-324',
      '123456.789',
      '-7',
    ].map((text) => double(text)),
  ],
  decimal: [
    '0.00',
    '0.01',
    '-0.01',
    '2.55',
    '3.30',
    '1.10',
    '0.50',
    '-2.50',
    '99999999.99',
    '-99999999.99',
  ].map(decimal),
  fine: ['0.0000', '0.0001', '1.5000', '-1.5000', '2.5500', '12345678901234.5678', '-3.0001'].map(decimal),
  string: TEXTS.map(string),
  boolean: ['true', 'false'].map(
    (text): Sample => ({ cell: text, text, value: text === 'true', type: 'boolean' }),
  ),
  date: DAYS.map(date),
  time: TIMES.map(time),
  timestamp: MOMENTS.map((text) => moment(text, 'timestamp')),
  timestamptz: MOMENTS.map((text) => moment(text, 'timestamptz')),
  uuid: [
    '00000000-0000-0000-0000-000000000000',
    '01234567-89ab-cdef-0123-456789abcdef',
    'ffffffff-ffff-ffff-ffff-ffffffffffff',
    '80000000-0000-0000-0000-000000000000',
  ].map((text): Sample => ({ cell: text, text, value: text, type: 'uuid' })),
} as const

export type Pool = keyof typeof SAMPLES

interface TestColumn {
  readonly name: string
  readonly pool: Pool
  readonly type: SqlColumn['type']
  readonly modelType: Type
}

function testColumn(name: string, pool: Pool, type: SqlColumn['type'], modelType: Type): TestColumn {
  return { name, pool, type, modelType }
}

/** Two columns of each type, under names that could be taken for something else. */
export const COLUMNS: readonly TestColumn[] = [
  testColumn('Int', 'integer', 'integer', 'integer'),
  testColumn('length', 'small', 'integer', 'integer'),
  testColumn('Dbl', 'double', 'double', 'double'),
  testColumn('eq', 'double', 'double', 'double'),
  testColumn('Dec', 'decimal', 'decimal(10,2)', { precision: 10, scale: 2 }),
  testColumn('Fine "d"', 'fine', 'decimal(18,4)', { precision: 18, scale: 4 }),
  testColumn('Text', 'string', 'string', 'string'),
  testColumn('text', 'string', 'string', 'string'),
  testColumn('Flag', 'boolean', 'boolean', 'boolean'),
  testColumn('not', 'boolean', 'boolean', 'boolean'),
  testColumn('Day', 'date', 'date', 'date'),
  testColumn('Straße', 'date', 'date', 'date'),
  testColumn('time', 'time', 'time', 'time'),
  testColumn('Clock', 'time', 'time', 'time'),
  testColumn('Local', 'timestamp', 'timestamp', 'timestamp'),
  testColumn('Moment', 'timestamptz', 'timestamptz', 'timestamptz'),
  testColumn('Seen at', 'timestamptz', 'timestamptz', 'timestamptz'),
  testColumn('Id', 'uuid', 'uuid', 'uuid'),
]

/** Rows of everything that is hard, a fifth of it null. */
export function randomRows(random: Random, count: number): { cells: Cell[][]; rows: Row[] } {
  const cells: Cell[][] = []
  const rows: Row[] = []
  for (let index = 0; index < count; index++) {
    const samples = COLUMNS.map(({ pool }) =>
      random.chance(0.2) ? undefined : random.pick<Sample>(SAMPLES[pool]),
    )
    cells.push(samples.map((sample) => sample?.cell ?? null))
    rows.push(Object.fromEntries(COLUMNS.map(({ name }, at) => [name, samples[at]?.value ?? null])))
  }
  return { cells, rows }
}

import { atom, call, caseWhen, cast, comparison, infix, LEVEL, postfix, type Sql } from '../sql/dialect.ts'
import { decimal, FIRST_MOMENT, LAST_MOMENT, PICOS_PER_MICRO, TYPE, type ValueType } from '../values.ts'
import { type FunctionRow, forKinds, of } from './overloads.ts'
import { textFunctions } from './text-functions.ts'

/** Every function. Adding one is adding a row, here or to the functions of texts. */
export const functionTable: readonly FunctionRow[] = [
  ...textFunctions,
  datePart('year', 'The year. Year 0 is 1 BC.', 'year(Day) eq 2024'),
  datePart('month', 'The month, 1 to 12.', 'month(Day) eq 12'),
  datePart('day', 'The day of the month.', 'day(Day) eq 1'),
  timePart('hour', 'The hour, 0 to 23.', 'hour(Seen) lt 6', false),
  timePart('minute', 'The minute, 0 to 59.', 'minute(Seen) eq 30', true),
  timePart('second', 'The whole second, 0 to 59.', 'second(Seen) eq 0', true),
  {
    name: 'fractionalseconds',
    args: ['time'],
    overloads: [
      ...forKinds(['timestamp', 'time'], decimal(7, 6), fraction, lastSixDigits),
      ...forKinds(['timestamptz'], decimal(7, 6), fraction, (x) => lastSixDigits(cast(x, 'TIMESTAMP(6)'))),
    ],
    about: 'The fraction of the second, from 0 to below 1.',
    example: 'fractionalseconds(Seen) lt 0.1',
  },
  {
    name: 'date',
    args: ['moment'],
    overloads: forKinds(['date', 'timestamp', 'timestamptz'], TYPE.date, (x) => cast(x, 'DATE')),
    ofMoment: { name: 'date', anyOffset: true },
    about: 'The date of a moment, in UTC; for a literal, in its own offset.',
    example: 'date(Seen) eq 2024-02-29',
  },
  {
    name: 'time',
    args: ['moment'],
    overloads: [
      // Not in Trino, which is a second off before 1970.
      of(['timestamp'], TYPE.time, ([x]) => cast(x!, 'TIME'), null),
      of(['timestamptz'], TYPE.time, ([x]) => cast(cast(x!, 'TIMESTAMP'), 'TIME'), null),
    ],
    ofMoment: { name: 'time', anyOffset: false },
    about: 'The time of day of a moment, in UTC.',
    example: 'time(Seen) lt 12:00',
  },
  {
    name: 'totaloffsetminutes',
    args: ['moment'],
    overloads: forKinds(['timestamp', 'timestamptz'], TYPE.integer, (x) =>
      caseWhen([[postfix(x, 'IS NOT NULL'), cast(atom('0'), 'BIGINT')]]),
    ),
    ofMoment: { name: 'offset', anyOffset: true },
    about:
      'The offset of a moment from UTC in minutes. It is 0 for columns, because moments are stored in UTC; a literal has its own offset.',
    example: 'totaloffsetminutes(Seen) eq 0',
  },
  {
    name: 'totalseconds',
    args: ['duration'],
    overloads: forKinds(['duration'], decimal(25, 6), (x) =>
      infix(cast(x, 'DECIMAL(19,0)'), '*', cast(atom('0.000001'), 'DECIMAL(6,6)'), LEVEL.multiplicative),
    ),
    about: 'The length of a duration in seconds, with the fraction.',
    example: 'totalseconds(Ended sub Started) gt 90.5',
  },
  {
    name: 'now',
    args: [],
    overloads: [],
    constant: (now) => ({ kind: 'moment', picos: BigInt(now().getTime()) * 1_000_000_000n, offset: 0 }),
    about: 'The moment at which the query was made; the same for all rows.',
    example: "Seen gt now() sub duration'PT1H'",
  },
  {
    name: 'mindatetime',
    args: [],
    overloads: [],
    constant: () => ({ kind: 'moment', picos: FIRST_MOMENT * PICOS_PER_MICRO, offset: 0 }),
    about: 'The earliest moment that can be stored, -290308-12-22T00:00:00Z.',
    example: 'Seen gt mindatetime()',
  },
  {
    name: 'maxdatetime',
    args: [],
    overloads: [],
    constant: () => ({ kind: 'moment', picos: LAST_MOMENT * PICOS_PER_MICRO, offset: 0 }),
    about: 'The latest moment that can be stored, 294247-01-10T04:00:54.775806Z.',
    example: 'Seen lt maxdatetime()',
  },
  // Trino's round() takes the sign from -0.
  rounding('round', 'The nearest whole number; halves go away from zero.', 'round(Price) eq 10', (x) =>
    caseWhen([[comparison(x, '=', atom('0E0')), x]], call('round', x)),
  ),
  rounding('floor', 'The next whole number below.', 'floor(Price) eq 9'),
  rounding('ceiling', 'The next whole number above.', 'ceiling(Price) eq 10'),
]

/** `case` has no row in the table, because its arguments are pairs and its type is the type of its results. */
export const CASE = {
  name: 'case',
  about:
    'The result after the first condition that is true; null if none is true. The results must all have one type, or all be numbers.',
  example: "case(Price gt 100: 'high', true: 'low') eq 'high'",
}

/** `cast` has no row in the table, because its second argument is a type. */
export const CAST = {
  name: 'cast',
  about:
    'The value as another type; null if it can’t be converted, such as a text that is not a number in cast(Code, Edm.Int32). Conversion to integers rounds, halves away from zero.',
  example: "cast(Stock, 'Edm.String') eq '10'",
}

const byName = new Map(functionTable.map((row) => [row.name.toLowerCase(), row]))

/** The row of a function. Upper and lower case of the name make no difference. */
export function functionRow(name: string): FunctionRow | undefined {
  return byName.get(name.toLowerCase())
}

function rounding(
  name: string,
  about: string,
  example: string,
  trinoDouble = (x: Sql): Sql => call(name, x),
): FunctionRow {
  const whole = ([type]: readonly ValueType[]) =>
    type?.kind === 'decimal' ? decimal(type.precision, 0, type.floating) : TYPE.double
  const overloads = [
    of(['integer'], TYPE.integer, ([x]) => x!),
    of(['decimal'], whole, ([x]) => call(name, x!)),
    ...forKinds(['double'], TYPE.double, (x) => call(name, x), trinoDouble),
  ]
  return { name, args: ['number'], overloads, about, example }
}

function datePart(name: 'year' | 'month' | 'day', about: string, example: string): FunctionRow {
  const part = (x: Sql) => call(name, x)
  // Trino turns a comparison of year() with a number into one of moments, and fails if the number is larger than 2^31.
  // Comparisons that can be turned have been already (`comparisons.ts`).
  const trinoPart = (x: Sql) => (name === 'year' ? infix(part(x), '+', atom('0'), LEVEL.additive) : part(x))
  const overloads = [
    ...forKinds(['date', 'timestamp'], TYPE.integer, part, trinoPart),
    // The cast is needed because DuckDB gives positive years before year 1 for a TIMESTAMPTZ. For a TIMESTAMP it counts
    // years as ISO 8601 does.
    ...forKinds(
      ['timestamptz'],
      TYPE.integer,
      (x) => part(cast(x, 'TIMESTAMP')),
      (x) => trinoPart(cast(x, 'TIMESTAMP(6)')),
    ),
  ]
  return { name, args: ['moment'], overloads, ofMoment: { name, anyOffset: false }, about, example }
}

function timePart(
  name: 'hour' | 'minute' | 'second',
  about: string,
  example: string,
  anyOffset: boolean,
): FunctionRow {
  const overloads = forKinds(['timestamp', 'timestamptz', 'time'], TYPE.integer, (x) => call(name, x))
  return { name, args: ['time'], overloads, ofMoment: { name, anyOffset }, about, example }
}

function fraction(x: Sql): Sql {
  const million = atom('1000000')
  const micros = infix(call('microsecond', x), '%', million, LEVEL.multiplicative)
  return cast(infix(micros, '/', million, LEVEL.multiplicative), 'DECIMAL(7,6)')
}

/** The fraction of a second in Trino, cut from the text of the moment, which always ends in all six digits. */
function lastSixDigits(x: Sql): Sql {
  const digits = call('substr', cast(x, 'VARCHAR'), atom('-6'))
  return cast(infix(atom("'0.'"), '||', digits, LEVEL.concat), 'DECIMAL(7,6)')
}

import { decimal, TYPE, type ValueKind, type ValueType } from '../check/value-types.ts'
import { converted, duckType } from '../sql/duckdb.ts'
import {
  all,
  any,
  atom,
  call,
  caseWhen,
  cast,
  comparison,
  infix,
  LEVEL,
  not,
  type Sql,
  tryCast,
} from '../sql/fragments.ts'

/**
 * A type to which cast() converts (section 5.1.1.10.1), with the SQL for each type of operand. The SQL gives null for a
 * value that can't be converted.
 */
export interface CastTarget {
  /** The standard's name of the type, such as `Edm.Int32`. */
  readonly name: string
  readonly type: ValueType
  /** SQL in DuckDB, by the kind of the operand. Other operands are refused. */
  readonly duckdb: Partial<Readonly<Record<ValueKind, (x: Sql, from: ValueType) => Sql>>>
  /** SQL in Trino, for those operands where it has the same meaning as in DuckDB. */
  readonly trino: CastTarget['duckdb']
}

type Casts = CastTarget['duckdb']

/** 23 digits before the point and 15 behind it, because cast() to Edm.Decimal doesn't say which scale is needed. */
const WIDE_DECIMAL = decimal(38, 15)

const same = (x: Sql): Sql => x
const tried =
  (type: ValueType) =>
  (x: Sql): Sql =>
    tryCast(x, duckType(type))

/**
 * Casts text only if it has the form of the standard's literals, because DuckDB's cast would accept other texts too.
 */
const ofText =
  (form: string, type: ValueType) =>
  (x: Sql): Sql =>
    caseWhen([[call('regexp_full_match', x, atom(`'${form}'`)), tryCast(x, duckType(type))]])

const WHOLE = '[+-]?[0-9]+'
const NUMBER = '[+-]?[0-9]+([.][0-9]+)?([eE][+-]?[0-9]+)?'
const DAY = '-?[0-9]{4,}-[0-9]{2}-[0-9]{2}'
const CLOCK = '[0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]+)?)?'
const ZONE = '([zZ]|[+-][0-9]{2}:[0-9]{2})'
const GUID = '[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}'

const rounded = (x: Sql): Sql => tryCast(call('round', x), 'BIGINT')

function whole(name: string, low?: bigint, high?: bigint): CastTarget {
  const within = (make: (x: Sql) => Sql) => (x: Sql) => {
    const made = make(x)
    if (low === undefined) return made
    const bounds = [comparison(made, '>=', atom(String(low))), comparison(made, '<=', atom(String(high)))]
    return caseWhen([[all(bounds), made]])
  }
  return {
    name,
    type: TYPE.integer,
    duckdb: {
      integer: within(same),
      decimal: within(rounded),
      double: within(rounded),
      string: within(ofText(WHOLE, TYPE.integer)),
    },
    trino: { integer: within(same), decimal: within(rounded) },
  }
}

const joined = (a: Sql, b: string): Sql => infix(a, '||', atom(b), LEVEL.concat)
const text = (x: Sql): Sql => cast(x, 'VARCHAR')
const isoMoment = (x: Sql): Sql => call('replace', text(x), atom("' '"), atom("'T'"))

/** INF, -INF and NaN as the standard writes them. */
const doubleText = (x: Sql): Sql =>
  caseWhen(
    [
      [call('isnan', x), atom("'NaN'")],
      [call('isinf', x), caseWhen([[comparison(x, '>', atom('0')), atom("'INF'")]], atom("'-INF'"))],
    ],
    text(x),
  )

/** DuckDB writes no digit before the point if the type has none there; exports, Trino and literals have a zero. */
const decimalText = (x: Sql, from: ValueType): Sql =>
  from.kind === 'decimal' && from.precision === from.scale
    ? call('regexp_replace', text(x), atom("'^(-?)[.]'"), atom("'\\10.'"))
    : text(x)

const TO_STRING: Casts = {
  string: same,
  boolean: text,
  integer: text,
  decimal: decimalText,
  double: doubleText,
  date: text,
  time: text,
  timestamp: isoMoment,
  timestamptz: (x) => joined(isoMoment(cast(x, 'TIMESTAMP')), "'Z'"),
  uuid: text,
}

const toDouble = (x: Sql, from: ValueType): Sql => converted(x, from, TYPE.double)
const single = (x: Sql): Sql => cast(tryCast(x, 'FLOAT'), 'DOUBLE')
const doubleOfText = (x: Sql): Sql => ofText(`${NUMBER}|-?INF|NaN`, TYPE.double)(x)

/** Every type that cast() takes. */
export const castTable: readonly CastTarget[] = [
  {
    name: 'Edm.Boolean',
    type: TYPE.boolean,
    duckdb: { boolean: same, string: ofText('(?i:true|false)', TYPE.boolean) },
    trino: { boolean: same },
  },
  whole('Edm.Byte', 0n, 255n),
  whole('Edm.SByte', -128n, 127n),
  whole('Edm.Int16', -32_768n, 32_767n),
  whole('Edm.Int32', -2_147_483_648n, 2_147_483_647n),
  whole('Edm.Int64'),
  {
    name: 'Edm.Decimal',
    type: WIDE_DECIMAL,
    duckdb: {
      integer: tried(WIDE_DECIMAL),
      decimal: tried(WIDE_DECIMAL),
      double: (x) => caseWhen([[not(any([call('isnan', x), call('isinf', x)])), tried(WIDE_DECIMAL)(x)]]),
      string: ofText(NUMBER, WIDE_DECIMAL),
    },
    trino: { integer: tried(WIDE_DECIMAL) },
  },
  {
    name: 'Edm.Double',
    type: TYPE.double,
    duckdb: { integer: toDouble, decimal: toDouble, double: same, string: doubleOfText },
    trino: { integer: toDouble, decimal: toDouble, double: same },
  },
  {
    name: 'Edm.Single',
    type: TYPE.double,
    duckdb: { integer: single, decimal: single, double: single, string: (x) => single(doubleOfText(x)) },
    trino: {},
  },
  {
    name: 'Edm.String',
    type: TYPE.string,
    duckdb: TO_STRING,
    trino: { string: same, boolean: text, integer: text, decimal: text, date: text, uuid: text },
  },
  {
    name: 'Edm.Date',
    type: TYPE.date,
    duckdb: {
      date: same,
      timestamp: tried(TYPE.date),
      timestamptz: tried(TYPE.date),
      string: ofText(DAY, TYPE.date),
    },
    trino: { date: same, timestamp: tried(TYPE.date), timestamptz: tried(TYPE.date) },
  },
  {
    name: 'Edm.TimeOfDay',
    type: TYPE.time,
    duckdb: {
      time: same,
      timestamp: tried(TYPE.time),
      timestamptz: (x) => tried(TYPE.time)(cast(x, 'TIMESTAMP')),
      string: ofText(CLOCK, TYPE.time),
    },
    trino: { time: same },
  },
  {
    name: 'Edm.DateTimeOffset',
    type: TYPE.timestamptz,
    duckdb: {
      date: tried(TYPE.timestamptz),
      timestamp: tried(TYPE.timestamptz),
      timestamptz: same,
      string: ofText(`${DAY}[tT ]${CLOCK}${ZONE}`, TYPE.timestamptz),
    },
    trino: { timestamptz: same },
  },
  {
    name: 'Edm.Guid',
    type: TYPE.uuid,
    duckdb: { uuid: same, string: ofText(GUID, TYPE.uuid) },
    trino: { uuid: same },
  },
]

const byName = new Map(castTable.map((target) => [target.name.toLowerCase(), target]))

/** The target of a name. Upper and lower case make no difference. */
export function castTarget(name: string): CastTarget | undefined {
  return byName.get(name.toLowerCase())
}

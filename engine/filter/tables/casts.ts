import {
  all,
  atom,
  call,
  caseWhen,
  cast,
  comparison,
  converted,
  type DialectName,
  duckType,
  infix,
  LEVEL,
  type Sql,
  tryCast,
  withSeconds,
} from '../sql/dialect.ts'
import { decimal, TYPE, type ValueKind, type ValueType } from '../values.ts'
import { type Overload, of, type Rendering } from './overloads.ts'

/** A type to which cast() converts (section 5.1.1.10.1). Its SQL gives null for a value that can't be converted. */
export interface CastTarget {
  /** The standard's name of the type, such as `Edm.Int32`. */
  readonly name: string
  readonly type: ValueType
  /** One for each type of operand that it takes. */
  readonly overloads: readonly Overload[]
}

/** SQL by the kind of the operand. */
type Casts = Partial<Readonly<Record<ValueKind, (x: Sql, from: ValueType, dialect: DialectName) => Sql>>>

/** @param inTrino the kinds whose SQL has the same meaning in Trino */
function target(name: string, type: ValueType, casts: Casts, inTrino: readonly ValueKind[] = []): CastTarget {
  const overloads = Object.entries(casts).map(([key, cast]) => {
    const kind = key as ValueKind
    const rendering: Rendering = ([x], { types, dialect }) => cast(x!, types[0]!, dialect)
    return of([kind], type, rendering, inTrino.includes(kind) ? rendering : null)
  })
  return { name, type, overloads }
}

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
  (form: string, type: ValueType, plain = same) =>
  (x: Sql): Sql =>
    caseWhen([[call('regexp_full_match', x, atom(`'${form}'`)), tryCast(plain(x), duckType(type))]])

const WHOLE = '[+-]?[0-9]+'
const NUMBER = '[+-]?[0-9]+([.][0-9]+)?([eE][+-]?[0-9]+)?'
const DAY = '-?[0-9]{4,}-[0-9]{2}-[0-9]{2}'
const MINUTE = '([01][0-9]|2[0-3]):[0-5][0-9]'
const CLOCK = `${MINUTE}(:[0-9]{2}([.][0-9]+)?)?`
const ZONE = `([zZ]|[+-]${MINUTE})`
const GUID = '[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}'

const rounded = (x: Sql): Sql => tryCast(call('round', x), 'BIGINT')

function whole(name: string, low?: bigint, high?: bigint): CastTarget {
  const inRange = (make: (x: Sql) => Sql) => (x: Sql) => {
    const made = make(x)
    if (low === undefined) return made
    const bounds = [comparison(made, '>=', atom(String(low))), comparison(made, '<=', atom(String(high)))]
    return caseWhen([[all(bounds), made]])
  }
  const casts = {
    integer: inRange(same),
    decimal: inRange(rounded),
    double: inRange(rounded),
    string: inRange(ofText(WHOLE, TYPE.integer)),
  }
  return target(name, TYPE.integer, casts, ['integer', 'decimal'])
}

const joined = (a: Sql, b: string): Sql => infix(a, '||', atom(b), LEVEL.concat)
const text = (x: Sql): Sql => cast(x, 'VARCHAR')
const isoMoment = (x: Sql): Sql => call('replace', text(x), atom("' '"), atom("'T'"))

/** INF, -INF and NaN as the standard writes them, and whole numbers without a point, as exports do. */
const doubleText = (x: Sql): Sql =>
  caseWhen(
    [
      [call('isnan', x), atom("'NaN'")],
      [call('isinf', x), caseWhen([[comparison(x, '>', atom('0')), atom("'INF'")]], atom("'-INF'"))],
    ],
    call('regexp_replace', text(x), atom("'[.]0$'"), atom("''")),
  )

/** DuckDB writes no digit before the point if the type has none there; exports, Trino and literals have a zero. */
const decimalText = (x: Sql, from: ValueType, dialect: DialectName): Sql =>
  from.kind === 'decimal' && from.precision === from.scale && dialect === 'duckdb'
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

const TO_DATE: Casts = {
  date: same,
  timestamp: tried(TYPE.date),
  timestamptz: tried(TYPE.date),
  string: ofText(DAY, TYPE.date),
}

const TO_TIME: Casts = {
  time: same,
  timestamp: tried(TYPE.time),
  timestamptz: (x) => tried(TYPE.time)(cast(x, 'TIMESTAMP')),
  string: ofText(CLOCK, TYPE.time),
}

const TO_MOMENT: Casts = {
  date: tried(TYPE.timestamptz),
  timestamp: tried(TYPE.timestamptz),
  timestamptz: same,
  string: ofText(`${DAY}[tT ]${CLOCK}${ZONE}`, TYPE.timestamptz, (x) => withSeconds(call('upper', x))),
}

const toDouble = (x: Sql, from: ValueType): Sql => converted(x, from, TYPE.double)
const single = (x: Sql): Sql => cast(tryCast(x, 'FLOAT'), 'DOUBLE')
const doubleOfText = (x: Sql): Sql => ofText(`${NUMBER}|-?INF|NaN`, TYPE.double)(x)

/**
 * DuckDB multiplies a double by 10^15 in binary, which makes 99999.990000000008192 of 99999.99. So a double is read from
 * its text, but for those that are too large to have a fraction.
 */
const decimalOfDouble = (x: Sql): Sql =>
  caseWhen(
    [[comparison(call('abs', x), '<', atom(String(2 ** 53))), tried(WIDE_DECIMAL)(text(x))]],
    tried(WIDE_DECIMAL)(tryCast(x, 'DECIMAL(38,0)')),
  )

/** Every type that cast() takes. */
export const castTable: readonly CastTarget[] = [
  target('Edm.Boolean', TYPE.boolean, { boolean: same, string: ofText('(?i:true|false)', TYPE.boolean) }, [
    'boolean',
  ]),
  whole('Edm.Byte', 0n, 255n),
  whole('Edm.SByte', -128n, 127n),
  whole('Edm.Int16', -32_768n, 32_767n),
  whole('Edm.Int32', -2_147_483_648n, 2_147_483_647n),
  whole('Edm.Int64'),
  target(
    'Edm.Decimal',
    WIDE_DECIMAL,
    {
      integer: tried(WIDE_DECIMAL),
      decimal: tried(WIDE_DECIMAL),
      double: decimalOfDouble,
      string: ofText(NUMBER, WIDE_DECIMAL),
    },
    ['integer'],
  ),
  target(
    'Edm.Double',
    TYPE.double,
    { integer: toDouble, decimal: toDouble, double: same, string: doubleOfText },
    ['integer', 'decimal', 'double'],
  ),
  target('Edm.Single', TYPE.double, {
    integer: single,
    decimal: single,
    double: single,
    string: (x) => single(doubleOfText(x)),
  }),
  target('Edm.String', TYPE.string, TO_STRING, ['string', 'boolean', 'integer', 'decimal', 'date', 'uuid']),
  target('Edm.Date', TYPE.date, TO_DATE, ['date', 'timestamp', 'timestamptz']),
  target('Edm.TimeOfDay', TYPE.time, TO_TIME, ['time']),
  target('Edm.DateTimeOffset', TYPE.timestamptz, TO_MOMENT, ['timestamptz']),
  target('Edm.Guid', TYPE.uuid, { uuid: same, string: ofText(GUID, TYPE.uuid) }, ['uuid']),
]

/** By their names in lower case, because upper and lower case make no difference. */
export const castTargets: ReadonlyMap<string, CastTarget> = new Map(
  castTable.map((target) => [target.name.toLowerCase(), target]),
)

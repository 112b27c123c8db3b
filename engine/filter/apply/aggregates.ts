import { atom, call, caseWhen, cast, comparison, infix, LEVEL, NAN, raise, type Sql } from '../sql/dialect.ts'
import { decimal, isNumeric, TYPE, type ValueType } from '../values.ts'

/** A method that turns the values of a group into one value: `price with sum as total`. */
export interface AggregateRow {
  readonly name: string
  /** Another name of the method. */
  readonly alias?: string
  readonly takes: keyof typeof TAKES
  /** The type of the result; that of the operand if not given. */
  readonly gives?: ValueType | ((type: ValueType) => ValueType)
  /** SQL in DuckDB. It may use the column `p0`, the position of the row; so may that in Trino. */
  readonly duckdb: (x: Sql, type: ValueType) => Sql
  /**
   * SQL in Trino, if its result there is the same to the last digit. Where it is missing, or gives undefined for a
   * type, the query runs in DuckDB.
   */
  readonly trino?: (x: Sql, type: ValueType) => Sql | undefined
  readonly about: string
  readonly example: string
}

const TAKES = {
  numbers: isNumeric,
  'ordered values': ({ kind }: ValueType) => kind !== 'binary' && kind !== 'duration',
  'any values': ({ kind }: ValueType) => kind !== 'duration',
} as const

/** The type of the result; undefined for an operand that the method does not take. */
export function aggregateType({ takes, gives }: AggregateRow, type: ValueType): ValueType | undefined {
  if (!TAKES[takes](type)) return undefined
  return typeof gives === 'function' ? gives(type) : (gives ?? type)
}

const asDouble = (x: Sql): Sql => cast(x, 'DOUBLE')

/**
 * DuckDB fails on a value that is not finite, so such values are filtered out before. If there is one among two or more
 * values, the result is NaN.
 */
function spread(name: string, x: Sql): Sql {
  const double = asDouble(x)
  const some = `count(${double.text}) > 1 AND NOT bool_and(isfinite(${double.text}))`
  const finite = `${name}(${double.text}) FILTER (WHERE isfinite(${double.text}))`
  return { ...atom(`CASE WHEN ${some} THEN CAST('NaN' AS DOUBLE) ELSE ${finite} END`), fallible: true }
}

/**
 * The smallest or largest value. NaN orders with nothing, but DuckDB takes it for the largest value. Of -0 and 0, which
 * are equal, it gives the one that it meets first; the sum is always 0.
 */
function extreme(name: string, x: Sql, type: ValueType): Sql {
  if (type.kind !== 'double') return call(name, x)
  return positiveZero(call(name, call('nullif', x, NAN)))
}

const positiveZero = (x: Sql): Sql => infix(x, '+', atom('0e0'), LEVEL.additive)

function distinct(x: Sql): Sql {
  return { ...atom(`count(DISTINCT ${x.text})`), fallible: x.fallible }
}

/** SQL in Trino for all types but doubles, because Trino ignores NaN or takes it for the smallest value. */
function exactly(sql: (x: Sql) => Sql): (x: Sql, type: ValueType) => Sql | undefined {
  return (x, type) => (type.kind === 'double' ? undefined : sql(x))
}

/** DuckDB rounds a larger sum in its own way before it divides, so the average of such a sum is left to DuckDB. */
const MOST_EXACT = 2 ** 53

function averageInTrino(x: Sql): Sql {
  const sum = call('sum', cast(x, 'DECIMAL(38,0)'))
  const large = comparison(call('abs', sum), '>', atom(String(MOST_EXACT)))
  const average = infix(asDouble(sum), '/', asDouble(call('count', x)), LEVEL.multiplicative)
  return caseWhen([[large, raise('a sum beyond 53 bits', 'trino')]], average)
}

/** The type of a sum, which keeps every digit: integers give an integer, decimals give a decimal of 38 digits. */
function sumType(type: ValueType): ValueType {
  return type.kind === 'decimal' ? decimal(38, type.scale) : type
}

/** Every method of aggregation; a new method is a new row. All methods except first and last ignore nulls. */
export const aggregateTable: readonly AggregateRow[] = [
  {
    name: 'sum',
    takes: 'numbers',
    gives: sumType,
    // DuckDB lets a sum of 39 digits pass without an error. Reading the sum from text raises one.
    duckdb: (x, type) => (type.kind === 'decimal' ? cast(call('sum', x), 'VARCHAR') : call('sum', x)),
    // A sum of doubles depends on the order in which they are added, so Trino's result could differ.
    trino: exactly((x) => call('sum', x)),
    about:
      'The sum, exact for integers and decimals; null if there are no values. A sum that does not fit into its type is an error.',
    example: 'aggregate(Price with sum as Total)',
  },
  {
    name: 'average',
    alias: 'avg',
    takes: 'numbers',
    gives: TYPE.double,
    duckdb: (x) => call('avg', x),
    trino: (x, type) => (type.kind === 'integer' ? averageInTrino(x) : undefined),
    about:
      'The sum divided by the number of values, as a double; null if there are no values. Where a double has too few digits, take `sum` and `$count`, which are exact. `avg` is the same.',
    example: 'aggregate(Price with average as Mean)',
  },
  {
    name: 'min',
    takes: 'ordered values',
    duckdb: (x, type) => extreme('min', x, type),
    trino: exactly((x) => call('min', x)),
    about: 'The smallest value, without null and NaN.',
    example: 'aggregate(Price with min as Cheapest)',
  },
  {
    name: 'max',
    takes: 'ordered values',
    duckdb: (x, type) => extreme('max', x, type),
    trino: exactly((x) => call('max', x)),
    about: 'The largest value, without null and NaN.',
    example: 'aggregate(Day with max as Latest)',
  },
  {
    name: 'countdistinct',
    takes: 'any values',
    gives: TYPE.integer,
    duckdb: distinct,
    trino: exactly(distinct),
    about: 'The number of different values, without null.',
    example: 'aggregate(City with countdistinct as Cities)',
  },
  {
    name: 'median',
    takes: 'numbers',
    gives: TYPE.double,
    duckdb: (x) => positiveZero(call('quantile_cont', asDouble(x), atom('0.5'))),
    about:
      'The value in the middle, or the mean of the two values in the middle, as a double. Not part of the standard.',
    example: 'aggregate(Price with median as Middle)',
  },
  {
    name: 'stdev',
    takes: 'numbers',
    gives: TYPE.double,
    duckdb: (x) => spread('stddev_samp', x),
    about: 'The standard deviation of a sample; null for fewer than two values. Not part of the standard.',
    example: 'aggregate(Price with stdev as Spread)',
  },
  {
    name: 'var',
    takes: 'numbers',
    gives: TYPE.double,
    duckdb: (x) => spread('var_samp', x),
    about: 'The variance of a sample; null for fewer than two values. Not part of the standard.',
    example: 'aggregate(Price with var as Variance)',
  },
  {
    name: 'first',
    takes: 'any values',
    duckdb: (x) => call('arg_min_null', x, atom('p0')),
    trino: (x) => call('min_by', x, atom('p0')),
    about: 'The value of the first row, even if it is null. Not part of the standard.',
    example: 'aggregate(Price with first as Opening)',
  },
  {
    name: 'last',
    takes: 'any values',
    duckdb: (x) => call('arg_max_null', x, atom('p0')),
    trino: (x) => call('max_by', x, atom('p0')),
    about: 'The value of the last row, even if it is null. Not part of the standard.',
    example: 'aggregate(Price with last as Closing)',
  },
]

/** `p95` is the 95th percentile. */
const PERCENTILE = /^p(\d{1,2}|100)$/

const byName = new Map(
  aggregateTable.flatMap((row) => [row.name, row.alias ?? row.name].map((name) => [name, row] as const)),
)

export function aggregateRow(name: string): AggregateRow | undefined {
  const percent = PERCENTILE.exec(name.toLowerCase())?.[1]
  return percent === undefined ? byName.get(name.toLowerCase()) : percentile(Number(percent))
}

export function percentile(percent: number): AggregateRow {
  return {
    name: `p${percent}`,
    takes: 'numbers',
    gives: TYPE.double,
    duckdb: (x) => positiveZero(call('quantile_cont', asDouble(x), atom(String(percent / 100)))),
    about: `The value below which ${percent} percent of the values lie; between two values it is interpolated. Not part of the standard.`,
    example: `aggregate(Price with p${percent} as Limit)`,
  }
}

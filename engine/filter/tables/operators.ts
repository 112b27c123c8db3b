import { ARITHMETIC } from './arithmetic-rows.ts'
import type { Overload } from './overloads.ts'

/** The groups of section 5.1.1.16; a larger number binds more tightly. */
export const PRECEDENCE = {
  or: 1,
  and: 2,
  equality: 3,
  relational: 4,
  additive: 5,
  multiplicative: 6,
  unary: 7,
  primary: 8,
} as const

export interface OperatorRow {
  readonly name: string
  readonly group: keyof typeof PRECEDENCE
  readonly about: string
  readonly example: string
  /** For arithmetic: the types that it takes and gives. */
  readonly overloads?: readonly Overload[]
  /** For other operators, which give a boolean: the types in words, and the SQL with `x` and `y` for the operands. */
  readonly takes?: string
  readonly sql?: string
}

const TWO_ALIKE = 'two values of one type, two numbers, or two of date, timestamp and timestamptz'

type Group = OperatorRow['group']

function arithmetic(
  name: keyof typeof ARITHMETIC,
  group: Group,
  about: string,
  example: string,
): OperatorRow {
  return { name, group, overloads: ARITHMETIC[name], about, example }
}

function other(
  name: string,
  group: Group,
  takes: string,
  sql: string,
  about: string,
  example: string,
): OperatorRow {
  return { name, group, takes, sql, about, example }
}

const NOT_NULL = 'False if either side is null or NaN.'
/** Name, group, SQL, what it does, example. */
const COMPARISONS = [
  ['gt', 'relational', 'x > y', `Greater than. ${NOT_NULL}`, 'Price gt 9.99'],
  ['ge', 'relational', 'x >= y', `Greater than or equal to. ${NOT_NULL}`, 'Day ge 2024-01-01'],
  ['lt', 'relational', 'x < y', `Less than. ${NOT_NULL}`, 'Opens lt 08:30'],
  ['le', 'relational', 'x <= y', `Less than or equal to. ${NOT_NULL}`, "Name le 'M'"],
  [
    'eq',
    'equality',
    'x IS NOT DISTINCT FROM y',
    'Equal. Null equals null and nothing else; NaN equals nothing.',
    "Name eq 'Milk'",
  ],
  [
    'ne',
    'equality',
    'x IS DISTINCT FROM y',
    'Not equal. Always the opposite of eq, so null ne 5 is true.',
    'Discount ne null',
  ],
] as const

/**
 * Every operator, the tightest first. The parser takes the precedence from this table, the checker takes the types, the
 * compiler takes the SQL of arithmetic, and the reference page shows all of it.
 */
export const operatorTable: readonly OperatorRow[] = [
  other(
    'in',
    'primary',
    'a value, and literals of its type in parentheses',
    'x IN (…)',
    'Whether the value equals one in the list. A null in the list equals a null value; no value is in an empty list.',
    "Country in ('AT', 'CH', null)",
  ),
  arithmetic('-', 'unary', 'The number or duration with the opposite sign.', '-Balance gt 100'),
  other(
    'not',
    'unary',
    'boolean',
    'NOT x',
    'True if the operand is false, null if it is null. It binds tightly, so write not (a eq b).',
    "not contains(Name, 'test')",
  ),
  arithmetic(
    'mul',
    'multiplicative',
    'The product. Integers and decimals stay exact.',
    'Price mul 1.2 gt 100',
  ),
  arithmetic(
    'div',
    'multiplicative',
    'The quotient; for two integers its whole part. Division by zero fails, except that a double, or a literal with a point, gives INF or NaN.',
    'Minutes div 60 eq 2',
  ),
  arithmetic(
    'divby',
    'multiplicative',
    'The quotient with its fraction, also for integers. Division by zero gives INF, -INF or NaN, but fails for a duration.',
    'Rating divby 2 eq 2.5',
  ),
  arithmetic(
    'mod',
    'multiplicative',
    'The remainder, with the sign of the left operand. Division by zero fails.',
    'Id mod 10 eq 0',
  ),
  arithmetic(
    'add',
    'additive',
    'The sum; or a date or moment, later by a duration.',
    "Ordered add duration'P7D' lt now()",
  ),
  arithmetic(
    'sub',
    'additive',
    'The difference; or a date or moment, earlier by a duration; or the duration between two of them.',
    "Shipped sub Ordered gt duration'P3D'",
  ),
  ...COMPARISONS.map(([name, group, sql, about, example]) =>
    other(name, group, TWO_ALIKE, sql, about, example),
  ),
  other(
    'and',
    'and',
    'booleans',
    'x AND y',
    'True if both operands are true; false if one is false; otherwise null.',
    'Price gt 5 and Stock gt 0',
  ),
  other(
    'or',
    'or',
    'booleans',
    'x OR y',
    'True if at least one operand is true; false if both are false; otherwise null.',
    "City eq 'Wien' or City eq 'Graz'",
  ),
]

/** How tightly each operator binds, by its name. */
export const precedences: ReadonlyMap<string, number> = new Map(
  operatorTable.map(({ name, group }) => [name, PRECEDENCE[group]]),
)

/** Names of the operators that stand between two operands. */
export const INFIX_NAMES: readonly string[] = operatorTable
  .map((row) => row.name)
  .filter((name) => name !== '-' && name !== 'not' && name !== 'in')

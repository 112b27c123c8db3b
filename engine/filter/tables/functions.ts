import { decimal, TYPE, type ValueType } from '../check/value-types.ts'
import { atom, call, caseWhen, comparison, type Sql } from '../sql/fragments.ts'
import { momentFunctions } from './moment-functions.ts'
import { type FunctionRow, forKinds, of } from './overloads.ts'
import { textFunctions } from './text-functions.ts'

/** Every function. Adding one is adding a row to one of the lists. */
export const functionTable: readonly FunctionRow[] = [
  ...textFunctions,
  ...momentFunctions,
  rounding('round', 'The nearest whole number; halves go away from zero.', 'round(Price) eq 10', {
    trinoDouble: roundInTrino,
  }),
  rounding('floor', 'The next whole number below.', 'floor(Price) eq 9'),
  rounding('ceiling', 'The next whole number above.', 'ceiling(Price) eq 10', { duck: 'ceil' }),
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

/** Trino's round() takes the sign from -0. */
function roundInTrino(x: Sql): Sql {
  return caseWhen([[comparison(x, '=', atom('0E0')), x]], call('round', x))
}

function rounding(
  name: string,
  about: string,
  example: string,
  { duck = name, trinoDouble = (x) => call(duck, x) }: { duck?: string; trinoDouble?: (x: Sql) => Sql } = {},
): FunctionRow {
  const whole = ([type]: readonly ValueType[]) =>
    type?.kind === 'decimal' ? decimal(type.precision, 0, type.floating) : TYPE.double
  const overloads = [
    of(['integer'], TYPE.integer, ([x]) => x!),
    of(['decimal'], whole, ([x]) => call(duck, x!)),
    ...forKinds(['double'], TYPE.double, (x) => call(duck, x), trinoDouble),
  ]
  return { name, args: ['number'], overloads, about, example }
}

import { afterAll, beforeAll, expect, test } from 'vitest'
import { Table } from './support/table.ts'

/** Whole numbers in JSON, among them neighbours that are the same double. */
const NUMBERS = [
  ['9007199254740991', '9007199254740992', '9007199254740993', '9007199254740994', '-9007199254740993'],
  ['9223372036854775807', '9223372036854775808', '18446744073709551615', '-18446744073709551616'],
  ['12345678901234567890122', '12345678901234567890123', '99999999999999999999999', '0', '5', '-5'],
  [`1${'0'.repeat(36)}`, `${'9'.repeat(37)}`, `1${'0'.repeat(40)}`],
].flat()
const OTHERS = ['{}', '{"m":"x"}', '{"m":true}', '{"m":null}']
const OPERATORS = {
  eq: (a: bigint, b: bigint) => a === b,
  ne: (a: bigint, b: bigint) => a !== b,
  gt: (a: bigint, b: bigint) => a > b,
  ge: (a: bigint, b: bigint) => a >= b,
  lt: (a: bigint, b: bigint) => a < b,
  le: (a: bigint, b: bigint) => a <= b,
}
const LARGE = NUMBERS.filter((text) => BigInt(text) ** 2n >= 2n ** 106n && text.length <= 37)

let table: Table
beforeAll(async () => {
  table = await Table.create({ doc: 'json' }, [
    ...NUMBERS.map((number) => [`{"m":${number}}`]),
    ...OTHERS.map((other) => [other]),
  ])
})
afterAll(() => table[Symbol.asyncDispose]())

function rowsWhere(condition: (value: bigint) => boolean): number[] {
  return NUMBERS.flatMap((number, row) => (condition(BigInt(number)) ? [row] : []))
}

/** The rows that have no number, which are unequal to each. */
const none = OTHERS.map((_, index) => NUMBERS.length + index)

test.each(
  Object.entries(OPERATORS),
)('a value in json is compared with whole numbers exactly: %s', async (operator, holds) => {
  const rest = operator === 'ne' ? none : []
  for (const literal of LARGE) {
    const wanted = rowsWhere((value) => holds(value, BigInt(literal)))
    expect(await table.rows(`doc/m ${operator} ${literal}`), literal).toEqual([...wanted, ...rest])
    const flipped = rowsWhere((value) => holds(BigInt(literal), value))
    expect(await table.rows(`${literal} ${operator} doc/m`), literal).toEqual([...flipped, ...rest])
  }
})

test('and found in lists', async () => {
  for (const literal of LARGE) {
    const wanted = rowsWhere((value) => value === BigInt(literal) || value === 5n)
    expect(await table.rows(`doc/m in (${literal}, 5)`), literal).toEqual(wanted)
    const others = rowsWhere((value) => value !== BigInt(literal))
    expect(await table.rows(`not (doc/m in (${literal}))`), literal).toEqual([...others, ...none])
  }
})

test('beside which texts are refused, as beside other numbers', async () => {
  for (const list of ["9007199254740993, 'a'", "5, 'a'"]) {
    await expect(table.rows(`doc/m in (${list})`)).rejects.toThrow(
      "can't find 'a' (string) equal to doc/m (double)",
    )
  }
  await expect(table.rows("doc/m in ('a', 9007199254740993)")).rejects.toThrow('equal to doc/m (string)')
})

import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Cell, Table } from './support/table.ts'

/** Texts whose order by UTF-16 units is another one than by code points, prefixes of each other, and control characters. */
const LETTERS = [
  '',
  '\u0001',
  '\u0002',
  'a',
  'é',
  '\ud7ff',
  '\ufb01',
  '\uffff',
  '\u{10000}',
  '😀',
  '\u{10ffff}',
]
const TEXTS = LETTERS.flatMap((first) => LETTERS.map((second) => first + second)).filter(
  (text, at, all) => all.indexOf(text) === at,
)
const NUMBERS = Array.from({ length: 300 }, (_, at) => (at - 150) * 7)

let table: Table
beforeAll(async () => {
  table = await Table.create(
    { s: 'string', i: 'integer', d: 'double', p: 'decimal(12,2)' },
    Array.from({ length: 300 }, (_, at): Cell[] => {
      const number = String(NUMBERS[at]!)
      return [TEXTS[at] ?? null, number, `${number}.5`, `${number}.25`]
    }),
  )
})
afterAll(() => table[Symbol.asyncDispose]())

/** The rows of a column that a list holds, and those that it doesn't, as a condition of the table and as a value. */
async function found(name: string, items: readonly string[]) {
  const member = `${name} in (${items.join(',')})`
  return {
    in: await table.rows(member),
    value: await table.rows(`(${member}) eq true`),
    out: await table.rows(`not (${member})`),
  }
}

const quoted = (text: string) => `'${text}'`
const rows = Array.from({ length: 300 }, (_, at) => at)

test('a long list finds each of its texts, and no other, in whatever order it names them', async () => {
  const texts = TEXTS.map((_, at) => at)
  for (const step of [1, 2, 3]) {
    const held = texts.filter((at) => at % step === 0)
    const items = held.map((at) => quoted(TEXTS[at]!)).reverse()
    expect(await found('s', items)).toEqual({
      in: held,
      value: held,
      out: rows.filter((at) => !held.includes(at)),
    })
  }
})

test.each([
  ['i', (at: number) => String(NUMBERS[at]!)],
  ['d', (at: number) => `${NUMBERS[at]!}.5`],
  ['p', (at: number) => `${NUMBERS[at]!}.25`],
] as const)('a long list of numbers finds each of them, and no other: %s', async (name, text) => {
  const held = rows.filter((at) => at % 3 === 0)
  const out = rows.filter((at) => at % 3 !== 0)
  expect(await found(name, held.map(text).reverse())).toEqual({ in: held, value: held, out })
})

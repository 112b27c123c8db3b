import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Asked } from './support/asked.ts'

const TEXTS = ['blue', 'green', 'blue green', 'AND', 'OR', 'NOT', 'AND OR', "Daniel's", 'a)/top(1']

let table: Asked
beforeAll(async () => {
  table = await Asked.create(
    { T: 'string' },
    TEXTS.map((text) => [text]),
  )
})
afterAll(() => table[Symbol.asyncDispose]())

const found = async (options: { search: string } | { apply: string }) =>
  (await table.answer(options)).rows.map(([text]) => text)

const without = (...texts: string[]) => TEXTS.filter((text) => !texts.includes(text))

// As in the cases of the standard's ABNF, section 5.1.7.
describe('AND, OR and NOT are operators between what is searched for, and words elsewhere', () => {
  test.each([
    ['blue green', ['blue green']],
    ['blue AND green', ['blue green']],
    ['blue OR green', ['blue', 'green', 'blue green']],
    ['blue NOT green', ['blue']],
    ['NOT blue', without('blue', 'blue green')],
    ['NOT (blue green)', without('blue green')],
    ['NOT NOT', without('NOT')],
    ['AND', ['AND', 'AND OR']],
    ['OR', ['OR', 'AND OR']],
    ['NOT', ['NOT']],
    ['AND OR', ['AND OR']],
    ['OR AND', ['AND OR']],
    ['AND OR NOT', ['AND', 'NOT', 'AND OR']],
    ['(NOT blue) green', ['green']],
    ['AND AND OR', ['AND OR']],
  ])('%s', async (search, texts) => {
    expect(await found({ search })).toEqual(texts)
    expect(await found({ apply: `search(${search})` })).toEqual(texts)
  })
})

test.each([
  'blue AND',
  'blue OR',
  '"blue" AND',
  '(blue) OR',
  '(blue AND)',
  'blue NOT green OR',
])('an operator after which nothing is searched for is an error: %s', async (search) => {
  await expect(found({ search })).rejects.toThrow(/, where a word is expected/)
})

test.each([
  ["Daniel's", ["Daniel's"]],
  ["'blue'", ['blue', 'blue green']],
  [`'"green" "blu'`, ['blue green']],
  ["'Daniel''s'", ["Daniel's"]],
  ["blue 'green'", ['blue green']],
  ['"AND OR"', ['AND OR']],
])('%s is searched for without its quotes', async (search, texts) => {
  expect(await found({ search })).toEqual(texts)
})

test('a parenthesis in quotes does not end search() in $apply', async () => {
  expect(await found({ apply: 'search(")/top(1")/top(9)' })).toEqual(['a)/top(1'])
})

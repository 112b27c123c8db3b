import { expect, test } from 'vitest'
import { Grammar } from '../../engine/filter/syntax/grammar.ts'
import { defineLexer } from '../../engine/filter/syntax/tokens.ts'

// A filter's first use skips these checks, because they take as long as all the rest of it.
test('chevrotain finds no fault in the patterns of the tokens', () => {
  expect(() => defineLexer(false)).not.toThrow()
})

test('chevrotain finds no fault in the grammar', () => {
  expect(() => new Grammar(false)).not.toThrow()
})

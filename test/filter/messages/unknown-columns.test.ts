import { expect, test } from 'vitest'
import { refusal } from '../support/refusal.ts'

test('unknown columns are listed at once, each once, in the order found, before anything else is said', () => {
  const error = refusal('Foo eq 5 and contains(bar, 5) and "so \'what\'" in (1) and Foo gt Name add 1')
  expect(error.code).toBe('invalid_columns')
  expect(error.message).toBe(
    "Filter contains invalid column(s): Foo, bar, so 'what'. Column names are case-sensitive.",
  )
  expect(error.details).toEqual({
    option: '$filter',
    columns: ['Foo', 'bar', "so 'what'"],
    position: 0,
  })
})

test.each([
  ['Name eq "O\'Neil"', "Double quotes are for names; a text stands in single ones: 'O''Neil'."],
  ['contains(Name, "a")', "Double quotes are for names; a text stands in single ones: 'a'."],
  ['"Nome" eq 1', 'Did you mean Name?'],
  ['name eq 1', 'Did you mean Name?'],
  ['Stcok eq 1', 'Did you mean Stock?'],
  ['"S-t-o" eq 1', 'Did you mean Stock?'],
  ['Qwertyuiop eq 1', ''],
  ['Name eq Doritos', "If it is a text, write 'Doritos'."],
  ['Name eq NULL', 'The literal is written null.'],
  ['Rate lt -inf', 'The literal is written INF.'],
  ['Seen gt now sub P1D', 'now() is a function: write its parentheses, too.'],
  ['Made add P1D gt Made', "A duration is written duration'P1D'."],
])('no column, but often taken for something else: %s', (filter, hint) => {
  const [, behind] =
    /^Filter contains invalid column\(s\): .*\. Column names are case-sensitive\. ?(.*)$/.exec(
      refusal(filter).message,
    )!
  expect(behind).toBe(hint)
})

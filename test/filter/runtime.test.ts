import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runtimeFilterError } from '../../engine/filter/index.ts'
import { Table } from './support/table.ts'

let table: Table
beforeAll(async () => {
  table = await Table.create(
    {
      i: 'integer',
      j: 'integer',
      d: 'double',
      p: 'decimal(38,0)',
      s: 'string',
      day: 'date',
      at: 'timestamptz',
    },
    [
      ['9223372036854775807', '0', '0', `${'9'.repeat(38)}`, 'abc', '2024-01-01', '2024-01-01 00:00:00+00'],
      ['-9223372036854775808', '-1', '1e300', '1', 'abc', '2024-01-01', '2024-01-01 00:00:00+00'],
    ],
  )
})
afterAll(() => table[Symbol.asyncDispose]())

async function failure(filter: string): Promise<string> {
  try {
    return `passes ${await table.rows(filter)}`
  } catch (error) {
    const failed = runtimeFilterError(error)
    if (!failed) throw error
    expect(failed.code).toBe('filter_failed')
    expect(failed.cause).toBe(error)
    return failed.message
  }
}

describe('a filter that fails on a row says so in a sentence', () => {
  test.each([
    [
      'i add j mul 2 sub 1 gt j',
      /^The filter fails on a row: the (addition|subtraction) -?\d+ [+-] -?\d+ gives a number that is too large\.$/,
    ],
    [
      'i mul i gt j',
      /^The filter fails on a row: the multiplication -?\d+ \* -?\d+ gives a number that is too large\.$/,
    ],
    ['-i gt j', /^The filter fails on a row: a negation gives a number that is too large\.$/],
    ['i div -1 gt j', /^The filter fails on a row: a division gives a number that is too large\.$/],
    ['p add p gt 5', /^The filter fails on a row: an addition gives a number that is too large\.$/],
    ['p mul p gt 5', /^The filter fails on a row: a multiplication gives a number that is too large\.$/],
    [
      'i div j gt 5',
      /^The filter divides by zero: the right operand of the operator at position 3 is 0 in a row\.$/,
    ],
    [
      'i mod j gt 5',
      /^The filter divides by zero: the right operand of the operator at position 3 is 0 in a row\.$/,
    ],
    ['p div j gt 5', /^The filter divides by zero: /],
    ['i mod d gt 5', /^The filter divides by zero: /],
    ["duration'P1D' div j gt duration'PT0S'", /^The filter divides by zero: /],
    ['4 div (1 sub 1) eq j', /^The filter divides by zero: /],
    [
      "substring(s, j) eq 'x'",
      /^The filter fails: substring\(\) at position 1 got a negative start in a row\.$/,
    ],
    [
      "substring(s, 0, j) eq 'x'",
      /^The filter fails: substring\(\) at position 1 got a negative length in a row\.$/,
    ],
    [
      "at add duration'P106751990D' gt at",
      /^The filter fails on a row: the result is a date or moment outside of the range that can be represented\.$/,
    ],
    [
      "day add duration'P106751990D' gt day",
      /^The filter fails on a row: the result is a date or moment outside of the range that can be represented\.$/,
    ],
    [
      "duration'P1D' mul d gt duration'PT0S'",
      /^The filter fails on a row: the result is a number that is too large for its type\.$/,
    ],
    [
      "duration'P1D' mul i gt (at sub day)",
      /^The filter fails on a row: the multiplication 86400000000 \* -?\d+ gives a number that is too large\.$/,
    ],
  ])('%s', async (filter, message) => {
    expect(await failure(filter)).toMatch(message)
  })
})

test('the sentence is found when the error comes wrapped or as a text', () => {
  const message = 'Out of Range Error: Overflow in addition of INT64 (1 + 9223372036854775807)!'
  const sentence =
    'The filter fails on a row: the addition 1 + 9223372036854775807 gives a number that is too large.'
  expect(runtimeFilterError(new Error(`Error: ${message}`))?.message).toBe(sentence)
  expect(runtimeFilterError(message)?.message).toBe(sentence)
})

test('a json value with half a character, as older programs stored it, fails on its row', async () => {
  const documents = await Table.create({ doc: 'json' }, [['{"x":1}'], ['{"x":"\\ud800"}']])
  try {
    expect(await documents.rows('doc/x eq 1').catch(runtimeFilterError)).toHaveProperty(
      'message',
      'The filter fails on a row: a string in its json value has half a character.',
    )
  } finally {
    await documents[Symbol.asyncDispose]()
  }
})

test('a pattern that only the matcher refuses is the filter’s failure, too', () => {
  expect(runtimeFilterError('Invalid Input Error: invalid character class range: \\p{Garay}')?.message).toBe(
    'The filter fails: the pattern of matchesPattern() names the script Garay, which is not supported.',
  )
  expect(runtimeFilterError('Invalid Input Error: pattern too large - compile failed')?.message).toBe(
    'The filter fails: the pattern of matchesPattern() is too large. Repeat fewer things in it.',
  )
})

test('errors that are no filter’s are left alone', () => {
  for (const message of [
    'IO Error: No files found that match the pattern "x.parquet"',
    'INTERRUPT Error: Interrupted!',
    'Out of Memory Error: could not allocate block of size 256.0 KiB',
    'Binder Error: Referenced column "c9" not found in FROM clause!',
    'Invalid Input Error: Attempting to execute an unsuccessful or closed pending query result',
  ]) {
    expect(runtimeFilterError(new Error(message))).toBeUndefined()
  }
  expect(runtimeFilterError(undefined)).toBeUndefined()
  expect(runtimeFilterError({ message: 'Overflow in addition' })).toBeUndefined()
})

test('a row that fails does no harm where another condition has dropped it', async () => {
  expect(await table.rows('i div j gt 5 and j gt 0')).toEqual([])
  expect(await table.rows('j lt -1 and substring(s, j) eq s')).toEqual([])
  expect(await table.rows('i lt 5 and i sub 1 lt 5 and i gt 0')).toEqual([])
  expect(await table.rows('not (i ge 5 or i lt 0 or i mul i gt 5)')).toEqual([])
  expect(await table.rows('case(j gt 0: i div j, true: 7) eq 7')).toEqual([0, 1])
})

test('a sum that its type can not hold is a number that is too large', async () => {
  const sum = 'SELECT CAST(sum(x) AS BIGINT) FROM (VALUES (9223372036854775807), (1)) t(x)'
  expect(await table.query(sum).catch(runtimeFilterError)).toHaveProperty(
    'message',
    'The filter fails on a row: the result is a number that is too large for its type.',
  )
})

describe('days of years that have no moments', () => {
  let far: Table
  beforeAll(async () => {
    far = await Table.create({ n: 'integer', day: 'date', at: 'timestamptz' }, [
      ['1', '2024-01-01', '2024-01-01 00:00:00+00'],
      ['2', '5000000-01-01', 'infinity'],
    ])
  })
  afterAll(() => far[Symbol.asyncDispose]())

  test.each(['day lt at', 'day eq at', 'hour(day) eq 0', 'time(at) eq 00:00'])('%s', async (filter) => {
    const failed = await far.rows(filter).catch(runtimeFilterError)
    expect(failed).toHaveProperty(
      'message',
      'The filter fails on a row: the result is a date or moment outside of the range that can be represented.',
    )
  })

  test.each([
    ['day eq at and n mod 2 eq 1', [0]],
    ['day ne at or n mod 2 eq 0', [1]],
    ['not (n eq 2 or day lt at)', [0]],
  ])('do no harm where something else decides: %s', async (filter, rows) => {
    expect(await far.rows(filter)).toEqual(rows)
  })
})

test('texts that are known to be null before a row is read match nothing', async () => {
  const nothing = "concat('x',cast(cast('',Edm.Guid),Edm.String))"
  for (const filter of [
    `contains('x',${nothing})`,
    `contains(${nothing},s)`,
    `not (contains(s,${nothing}))`,
    `startswith(${nothing},'x')`,
    `length(${nothing}) eq 1`,
  ]) {
    expect(await failure(filter)).toBe('passes ')
  }
})

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { EngineError } from '../../engine/errors.ts'
import { LIMITS } from '../../engine/filter/errors.ts'
import { compileFilter } from '../../engine/filter/index.ts'
import { Table } from './support/table.ts'

let table: Table
beforeAll(async () => {
  table = await Table.create(
    {
      i: 'integer',
      d: 'double',
      p: 'decimal(10,2)',
      s: 'string',
      b: 'boolean',
      at: 'timestamptz',
      day: 'date',
    },
    [
      ['1', '1.5', '2.5', 'a', 'true', '2020-01-01 00:00:00+00', '2020-01-01'],
      [null, null, null, null, null, null, null],
    ],
  )
})
afterAll(() => table[Symbol.asyncDispose]())

function refusal(filter: string): EngineError {
  try {
    compileFilter(filter, table.columns)
  } catch (error) {
    return error as EngineError
  }
  throw new Error('not refused')
}

/** Applies `wrap` so many times. */
function nested(times: number, wrap: (inner: string) => string, innermost: string): string {
  let text = innermost
  for (let level = 0; level < times; level++) text = wrap(text)
  return text
}

function series(count: number, item: (index: number) => string, between: string): string {
  return Array.from({ length: count }, (_, index) => item(index)).join(between)
}

describe('large filters work', () => {
  test('100,000 characters', async () => {
    expect(await table.rows(`s ne '${'x'.repeat(100_000)}'`)).toEqual([0, 1])
  })

  test.each([
    ['integers', `i in (${series(20_000, (index) => `${index}`, ',')})`, [0]],
    ['texts', `s in (${series(20_000, (index) => `'${index}'`, ',')}, 'a')`, [0]],
    ['values of a function', `tolower(s) in (${series(20_000, (index) => `'${index}'`, ',')}, 'a')`, [0]],
    [
      'moments',
      `at in (${series(3_000, (index) => `2020-01-01T00:${String(index % 60).padStart(2, '0')}:00Z`, ',')})`,
      [0],
    ],
  ])('a list of thousands of %s', async (_, filter, rows) => {
    expect(await table.rows(filter)).toEqual(rows)
  })

  test.each([
    ['or', series(5_000, (index) => `i eq ${index}`, ' or '), [0]],
    ['and', series(5_000, (index) => `i ne ${index + 5}`, ' and '), [0, 1]],
    ['and within or', series(3_000, (index) => `i eq ${index} and s eq 'a'`, ' or '), [0]],
    ['or within and', series(2_000, (index) => `(i ne ${index + 5} or s eq 'x')`, ' and '), [0, 1]],
    ['or of functions', series(2_000, (index) => `contains(s, 'x${index}')`, ' or '), []],
  ])('a chain of thousands: %s', async (_, filter, rows) => {
    expect(await table.rows(filter)).toEqual(rows)
  })
})

describe('as deep as the limit allows, DuckDB follows', () => {
  const depth = LIMITS.nesting - 2
  test.each([
    ['parentheses', nested(depth, (x) => `(${x})`, 'b')],
    ['not', 'not '.repeat(depth) + 'b'],
    ['minus', `${'-'.repeat(depth)}(i) lt 5`],
    ['a chain of additions', `${nested(depth, (x) => `${x} add 1`, 'i')} gt 5`],
    ['additions to the right', `${nested(depth, (x) => `1 add (${x})`, 'i')} gt 5`],
    ['decimals', `${nested(100, (x) => `${x} add 0.1`, 'p')} gt 5`],
    ['divisions of decimals', `${nested(depth, (x) => `${x} div 2.5`, 'p')} lt 5`],
    ['functions', `${nested(depth, (x) => `tolower(${x})`, 's')} eq 'a'`],
    ['substrings', `${nested(depth, (x) => `substring(${x}, 0)`, 's')} eq 'a'`],
    ['equality', nested(depth, (x) => `(${x}) eq b`, 'b')],
    ['order', nested(depth, (x) => `(${x}) gt b`, 'b')],
    ['conditions', nested(depth, (x) => `case(${x}: b, true: false)`, 'b')],
    ['moments', `${nested(depth, (x) => `${x} add duration'PT1S'`, 'at')} gt 2000-01-01`],
    ['and, or by turns', nested(70, (x) => `(${x} and b or b)`, 'b')],
    ['guards', nested(40, (x) => `(${x} and i gt 1 and 1 div i gt 0)`, 'b')],
  ])('%s', async (_, filter) => {
    await expect(table.rows(filter)).resolves.toBeInstanceOf(Array)
  })
})

describe('beyond the limits is a clear refusal', () => {
  test.each([
    ['100,000 parentheses', '('.repeat(100_000)],
    ['98,000 closed parentheses', `${'('.repeat(49_000)}b${')'.repeat(49_000)}`],
    ['90,000 minus signs', `${'-'.repeat(90_000)}5 eq 5`],
    ['20,000 times not', `${'not '.repeat(20_000)}b`],
    ['functions in each other', nested(10_000, (x) => `tolower(${x})`, 's')],
    ['an endless sum', series(20_000, () => '1', ' add ')],
    ['equality after equality', series(20_000, () => 'b', ' eq ')],
    ['lists after lists', `b${' in (true)'.repeat(10_000)}`],
  ])('%s', (_, filter) => {
    const error = refusal(filter)
    expect(error.code).toBe('filter_too_complex')
    expect(error.message).toMatch(/^The filter nests deeper than 150 levels\./)
  })

  test('too long', () => {
    expect(refusal(`s eq '${'x'.repeat(2_000_000)}'`).message).toBe(
      'The filter has 2000007 characters; the limit is 2000000.',
    )
  })

  test('too many words', () => {
    expect(refusal(series(300_001, () => 'b', ' ')).message).toBe(
      'The filter has 300001 tokens; the limit is 300000.',
    )
  })

  test('SQL that would multiply', () => {
    const error = refusal(`${nested(60, (x) => `i div (${x})`, 'i')} gt 5`)
    expect(error.code).toBe('filter_too_complex')
    expect(error.message).toMatch(/grows too long as SQL/)
    // Up to here DuckDB plans in about a second what it would for half a minute beyond.
    const ten = compileFilter(`${nested(10, (x) => `i mod (${x})`, 'i')} gt 5`, table.columns)
    expect(ten.sql.length).toBeLessThan(LIMITS.sql)
    expect(refusal(`${nested(14, (x) => `i mod (${x})`, 'i')} gt 5`).code).toBe('filter_too_complex')
  })

  test('numbers without end', () => {
    expect(refusal(`i gt ${'9'.repeat(5000)}`).message).toBe(
      'At position 6: a number of 5000 characters; the limit is 1000.',
    )
    expect(compileFilter('i lt 1e999999999', table.columns).sql).toBe('"c0" IS NOT NULL')
    expect(compileFilter('i lt 1e-999999999', table.columns).sql).toBe(`"c0" <= CAST('0' AS BIGINT)`)
  })
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Field, parseCsv } from '../../server/console/src/csv.ts'

function write(rows: readonly (readonly Field[])[]): string {
  const field = (value: Field) => (value === null ? '' : `"${value.replaceAll('"', '""')}"`)
  return rows.map((row) => `${row.map(field).join(',')}\n`).join('')
}

describe('reading csv in the browser', () => {
  it('tells nothing from the empty text', () => {
    expect(parseCsv('a,b\n,""\n')).toEqual([
      ['a', 'b'],
      [null, ''],
    ])
  })

  it('takes every line end, and a last line without one', () => {
    expect(parseCsv('a\r\nb\rc\nd')).toEqual([['a'], ['b'], ['c'], ['d']])
  })

  it('counts the field behind a delimiter that ends the text', () => {
    expect(parseCsv('a,b\n1,')).toEqual([
      ['a', 'b'],
      ['1', null],
    ])
  })

  it('refuses broken quotes', () => {
    expect(() => parseCsv('a\n1\n"x')).toThrow('broken quotes')
    expect(() => parseCsv('a\n"x"y\n')).toThrow('broken quotes')
  })

  it('reads back whatever is written', () => {
    const cell = fc.option(fc.string({ unit: 'binary', maxLength: 12 }))
    const table = fc
      .integer({ min: 1, max: 5 })
      .chain((width) =>
        fc.array(fc.array(cell, { minLength: width, maxLength: width }), { minLength: 1, maxLength: 6 }),
      )
    fc.assert(
      fc.property(table, (rows) => {
        expect(parseCsv(write(rows))).toEqual(rows)
      }),
      { numRuns: 50 },
    )
  })
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Failure } from '../../../connectors/failures.ts'
import { parseCsv } from '../../../connectors/sdmx/text/text.ts'

describe('CSV', () => {
  it('reads quotes, doubled quotes and line breaks inside quotes', () => {
    expect(parseCsv('A,B\n"x, y","say ""hi""\nthere"\n')).toMatchObject({
      columns: ['A', 'B'],
      rows: [['x, y', 'say "hi"\nthere']],
    })
  })

  it.each([
    ['LF', 'A,B\n1,2\n3,4'],
    ['CRLF and a last line break', 'A,B\r\n1,2\r\n3,4\r\n'],
    ['a byte order mark', '\ufeffA,B\n1,2\n3,4\n'],
    ['semicolons', 'A;B\n1;2\n3;4\n'],
    ['tabs', 'A\tB\n1\t2\n3\t4\n'],
  ])('reads %s', (_, text) => {
    expect(parseCsv(text)).toMatchObject({
      columns: ['A', 'B'],
      rows: [
        ['1', '2'],
        ['3', '4'],
      ],
    })
  })

  it('drops a blank row, which is how the IMF says that there is nothing', () => {
    expect(parseCsv('A,B,C\n,,\n').rows).toEqual([])
    expect(parseCsv('A,B,C\n\n').rows).toEqual([])
  })

  it('keeps empty cells, the last one too', () => {
    expect(parseCsv('A,B,C\n1,,\n,,3\n').rows).toEqual([
      ['1', '', ''],
      ['', '', '3'],
    ])
  })

  it.each([
    ['inside quotes', 'A,B\n1,"2'],
    ['inside a row', 'A,B\n1,2\n3'],
    ['before the header', ''],
    ['by text behind quotes', 'A,B\n"1"x,2\n'],
  ])('refuses a body that is cut off or broken %s', (_, text) => {
    expect(() => parseCsv(text)).toThrow(Failure)
  })

  it('reads back whatever is written with quotes', () => {
    const cell = fc.string({ unit: fc.constantFrom('a', '"', ',', ';', '\n', '\r', ' ', 'é') })
    const table = fc.array(fc.tuple(fc.constant('x'), cell, cell), { minLength: 1, maxLength: 5 })
    const written = (text: string) => `"${text.replaceAll('"', '""')}"`
    fc.assert(
      fc.property(table, (rows) => {
        const text = ['A,B,C', ...rows.map((row) => row.map(written).join(','))].join('\r\n')
        expect(parseCsv(text).rows).toEqual(rows)
      }),
    )
  })
})

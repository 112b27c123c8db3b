import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { column, declared, useBench } from './support/helper.ts'

const bench = useBench()

describe('csv', () => {
  test('null is an empty field, the empty string two quotes', async () => {
    const { values } = await bench.read('csv', 'a,b\n,""\nx,\n')
    expect(values).toEqual([
      [null, ''],
      ['x', null],
    ])
  })

  test('quotes, commas and line ends inside of quotes are text; nothing is trimmed', async () => {
    const { values } = await bench.read('csv', 'a,b\n"say ""hi""","x,\r\ny\nz"\n  p ,\tq\n')
    expect(values).toEqual([
      ['say "hi"', 'x,\r\ny\nz'],
      ['  p ', '\tq'],
    ])
  })

  test.each([
    ['LF', 'a,b\n1,2\n3,4\n'],
    ['CR LF', 'a,b\r\n1,2\r\n3,4\r\n'],
    ['no line end at the end', 'a,b\n1,2\n3,4'],
    ['both kinds of line ends', 'a,b\r\n1,2\n3,4\r\n'],
    ['a byte order mark', '\ufeffa,b\n1,2\n3,4\n'],
    ['blank lines', 'a,b\n\n1,2\n\n3,4\n\n'],
    ['quotes around everything', '"a","b"\n"1","2"\n"3","4"\n'],
  ])('reads a file with %s', async (_, text) => {
    const { shape, values } = await bench.read('csv', text)
    expect(shape).toEqual(['a: integer', 'b: integer'])
    expect(values).toEqual([
      ['1', '2'],
      ['3', '4'],
    ])
  })

  test.each([
    ['LF', '\n'],
    ['CR LF', '\r\n'],
  ])('line ends in quoted names do not count where lines end with %s', async (_, end) => {
    for (const name of ['\r', '\n', 'x\r\ny']) {
      const { columns, values } = await bench.read('csv', `"${name}",b${end}"${name}",1${end}p,2${end}`)
      expect(columns[0]?.name).toBe(name)
      expect(values).toEqual([
        [name, '1'],
        ['p', '2'],
      ])
    }
  })

  test('reads tabs as tsv', async () => {
    const { shape, values } = await bench.read('tsv', 'a\tb,c\n1\t"x\ty"\n')
    expect(shape).toEqual(['a: integer', 'b,c: string'])
    expect(values).toEqual([['1', 'x\ty']])
  })

  test('a blank line is a null in a file with one column', async () => {
    const { values } = await bench.read('csv', 'a\n1\n\n3\n\n')
    expect(values).toEqual([['1'], [null], ['3'], [null]])
  })

  test('a header alone makes an empty table', async () => {
    const { shape, rows, values } = await bench.read('csv', 'a,b\n')
    expect(shape).toEqual(['a: string', 'b: string'])
    expect(rows).toBe(0)
    expect(values).toEqual([])
  })

  test('column names may differ by case alone and hold anything', async () => {
    const names = ['a', 'A', ' a', 'x "y"', 'line\nbreak', '😀', 'select * from t; --', "o'clock", 'c0']
    const header = names.map((name) => `"${name.replaceAll('"', '""')}"`).join(',')
    const { columns, values } = await bench.read(
      'csv',
      `\ufeff${header}\n${names.map((_, i) => i).join(',')}\n`,
    )
    expect(columns.map(({ name }) => name)).toEqual(names)
    expect(values).toEqual([names.map((_, i) => String(i))])
  })

  test('a field of megabytes is read', async () => {
    const long = 'x'.repeat(5_000_000)
    const { rows, part } = await bench.read('csv', `a,b\n1,${long}\n2,"${long}"\n`)
    expect(rows).toBe(2)
    expect(await bench.query(`SELECT strlen(c1) FROM '${part}'`)).toEqual([[5_000_000n], [5_000_000n]])
  })

  test('a part that comes of it is described: rows, size and width', async () => {
    const { rows, bytes, rawBytes } = await bench.read('csv', 'a,b,c\n1,abc,2.5\n2,é,\n')
    expect(rows).toBe(2)
    expect(bytes).toBeGreaterThan(100)
    expect(rawBytes).toBe(2 * 8 + (3 + 2) + 2 * 8)
  })
})

describe('csv that is refused', () => {
  test.each([
    ['an empty file', '', 'The file is empty: its first line must be a header with the column names.'],
    ['a name that is missing', 'a,,b\n', 'Column 2 has no name.'],
    ['a name that stands twice', 'a,b,a\n', 'Columns 1 and 3 have the same name "a".'],
    [
      'a row too short',
      'a,b\n1,2\n3\n',
      'Row 2: it has 1 of the 2 fields of the header: "3". Remove the line if it is a note.',
    ],
    [
      'a row too long',
      'a,b\n1,2\n3,4,5\n',
      'Row 2: it has more fields than the 2 of the header; the first that is too many is "5". ' +
        'Quote fields that contain the delimiter; names=index is for rows that begin with a name of their own.',
    ],
    ['an open quote', 'a,b\n1,"2\n3,4\n', 'Row 1: a quoted field is not closed.'],
    [
      'text behind a closing quote',
      'a,b\n1,"2"x\n',
      'Row 1: there is text after the closing quote of field 2; a quote inside a quoted field is doubled.',
    ],
    [
      'a blank before a quote',
      'a,b\n1, "2"\n',
      'Row 1: there is a blank before an opening quote; the quote has to come first in its field.',
    ],
    [
      'a blank before a quote in the header',
      'a, "b"\n1,2\n',
      'Header, column 2: there is a blank before an opening quote; the quote has to come first in its field.',
    ],
    [
      'a lone carriage return',
      'a,b\n1\r,2\n',
      'Row 1: there is a carriage return that no line feed follows; lines end with LF or CR LF, and fields that hold ' +
        'one are quoted.',
    ],
    [
      'another delimiter',
      'a;b\n1;2\n',
      'The header "a;b" has no comma, but it has ";": fields of csv are separated by commas, unless delimiter=; says otherwise.',
    ],
  ])('%s', async (_, text, message) => {
    expect(await bench.refusal('csv', text, { options: { dialect: 'standard' } })).toBe(
      `400 invalid_upload: ${message}`,
    )
  })

  test.each([
    ['tsv', 'a;b\n1;2\n', {}, 'has no tab, but it has ";". Is delimiter=; meant?'],
    ['csv', 'a\tb\n1\t2\n', { delimiter: ';' }, 'has no ";", but it has "\\t". Is delimiter=tab meant?'],
    ['csv', '"a|b"\n1\n', { delimiter: ';' }, 'has no ";", but it has "|". Is delimiter=| meant?'],
  ] as const)('another delimiter than that of %s %j with %j', async (format, text, options, message) => {
    const given = { options: { dialect: 'standard', ...options } } as const
    expect(await bench.refusal(format, text, given)).toContain(message)
  })

  test('binary that is no base64, and what would be', async () => {
    const given = { declared: declared({ b: 'binary' }) }
    expect(await bench.refusal('csv', 'b\nT0s=\nT0s\n', given)).toBe(
      '400 invalid_upload: Row 2, column "b": "T0s" is not a binary. Bytes are sent in base64, padded with =.',
    )
  })

  test('bytes that are no UTF-8, with row and column', async () => {
    const text = Buffer.concat([
      Buffer.from('a,b\né,1\n'),
      Buffer.from([0x78, 0xe9, 0x78]),
      Buffer.from(',2\n'),
    ])
    expect(await bench.refusal('csv', text)).toBe(
      '400 invalid_upload: Row 2, column "a": the text is not valid UTF-8. Other parts of it are: save all of ' +
        'the file as UTF-8.',
    )
    expect(await bench.refusal('csv', Buffer.from('a,b\n1,2\n', 'utf16le'))).toMatch(/^400 /)
    expect(await bench.refusal('csv', Buffer.from('\ufeffa,b\n1,2\n', 'utf16le'))).toBe(
      '400 invalid_upload: The file is UTF-16: say so with encoding=utf-16, or save it as UTF-8. dialect=auto would ' +
        'read the file (encoding=utf-16).',
    )
    expect(await bench.refusal('csv', gzipSync('a,b\n1,2\n'))).toMatch(
      /The file is compressed with gzip: unpack it/,
    )
  })

  test('a value that its declared type does not take, with row, column, value and type', async () => {
    const given = { declared: declared({ price: 'double' }) }
    expect(await bench.refusal('csv', 'id,price\n1,1.5\n2,\n3,abc\n', given)).toBe(
      '400 invalid_upload: Row 3, column "price": "abc" is not a double.',
    )
    const comma = await bench.refusal('csv', 'id,price\n1,"999,5"\n', given)
    expect(comma).toMatch(
      /^400 invalid_upload: Row 1, column "price": "999,5" is not a double\. Write 999\.5\./,
    )
    // This may be a comma between thousands.
    expect(await bench.refusal('csv', 'id,price\n1,"1,500"\n', given)).not.toContain('Write')
    expect(await bench.refusal('csv', 'id,price\n1," "\n', given)).toBe(
      '400 invalid_upload: Row 1, column "price": " " is not a double.',
    )
  })

  test('a missing value in a column that is not nullable', async () => {
    const given = { declared: [{ name: 'a', type: 'integer', nullable: false } as const] }
    expect(await bench.refusal('csv', 'a,b\n1,2\n,3\n', given)).toBe(
      '400 invalid_upload: Row 2, column "a": a value is missing, but the column is not nullable.',
    )
  })
})

describe('csv into a dataset that has columns', () => {
  const existing = [column('id', 'integer'), column('name', 'string'), column('when', 'timestamp')]

  test('columns are matched by name; those that are missing are null', async () => {
    const { columns, values } = await bench.read('csv', 'name,id\n007,1\n', { existing })
    expect(columns).toEqual(existing)
    expect(values).toEqual([['1', '007', null]])
  })

  test('a column that the dataset does not have is a conflict, also by case alone', async () => {
    expect(await bench.refusal('csv', 'id,Name\n1,x\n', { existing })).toBe(
      '409 column_conflict: The upload has a column "Name" that the dataset does not have. Column names are ' +
        'case-sensitive; declare new columns first, append with columns=add, or replace columns and rows together (columns=replace).',
    )
  })

  test('a missing column is a conflict where it is not nullable', async () => {
    const strict = [column('id', 'integer', { nullable: false }), column('name', 'string')]
    expect(await bench.refusal('csv', 'name\nx\n', { existing: strict })).toBe(
      '409 column_conflict: The upload has no column "id", which the dataset wants and which is not nullable.',
    )
  })

  test('a declared type that differs from the dataset is a conflict', async () => {
    expect(await bench.refusal('csv', 'id\n1\n', { existing, declared: declared({ id: 'string' }) })).toBe(
      '409 column_conflict: Column "id" is string in the upload; the dataset wants integer. Both can be replaced ' +
        'together (columns=replace).',
    )
  })
})

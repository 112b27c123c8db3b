import { describe, expect, test } from 'vitest'
import { column, declared, useBench } from '../support/helper.ts'

const bench = useBench()

describe('JSON', () => {
  test('rows as objects: columns are the keys in the order of their first appearance', async () => {
    const { shape, values } = await bench.read(
      'json',
      '{"rows":[{"b":1,"a":"x"},{"a":"y","c":true},{"c":null,"b":2},{}]}',
    )
    expect(shape).toEqual(['b: integer', 'a: string', 'c: boolean'])
    expect(values).toEqual([
      ['1', 'x', null],
      [null, 'y', 'true'],
      ['2', null, null],
      [null, null, null],
    ])
  })

  test.each([
    [
      'before',
      '{"columns":[{"name":"x","type":"integer"},{"name":"y","type":"double"}],"rows":[[1,2],[3,"NaN"]]}',
    ],
    [
      'behind',
      '{"rows":[[1,2],[3,"NaN"]],"columns":[{"name":"x","type":"integer"},{"name":"y","type":"double"}]}',
    ],
  ])('rows as arrays, their columns declared %s the rows', async (_, text) => {
    const { shape, values } = await bench.read('json', text)
    expect(shape).toEqual(['x: integer', 'y: double'])
    expect(values).toEqual([
      ['1', '2.0'],
      ['3', 'nan'],
    ])
  })

  test('rows as arrays belong to the columns of the dataset, or to those that are named', async () => {
    const existing = [column('a', 'integer'), column('b', 'string')]
    expect((await bench.read('json', '{"rows":[[1,"x"]]}', { existing })).values).toEqual([['1', 'x']])
    const named = '{"columns":[{"name":"b","type":"string"},{"name":"a","type":"integer"}],"rows":[["x",1]]}'
    expect((await bench.read('json', named, { existing })).values).toEqual([['1', 'x']])
  })

  test('an array of rows alone, and an empty one into a dataset', async () => {
    expect((await bench.read('json', ' [ {"a" : 1} , {"a":2} ] ')).values).toEqual([['1'], ['2']])
    expect((await bench.read('json', '[]', { existing: [column('a', 'integer')] })).rows).toBe(0)
    expect((await bench.read('ndjson', '', { existing: [column('a', 'integer')] })).rows).toBe(0)
  })

  test('all digits of integers and decimals survive', async () => {
    const { shape, values } = await bench.read(
      'json',
      '{"columns":[{"name":"d","type":"decimal(38,8)"},{"name":"i","type":"integer"}],"rows":[{"d":123456789012345678901234567890.12345678,"i":9223372036854775807},{"d":"-0.00000001","i":"-9223372036854775808"}]}',
    )
    expect(shape).toEqual(['d: decimal(38,8)', 'i: integer'])
    expect(values).toEqual([
      ['123456789012345678901234567890.12345678', '9223372036854775807'],
      ['-0.00000001', '-9223372036854775808'],
    ])
    expect((await bench.read('ndjson', '{"a":18446744073709551615}\n')).shape).toEqual(['a: decimal(38,0)'])
  })

  test('strings stay strings, but for dates and for NaN among numbers', async () => {
    const { shape } = await bench.read(
      'ndjson',
      '{"a":"1","b":"2020-01-01","c":"2020-01-01T10:00:00Z","d":"NaN","e":"true","f":"2020-01-01","g":"10:00"}\n{"d":1.5,"f":"soon"}\n',
    )
    expect(shape).toEqual([
      'a: string',
      'b: date',
      'c: timestamptz',
      'd: double',
      'e: string',
      'f: string',
      'g: time',
    ])
  })

  test('nested values make a JSON column, also where text came first', async () => {
    const { shape, values } = await bench.read(
      'ndjson',
      '{"a":"x\\"y"}\n{"a":{"k":[1.10,"é"]}}\n{"a":3}\n{"a":null}\n',
    )
    expect(shape).toEqual(['a: json'])
    expect(values).toEqual([['"x\\"y"'], ['{"k":[1.10,"é"]}'], ['3'], [null]])
  })

  test('escapes, delimiters and line ends in strings', async () => {
    const texts = ['', ' ', '"', 'a,b', 'x\ny\r\nz', '\t', '\u0000', '\u001f', '😀', 'é\u2028', '\\']
    const { values } = await bench.read('json', JSON.stringify(texts.map((t, n) => ({ n, t }))))
    expect(values.map(([, text]) => text)).toEqual(texts)
  })

  test('keys may differ by case alone and hold anything', async () => {
    const names = ['a', 'A', 'x "y"', 'line\nbreak', '😀', 'drop table t', '\\']
    const { columns, values } = await bench.read(
      'json',
      JSON.stringify([Object.fromEntries(names.map((name, i) => [name, i]))]),
    )
    expect(columns.map(({ name }) => name)).toEqual(names)
    expect(values).toEqual([names.map((_, i) => String(i))])
  })

  test('a column that turns up in the last of many rows', async () => {
    const rows = Array.from({ length: 60_000 }, (_, index) => `{"a":${index}}`)
    const { shape, rows: count, values } = await bench.read('ndjson', `${rows.join('\n')}\n{"z":"é","a":1}`)
    expect(shape).toEqual(['a: integer', 'z: string'])
    expect(count).toBe(60_001)
    expect(values.at(-1)).toEqual(['1', 'é'])
    expect(values[59_999]).toEqual(['59999', null])
  })

  test('a byte order mark and blank lines', async () => {
    expect((await bench.read('ndjson', '\ufeff{"a":1}\r\n\r\n{"a":2}')).values).toEqual([['1'], ['2']])
    expect((await bench.read('json', '\ufeff[{"a":1}]')).values).toEqual([['1']])
  })
})

test.each([
  '{"data":[{"a":1},{"a":2}]}',
  '{"value":[{"a":1},{"a":2}]}',
  '{"@odata.context":"x","value":[{"a":1},{"a":2}],"@odata.count":2}',
])('rows are read under the keys of services: %s', async (text) => {
  expect((await bench.read('json', text)).values).toEqual([['1'], ['2']])
})

describe('JSON that is refused', () => {
  test.each([
    ['nothing', 'json', '', 'Byte 0: the file ends where {"rows": […]} or an array of rows is due.'],
    ['a number', 'json', '5', 'Byte 0: expected {"rows": […]} or an array of rows, found "5".'],
    [
      'an unknown key',
      'json',
      '{"more":[]}',
      'Unknown key "more"; known are "columns" and "rows". Send the list of rows alone, or as {"rows": [...]}; from ' +
        'pandas with to_json(orient="records").',
    ],
    [
      'a page of OData',
      'json',
      '{"value":[{"a":1}],"@odata.nextLink":"http://x"}',
      'The file is one page of the rows of an OData service: "@odata.nextLink" is the address of the next one. Send the ' +
        'rows of all pages as one list.',
    ],
    [
      'a list as lines',
      'ndjson',
      '[{"a":1},{"a":2}]',
      'Row 1 is an array, but nothing says which columns its values belong to: declare "columns", or send objects; a ' +
        'list of rows is JSON: send it as json.',
    ],
    [
      'lines as JSON',
      'json',
      '{"a":1}\n{"a":2}\n',
      'The file is JSON with one value per line: send it as ndjson.',
    ],
    ['no rows', 'json', '{}', 'The upload has no "rows".'],
    [
      'two times rows',
      'json',
      '{"rows":[{"a":1}],"rows":[]}',
      'The upload has rows twice; the second are under "rows".',
    ],
    [
      'a row that is no row',
      'json',
      '[1]',
      'Row 1, byte 1: expected a row, which is an array or an object, found "1".',
    ],
    [
      'a comma too many',
      'json',
      '[{"a":1},]',
      'Row 2, byte 9: expected a row, which is an array or an object, found "]".',
    ],
    ['no comma', 'json', '[{"a":1 "b":2}]', 'Row 1, byte 8: expected "," or "}", found "\\"".'],
    ['a key twice', 'json', '[{"a":1,"a":2}]', 'Row 1: the key "a" stands twice.'],
    [
      'a number with a leading zero',
      'ndjson',
      '{"a":1}\n{"a":012}',
      'Row 2, byte 13: "012" is not a number.',
    ],
    ['a number without digits', 'ndjson', '{"a":-}', 'Row 1, byte 5: "-" is not a number.'],
    ['a number that ends with a point', 'ndjson', '{"a":1.}', 'Row 1, byte 5: "1." is not a number.'],
    ['a bare word', 'ndjson', '{"a":Non}', 'Row 1, byte 5: expected a value, found "N".'],
    [
      'a line break in a string',
      'ndjson',
      '{"a":"x\ny"}',
      'Row 1, byte 7: expected no control character inside of a string, found "\\n".',
    ],
    [
      'half a character',
      'ndjson',
      '{"a":"\\ud800"}',
      'Row 1, byte 14: a string has an escape sequence that JSON does not know, or half a character.',
    ],
    [
      'half a character in a nested value',
      'ndjson',
      '{"a":{"b":"\\ud83d\\ude00\\ud800"}}',
      'Row 1, byte 5: a nested value is not JSON: a string in it has half a character.',
    ],
    [
      'an unknown escape',
      'ndjson',
      '{"a":"\\x"}',
      'Row 1, byte 10: a string has an escape sequence that JSON does not know, or half a character.',
    ],
    ['an end in the middle', 'json', '{"rows":[{"a":"x', 'Row 1, byte 16: the file ends inside of a string.'],
    ['text behind the end', 'json', '[{"a":1}] x', 'Byte 10: expected the end of the file, found "x".'],
    [
      'broken nesting',
      'ndjson',
      '{"a":[1,}}',
      "Row 1, byte 5: a nested value is not JSON: Unexpected token '}'.",
    ],
    [
      'arrays without columns',
      'json',
      '{"rows":[[1]]}',
      'Row 1 is an array, but nothing says which columns its values belong to: declare "columns", or send objects.',
    ],
    [
      'no columns at all',
      'json',
      '{"rows":[]}',
      'The upload has no columns: send rows with at least one key, or declare columns.',
    ],
    ['an empty key', 'json', '[{"":1}]', 'Column 1 has no name.'],
  ] as const)('%s', async (_, format, text, message) => {
    expect(await bench.refusal(format, text)).toBe(`400 invalid_upload: ${message}`)
  })

  test('a row that is too long or too short for its columns', async () => {
    const text = '{"columns":[{"name":"a","type":"integer"}],"rows":[[1],[1,2]]}'
    expect(await bench.refusal('json', text)).toBe('400 invalid_upload: Row 2 has 2 values for 1 column.')
  })

  test('columns that are malformed, or not those of the dataset', async () => {
    expect(await bench.refusal('json', '{"columns":[{"name":"a","type":"text"}],"rows":[]}')).toMatch(
      /^400 invalid_columns_manifest: Column "a" has an unknown type "text"/,
    )
    const existing = [column('a', 'integer')]
    expect(
      await bench.refusal('json', '{"columns":[{"name":"a","type":"double"}],"rows":[]}', { existing }),
    ).toBe(
      '409 column_conflict: Column "a" is double in the upload; the dataset wants integer. Both can be replaced together (columns=replace).',
    )
    expect(await bench.refusal('ndjson', '{"a":1}\n{"A":2}', { existing })).toBe(
      '409 column_conflict: Row 2 has a column "A" that the dataset does not have. Column names are case-sensitive; declare new columns first, append with columns=add, or replace columns and rows together (columns=replace).',
    )
    expect(await bench.refusal('ndjson', '{"b":1}', { declared: declared({ a: 'integer' }) })).toBe(
      '400 invalid_upload: Row 1 has a key "b" that is not among the declared columns.',
    )
  })

  test('values that are not of their type', async () => {
    const existing = [column('a', 'integer'), column('b', 'string'), column('c', 'date', { nullable: false })]
    expect(await bench.refusal('ndjson', '{"a":1.5,"c":"2020-01-01"}', { existing })).toBe(
      '400 invalid_upload: Row 1, column "a": "1.5" is not an integer.',
    )
    expect(await bench.refusal('ndjson', '{"b":{"x":1},"c":"2020-01-01"}', { existing })).toBe(
      '400 invalid_upload: Row 1, column "b": "{\\"x\\":1}" is not a string.',
    )
    expect(await bench.refusal('ndjson', '{"a":1}', { existing })).toBe(
      '400 invalid_upload: Row 1, column "c": a value is missing, but the column is not nullable.',
    )
  })

  test.each([
    ['binary', '1234', ' Bytes are sent as text in base64.'],
    ['binary', 'true', ' Bytes are sent as text in base64.'],
    ['uuid', '12345678901234567890123456789012', ' A uuid is sent as text.'],
  ] as const)('numbers and booleans are no %s, even with the right characters: %s', async (type, value, hint) => {
    const given = { existing: [column('a', type)] }
    for (const row of [`{"a":${value}}`, `{"a": ${value} }`]) {
      expect(await bench.refusal('ndjson', `{"a":null}\n${row}\n`, given)).toBe(
        `400 invalid_upload: Row 2, column "a": "${value}" is not a ${type}.${hint}`,
      )
    }
    expect((await bench.read('ndjson', `{"a":"${value}"}`, given)).rows).toBe(1)
  })

  test('bytes that are no UTF-8', async () => {
    const text = Buffer.concat([Buffer.from('{"a":1}\n{"a":"'), Buffer.from([0xe9]), Buffer.from('"}')])
    expect(await bench.refusal('ndjson', text)).toBe('400 invalid_upload: Row 2 is not valid UTF-8.')
  })
})

test.each([
  ['NaN'],
  ['-Infinity'],
  ['nan'],
  ['[1,NaN]'],
])('%s, as programs write numbers that JSON does not have, is refused with what to send', async (value) => {
  expect(await bench.refusal('ndjson', `{"a":1}\n{"a":${value}}\n`)).toMatch(
    /^400 invalid_upload: Row 2, byte 13: .*JSON has no NaN and no Infinity: send null, or the texts "NaN", "INF" and "-INF"\.$/,
  )
})

test('a column of values of several kinds is text with a reason, and one of texts or nested values has none', async () => {
  const rows = [
    ...['{"mixed":1,"flag":true,"text":"x","nested":1}', '{"mixed":"2,5","flag":1,"text":"y","nested":"x"}'],
    '{"mixed":3,"flag":2,"text":"5","nested":[1]}',
  ]
  const { shape, reasons } = await bench.read('ndjson', rows.join('\n'))
  expect(shape).toEqual(['mixed: string', 'flag: string', 'text: string', 'nested: json'])
  expect(reasons).toEqual([
    { row: 2, value: '2,5', above: 'integer' },
    { row: 2, value: '1', above: 'boolean' },
    undefined,
    undefined,
  ])
})

test.each(['"x: y"', '5', 'true'])('columns that are no list: %s', async (columns) => {
  expect(await bench.refusal('json', `{"columns":${columns},"rows":[{"a":1}]}`)).toBe(
    '400 invalid_upload: "columns" has to be a list of columns.',
  )
})

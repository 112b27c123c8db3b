import { gzipSync, zstdCompressSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { dateReader } from '../../engine/ingest/csv/syntax.ts'
import { column, declared, useBench } from './support/helper.ts'

const bench = useBench()

describe('csv of other programs', () => {
  test('of a German spreadsheet', async () => {
    const text =
      'Größe;Preis;Tag;Text\r\n1,5;"-2,25";03.02.2020;a,b\r\nNA;1e3;03.02.2020 7:05;"say ""x"", y"\r\n'
    const { shape, values } = await bench.read('csv', Buffer.from(text, 'latin1'), {
      options: { delimiter: ';', decimal: ',', encoding: 'latin1', nulls: ['NA', '-'], dates: 'DD.MM.YYYY' },
    })
    expect(shape).toEqual(['Größe: double', 'Preis: double', 'Tag: timestamp', 'Text: string'])
    expect(values).toEqual([
      ['1.5', '-2.25', '2020-02-03 00:00:00', 'a,b'],
      [null, '1000.0', '2020-02-03 07:05:00', 'say "x", y'],
    ])
  })

  test.each([true, false])('UTF-16, big-endian: %s', async (big) => {
    const bytes = Buffer.from('\ufeffa\tb\n1\té😀\n', 'utf16le')
    const { values } = await bench.read('tsv', big ? bytes.swap16() : bytes, {
      options: { encoding: 'utf-16' },
    })
    expect(values).toEqual([['1', 'é😀']])
  })

  test('without a header, and with the nameless column of R', async () => {
    const bare = await bench.read('csv', '1,x\n2,"y\nz"', { options: { header: 'absent' } })
    expect(bare.shape).toEqual(['column1: integer', 'column2: string'])
    expect(bare.values).toEqual([
      ['1', 'x'],
      ['2', 'y\nz'],
    ])
    const named = {
      options: { header: 'absent' as const },
      declared: declared({ n: 'integer', s: 'string' }),
    }
    expect((await bench.read('csv', '1,x\n', named)).shape).toEqual(['n: integer', 's: string'])
    const r = await bench.read('csv', '"","n"\n"1",5\n', { options: { names: 'index' } })
    expect(r.shape).toEqual(['index: integer', 'n: integer'])
  })

  test('texts stay as they are, even if some look like numbers or dates', async () => {
    const options = { delimiter: ';', decimal: ',', dates: 'DD.MM.YYYY' } as const
    const text = 'size;day;price;id\n10,5;31.12.2024;1,5;7\nXL;31.13.2024;2;1,0\n'
    const { shape, values } = await bench.read('csv', text, { options })
    expect(shape).toEqual(['size: string', 'day: string', 'price: double', 'id: double'])
    expect(values).toEqual([
      ['10,5', '31.12.2024', '1.5', '7.0'],
      ['XL', '31.13.2024', '2.0', '1.0'],
    ])
    const existing = [column('price', 'double'), column('size', 'string')]
    const into = await bench.read('csv', 'size;price\n" 3,5";1,5\n', { options, existing })
    expect(into.values).toEqual([['1.5', ' 3,5']])
  })

  test('a day that is in no calendar is told as the file has it', async () => {
    const options = { dates: 'DD.MM.YYYY' } as const
    const text = (day: string) => `day\n29.02.2024\n${day}\n`
    for (const day of ['30.02.2024', '29.02.2023', '31.04.2024', '00.01.2024', '01.13.2024', '29.02.1900']) {
      expect((await bench.read('csv', text(day), { options })).shape, day).toEqual(['day: string'])
      const refusal = bench.refusal('csv', text(day), { options, existing: [column('day', 'date')] })
      expect(await refusal).toContain(`Row 2, column "day": "${day}" is not a date`)
    }
    for (const day of ['29.02.2000', '31.12.0099', '30.04.1900'])
      expect((await bench.read('csv', text(day), { options })).shape, day).toEqual(['day: date'])
  })

  test('numbers with a point are none where numbers have a comma', async () => {
    const options = { delimiter: ';', decimal: ',' } as const
    const text = 'pieces;price;version\n1.234;1,5;1.10\n2,5;3;2.0\n'
    const { shape, values } = await bench.read('csv', text, { options })
    expect(shape).toEqual(['pieces: string', 'price: double', 'version: string'])
    expect(values).toEqual([
      ['1.234', '1.5', '1.10'],
      ['2,5', '3.0', '2.0'],
    ])
    for (const given of [
      { existing: [column('pieces', 'double'), column('price', 'double'), column('version', 'string')] },
      { declared: declared({ pieces: 'decimal(10,3)' }) },
    ]) {
      expect(await bench.refusal('csv', text, { options, ...given })).toBe(
        '400 invalid_upload: Row 1, column "pieces": "1.234" has a point, but decimal=, says that numbers have a comma. ' +
          'If it is between thousands, add thousands=. as well.',
      )
    }
    const grouped = { options: { ...options, thousands: '.' } as const, existing: [column('a', 'double')] }
    expect(await bench.refusal('csv', 'a\n12.5\n', grouped)).toContain('that is not between thousands')
  })

  test('blank lines are no rows, and lines with a field too few or too many are named', async () => {
    const options = { delimiter: ';', decimal: ',', nulls: ['NA'] } as const
    expect((await bench.read('csv', 'a;b\n\n1,5;x\n\r\nNA;y\n\n', { options })).values).toEqual([
      ['1.5', 'x'],
      [null, 'y'],
    ])
    for (const [text, error] of [
      ['a;b\n\n1,5;x\n\n1.234;y\n', 'Row 2, column "a": "1.234" has a point, but'],
      ['a;b\n1,5;2\n\n1;2;3.5\n', 'Row 2: it has more fields than the 2 of the header'],
      ['a;b\n1,5;2\nNA\n3;4\n', 'Row 2: it has 1 of the 2 fields of the header: "NA".'],
      ['a;b\n1,5;2\n1,5\n3;4\n', 'Row 2: it has 1 of the 2 fields of the header: "1,5".'],
      ['a;b\n1,5;2\n""\n3;4\n', 'Row 2: it has 1 of the 2 fields of the header: "\\"\\"".'],
      ['a;b;c\n1,5;2;3\n2,5;y\n', 'Row 2: it has 2 of the 3 fields of the header: "2,5;y".'],
      ['a;b\n1,5;2\n1;2;3,5\n', 'the first that is too many is "3,5".'],
      ['a;b\n\n1,5;2\n\n"x"y;1\n', 'Row 2: there is text after the closing quote of field 1;'],
    ] as const) {
      const given = { options, ...(text.includes('.234') && { declared: declared({ a: 'double' }) }) }
      expect(await bench.refusal('csv', text, given)).toContain(error)
    }
  })

  test('a row that is too short does not make a title of the header', async () => {
    const options = { dialect: 'auto' } as const
    expect(await bench.refusal('csv', 'a;b;c\n1,5;x;2\n2,5;y\n', { options })).toContain(
      'Row 2: it has 2 of the 3 fields of the header: "2,5;y".',
    )
    // With commas, all rows below the header would have two fields.
    expect(await bench.refusal('csv', 'a;b;c\n1,5;x\n2,5;y\n3;z;2,5\n', { options })).toContain(
      'Row 1: it has 2 of the 3 fields of the header: "1,5;x".',
    )
  })

  test('values above one that has a comma are no titles', async () => {
    const options = { dialect: 'auto' } as const
    expect(await bench.refusal('csv', 'price\n1\n2\n1.234,50\n', { options })).toContain(
      'Row 3: it has more fields than the 1 of the header',
    )
  })

  test('numbers that look like days stay numbers in columns of numbers', async () => {
    const options = { dates: 'YYYYMMDD' } as const
    for (const given of [
      { declared: declared({ n: 'integer', p: 'decimal(10,1)' }) },
      { existing: [column('n', 'integer'), column('p', 'decimal(10,1)'), column('day', 'date')] },
    ]) {
      const { values } = await bench.read('csv', 'n,p,day\n20240131,20240131,20240131\n', {
        options,
        ...given,
      })
      expect(values).toEqual([['20240131', '20240131.0', '2024-01-31']])
    }
  })

  test('quoted texts are no nulls', async () => {
    const { values } = await bench.read('csv', 'a,b\nNULL,"NULL"\n', { options: { nulls: ['NULL'] } })
    expect(values).toEqual([[null, 'NULL']])
  })

  test.each([
    ['windows-1250', 'a3f3648f', 'ŁódŹ'],
    ['windows-1251', 'cceef1eae2e0', 'Москва'],
    ['macintosh', '6361668e', 'café'],
    ['gb18030', 'b1b1bea9', '北京'],
    ['big5', 'bb4fa55f', '臺北'],
    ['euc-kr', 'bcadbfef', '서울'],
  ] as const)('text may be %s', async (encoding, bytes, text) => {
    const body = Buffer.concat([Buffer.from('a\n'), Buffer.from(bytes, 'hex'), Buffer.from('\n')])
    expect((await bench.read('csv', body, { options: { encoding } })).values).toEqual([[text]])
  })

  test.each([
    [
      'windows-1252',
      'créèrent, Liège, où, Noël, œuvre; Größe, Äpfel; España, pequeñín; caffè, lunedì, gioventù',
    ],
    [
      'windows-1252',
      'São Paulo, corações, Magalhães, irmãs; rødgrød, Bærum; història, això; Þingvellir, bær',
    ],
    ...[
      'Děčín, Plzeň',
      'Jiří, Písek',
      'dům',
      'Český Krumlov',
      'Košice',
      'Gdańsk, Poznań',
      'Kőszeg',
      'Brăila',
    ].map((text) => ['windows-1250', text] as const),
    ...['Kočevje', 'Tomić'].map((text) => ['windows-1250', text] as const),
  ] as const)('%s of %s is guessed only where words show it', async (encoding, text) => {
    const letters = new Map(
      Array.from({ length: 256 }, (_, byte) => [new TextDecoder(encoding).decode(Buffer.of(byte)), byte]),
    )
    for (const written of [text, text.toUpperCase().replace('ß', 'SS')]) {
      const body = Buffer.from(`a\n"${written}"\n`.split('').map((letter) => letters.get(letter)!))
      const options = { dialect: 'auto' } as const
      if (encoding === 'windows-1252') {
        expect((await bench.read('csv', body, { options })).values).toEqual([[written]])
      } else
        expect(await bench.refusal('csv', body, { options })).toContain(
          'give its encoding, such as windows-1250',
        )
    }
  })

  test('UTF-8 is not read as another encoding', async () => {
    const body = Buffer.from(`a\n${'x'.repeat(1_048_570)}\né\n`)
    for (const encoding of ['latin1', 'windows-1252', 'shift_jis'] as const) {
      expect(await bench.refusal('csv', body, { options: { encoding } })).toBe(
        `400 invalid_upload: The file is UTF-8, not ${encoding}: add encoding=utf-8.`,
      )
    }
    const options = { encoding: 'windows-1252' } as const
    expect((await bench.read('csv', Buffer.from('a\nx\n'), { options })).values).toEqual([['x']])
    const mixed = Buffer.from('a\nÃ©\né\n', 'latin1')
    expect((await bench.read('csv', mixed, { options })).values).toEqual([['Ã©'], ['é']])
  })

  test('errors count the same rows', async () => {
    const given = { options: { delimiter: ';' }, declared: declared({ a: 'integer', b: 'string' }) }
    expect(await bench.refusal('csv', 'a;b\n1;2\nx;"3\n4"\n', given)).toBe(
      '400 invalid_upload: Row 2, column "a": "x" is not an integer.',
    )
    expect(await bench.refusal('csv', 'a;b\n1;"2"x\n', given)).toBe(
      '400 invalid_upload: Row 1: there is text after the closing quote of field 2; a quote inside a quoted field is doubled.',
    )
    expect(await bench.refusal('csv', 'a;b\n1;"2\n', given)).toBe(
      '400 invalid_upload: Row 1: a quoted field is not closed.',
    )
    expect(
      await bench.refusal('csv', Buffer.from('a\né\n', 'latin1'), { options: { encoding: 'utf-8' } }),
    ).toBe(
      '400 invalid_upload: The file is not UTF-8. It looks like windows-1252: add encoding=windows-1252, or save the file ' +
        'as UTF-8.',
    )
  })

  test('what our own csv refuses is refused in every dialect', async () => {
    const given = { options: { delimiter: ';' } }
    expect(await bench.refusal('csv', 'a;b\r1;2\n', given)).toMatch(
      /^400 invalid_upload: Header: there is a carriage return that no line feed follows;/,
    )
    expect(await bench.refusal('csv', 'a;b\n1;2\r3;4\n', given)).toMatch(
      /^400 invalid_upload: Row 1: there is a carriage return that no line feed follows;/,
    )
    expect(await bench.refusal('csv', 'a;b\n1; "2"\n', given)).toMatch(
      /^400 invalid_upload: Row 1: there is a blank before an opening quote;/,
    )
    const { values } = await bench.read('csv', 'a;b\n1;"2\r3"\n', given)
    expect(values).toEqual([['1', '2\r3']])
  })

  test('bytes that are no text are not taken for UTF-16 because some are zero', async () => {
    const options = { dialect: 'auto' } as const
    expect((await bench.read('csv', 'a,b\nx\0y,2\n', { options })).values).toEqual([['x\0y', '2']])
    const refusal = (file: Buffer) => bench.refusal('csv', file, { options })
    expect(await refusal(gzipSync('a,b\n1,2\n'))).toMatch(
      /^400 invalid_upload: The file is compressed with gzip: unpack it, send it as zip, or declare it/,
    )
    expect(await refusal(zstdCompressSync('a,b\n1,2\n'))).toMatch(
      /^400 invalid_upload: The file is compressed with zstd: send it as zip, or unpack it with unzstd/,
    )
    const picture = Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x05\0\0\0\x03\x20', 'latin1')
    expect(await bench.refusal('csv', picture, { options })).not.toContain('UTF-16')
  })

  test('the advice about an encoding is right', async () => {
    const wide = Buffer.from('a,b\n1,é\n', 'utf16le')
    expect(await bench.refusal('csv', wide)).toMatch(
      /It looks like utf-16: add encoding=utf-16, .* dialect=auto would read the file \(encoding=utf-16\)\.$/,
    )
    const cut = Buffer.from('\ufeffa,b\n1,2\n', 'utf16le').subarray(0, -1)
    expect(await bench.refusal('csv', cut, { options: { encoding: 'utf-16' } })).toBe(
      '400 invalid_upload: The file is not UTF-16LE. Give the encoding that it has, or save it as UTF-8.',
    )
  })

  test('thousands and decimal places need different separators', async () => {
    for (const options of [{ thousands: '.' }, { thousands: ',', decimal: ',' }] as const) {
      expect(await bench.refusal('csv', 'a\n1.234\n', { options })).toBe(
        '400 invalid_option: thousands and decimal must differ: with thousands=. numbers have decimal=, as well.',
      )
    }
  })

  test('an error says what dialect=auto would have read', async () => {
    expect(await bench.refusal('csv', 'a;b\n1,5;2\n')).toContain(
      'dialect=auto would read the file (delimiter=%3B&decimal=%2C).',
    )
    const short = await bench.refusal('csv', 'a;b\n1,5;2\n3\n')
    expect(short).not.toContain('dialect=auto')
    expect(await bench.refusal('csv', 'a;b\n1;2\n', { options: { dialect: 'standard' } })).not.toContain(
      'auto',
    )
    expect(await bench.refusal('csv', 'a, "b"\n1,2\n')).not.toContain('auto')
  })

  test('blank lines above the header are found', async () => {
    const options = { dialect: 'auto' } as const
    for (const [text, values] of [
      ['\n\r\na,b\n\n1,2\n', [['1', '2']]],
      ['\ufeff\nn\n1\n', [['1']]],
      ['\nReport\n\na;b\n1;x\n', [['1', 'x']]],
    ] as const)
      expect((await bench.read('csv', text, { options })).values).toEqual(values)
  })

  test('lines above the header are left out, whatever is in them', async () => {
    const text = 'a "title"\n"half a quote\n\nn,s\n1,x\n'
    expect((await bench.read('csv', text, { options: { skip: 3 } })).values).toEqual([['1', 'x']])
    expect(await bench.refusal('csv', 'a\n', { options: { skip: 3 } })).toBe(
      '400 invalid_upload: The file has fewer lines than the 3 of skip.',
    )
    const long = `${'x'.repeat(200_000)}\nn\n1\n`
    expect((await bench.read('csv', long, { options: { skip: 1 } })).shape).toEqual(['n: integer'])
  })

  test('names that are missing or occur twice are numbered', async () => {
    const options = { names: 'number' } as const
    const { shape } = await bench.read('csv', 'a,,a,a_2,a,column_2\n1,2,3,4,5,6\n', { options })
    expect(shape.map((one) => one.split(':')[0])).toEqual([
      'a',
      'column_2_2',
      'a_3',
      'a_2',
      'a_4',
      'column_2',
    ])
    const trailing = await bench.read('csv', 'a,b,,\n1,2,,\n3,4,,\n', { options })
    expect(trailing.shape).toEqual(['a: integer', 'b: integer'])
    const known = { options, existing: [column('b', 'integer'), column('a', 'integer')] }
    expect((await bench.read('csv', ',,a,b\n,,1,2\n', known)).values).toEqual([['2', '1']])
    expect(await bench.refusal('csv', ',a,b\n,1,2\nx,1,2\n', known)).toMatch(/^409 .*"column_1"/)
    expect((await bench.read('csv', ',a\n"",1\n', { options })).shape[0]).toBe('column_1: string')
    const held = await bench.read('csv', 'a,b,\n1,2,\n3,4,5\n', { options })
    expect(held.shape).toEqual(['a: integer', 'b: integer', 'column_3: integer'])
    expect(await bench.refusal('csv', 'a,b\n1,2,3\n', { options })).toContain('more fields than the 2')
    const r = await bench.read('csv', '"n"\n"1",5\n', { options: { names: 'index' } })
    expect(r.shape).toEqual(['index: integer', 'n: integer'])
    expect((await bench.read('csv', 'a,\n', { options })).shape).toEqual(['a: string'])
  })

  test('symbols around numbers, and texts for true and false', async () => {
    const options = { symbols: ['$', 'EUR', '%'], booleans: ['yes', 'no'], thousands: ',' } as const
    const text = 'p,q,r,b,s\n$5,12.5%,-$3,yes,yes\n"$1,234.50",3 %,EUR -4,no,maybe\n'
    const { shape, values } = await bench.read('csv', text, { options })
    expect(shape).toEqual(['p: double', 'q: double', 'r: integer', 'b: boolean', 's: string'])
    expect(values).toEqual([
      ['5.0', '12.5', '-3', 'true', 'yes'],
      ['1234.5', '3.0', '-4', 'false', 'maybe'],
    ])
    expect(await bench.refusal('csv', 'a\nt\n', { options: { booleans: ['t'] } })).toContain('two texts')
    const blanks = `a\n${' '.repeat(2_000_000)}x\n`
    expect((await bench.read('csv', blanks, { options: { symbols: ['$'] } })).rows).toBe(1)
  })

  test('records that are cut anywhere between two pieces of the file', async () => {
    const line = (n: number) => `${n};"a ""quoted"" text\nof ${'x'.repeat(n % 97)}"\r\n`
    const text = `n;s\r\n${Array.from({ length: 60_000 }, (_, n) => line(n)).join('')}`
    const { rows, values } = await bench.read('csv', text, { options: { delimiter: ';' } })
    expect(rows).toBe(60_000)
    expect(values[59_999]).toEqual(['59999', `a "quoted" text\nof ${'x'.repeat(59_999 % 97)}`])
  })
})

test.each([
  [
    'UTC as BigQuery writes it',
    '2024-01-31 14:30:00 UTC',
    'YYYY-M-D',
    'timestamptz',
    '2024-01-31 14:30:00+00',
  ],
  ['days of SAS', '31JAN2024', 'DDMMMYYYY', 'date', '2024-01-31'],
  ['moments of SAS', '31JAN2024:14:30:00.5', 'DDMMMYYYY', 'timestamp', '2024-01-31 14:30:00.5'],
  ['moments of Stata', '31jan2024 14:30:00', 'DDMMMYYYY', 'timestamp', '2024-01-31 14:30:00'],
  ['moments of Excel in the US', '1/31/2024 2:30 PM', 'M/D/YYYY', 'timestamp', '2024-01-31 14:30:00'],
  ['midnight there', '1/31/2024 12:00:30 AM', 'M/D/YYYY', 'timestamp', '2024-01-31 00:00:30'],
])('dialect=auto reads %s: %s', async (_, text, dates, type, value) => {
  const file = `t,n\n${text},1\n`
  const { shape, values, options } = await bench.read('csv', file, { options: { dialect: 'auto' } })
  expect([shape[0], values[0]?.[0], options]).toEqual([`t: ${type}`, value, { dates }])
  const { shape: given } = await bench.read('csv', file, { options: { dates } })
  expect(given[0]).toBe(`t: ${type}`)
})

test.each([
  '1/31/2024 13:30 PM',
  '1/31/2024 0:30 AM',
  '31JAN2024 UTC',
  '1/2/2024 2:30 PM',
])('what no clock shows, or what may be several days, stays text: %s', async (text) => {
  const { shape } = await bench.read('csv', `t,n\n${text},1\n`, { options: { dialect: 'auto' } })
  expect(shape[0]).toBe('t: string')
})

test('patterns of dates', () => {
  expect(dateReader('M/D/YYYY')('1/12/2020')).toBe('2020-01-12')
  expect(dateReader('M/D/YYYY')('1-12-2020')).toBeUndefined()
  expect(dateReader('D MMM YY')('5 sept. 69')).toBe('2069-09-05')
  expect(dateReader('D.M.YY')('5.1.70')).toBe('1970-01-05')
  expect(dateReader('YYYY.MM.DD')('2020.01.12 23:59:59.5')).toBe('2020-01-12T23:59:59.5')
  for (const pattern of ['', 'YYYY', 'DD.DD.YYYY', 'D.M.YYYYY', 'D.MMMM.YY', 'YYYY-MM-DD(x+)+', 'Y-MM-DD']) {
    expect(() => dateReader(pattern)).toThrow(/dates must be a pattern/)
  }
})

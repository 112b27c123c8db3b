import { describe, expect, test } from 'vitest'
import { READING, toHttp } from '../../engine/options.ts'
import { column, useBench } from './support/helper.ts'

const bench = useBench()
const AUTO = { options: { dialect: 'auto' } } as const

/** What becomes of a file: its columns with types and, for text that may be something else, how it could be read. */
async function readAs(text: string) {
  const { shape, reasons = [], values, options = {} } = await bench.read('csv', text, AUTO)
  const columns = shape.map((one, at) => {
    const { try: first, or } = reasons[at] ?? {}
    return first === undefined ? one : `${one} (${[first, or].filter(Boolean).join(' | ')})`
  })
  const chosen = Object.entries(toHttp(options, READING)).map(([name, value]) => `${name}=${value}`)
  return { columns, values, chosen }
}

describe('dialect=auto takes a null word', () => {
  test.each([
    [
      'country,gdp\nNA,1\nDE,NA\nFR,3',
      [
        ['NA', '1'],
        ['DE', null],
        ['FR', '3'],
      ],
    ],
    [
      'surname,age\nNULL,33\nDoe,NULL',
      [
        ['NULL', '33'],
        ['Doe', null],
      ],
    ],
    [
      'code,n,day\nNone,None,2024-01-02\n-,5,-\n',
      [
        ['None', null, '2024-01-02'],
        ['-', '5', null],
      ],
    ],
    [
      'a,b\nNA,1\nNA,2\n',
      [
        ['NA', '1'],
        ['NA', '2'],
      ],
    ],
    [
      'day,n,t\n2024-01-01, ,a\n  ,2, \n',
      [
        ['2024-01-01', null, 'a'],
        [null, '2', ' '],
      ],
    ],
  ])('only in columns that hold other values, each for itself: %j', async (text, values) => {
    const { values: found, chosen } = await readAs(text)
    expect(found).toEqual(values)
    if (values.some((row) => row.includes(null as never))) expect(chosen).toContain('textNulls=keep')
  })

  test.each([
    'k. A.',
    'k.A.',
    'n.a.',
    '#NV',
    '..',
    ':',
    'n/d',
    'NULL',
    '\\N',
    '#WERT!',
    '<NA>',
  ])('%s', async (word) => {
    const { columns, values } = await readAs(`id,v\n1,2.5\n2,${word}\n`)
    expect([columns, values[1]]).toEqual([
      ['id: integer', 'v: double'],
      ['2', null],
    ])
  })

  test('only without quotes', async () => {
    expect((await readAs('id,v\n1,5\n2,"NA"\n')).values).toEqual([
      ['1', '5'],
      ['2', 'NA'],
    ])
  })

  test('of a column that turns out to be text far below the sample', async () => {
    const rows = Array.from({ length: 3000 }, (_, n) => `${n},NA,${n}`)
    const { values } = await readAs(`id,v,w\n0,1,NA\n${rows.join('\n')}\n9,Windhoek,1\n`)
    expect(values[1]![1]).toBe('NA')
    expect(values[0]![2]).toBeNull()
  })

  test('in an append with the options that were chosen', async () => {
    const { options } = await bench.read('csv', 'country,gdp\nDE,NA\nFR,3\n', AUTO)
    const existing = [column('country', 'string'), column('gdp', 'integer')]
    const later = await bench.read('csv', 'country,gdp\nNA,NA\n', { options: options!, existing })
    expect(later.values).toEqual([['NA', null]])
  })
})

test('dialect=auto leaves out spaces around numbers', async () => {
  const { columns, values, chosen } = await readAs(
    'id,a,b,c,d\n  1, 1.5 ,1, €5, 01\n 10,2,"1,234", €6, 2\n100,NA, 3, €7, 3\n',
  )
  expect(columns.slice(0, 4)).toEqual(['id: integer', 'a: double', 'b: integer', 'c: integer'])
  expect(columns[4]).toBe('d: string')
  expect(values.map((row) => row.join())).toEqual(['1,1.5,1,5, 01', '10,2.0,1234,6, 2', '100,,3,7, 3'])
  expect(chosen).toContain('symbols= ,€')
})

describe('dialect=auto leaves as text, and says how it could be read,', () => {
  test.each([
    ['lists of two', 'id,answers\n1,"1,2"\n2,"3,4"\n3,"2,4"', 'answers: string (decimal=,)'],
    ['lists of codes', 'id,ids\n1,"101,102"\n2,"103,104"', 'ids: string (thousands=, | decimal=,)'],
    [
      'lists of codes of different lengths',
      'id,ids\n1,"101,102"\n2,"103,104,105"',
      'ids: string (thousands=,)',
    ],
    ['lists of codes, some alone', 'id,ids\n1,"101,102"\n2,103', 'ids: string (thousands=, | decimal=,)'],
    ['lists between tabs', 'id\tv\n1\t1,2\n2\t3,4\n', 'v: string (decimal=,)'],
    ['answers in a file with semicolons', 'id;v\n1;1,2\n2;3,4\n3;2,4\n', 'v: string (decimal=,)'],
    ['telephone numbers', 'k,phone\n1,555 123 456\n2,555 987 654', 'phone: string (decimal=,&thousands=%20)'],
    ['different currencies', 'k,v\n1,€5\n2,£6\n3,7', 'v: string'],
    ['a currency in some rows', 'k,v\n1,€5\n2,6\n', 'v: string (symbols=%E2%82%AC)'],
    ['percentages and shares', 'k,v\n1,5%\n2,0.07', 'v: string (symbols=%25)'],
    ['versions', 'sw,ver\na,10.4.11\nb,10.12.22', 'ver: string (dates=D.M.YY)'],
    ['versions with two digits', 'sw,ver\na,10.04.11\nb,12.12.10', 'ver: string (dates=D.M.YY)'],
    ['versions of two numbers', 'sw,ver\na,1.9\nb,1.10\nc,1.11', 'ver: string (decimal=.)'],
    ['versions with commas', 'sw;ver\na;1,9\nb;1,10', 'ver: string (decimal=,)'],
    ['codes like numbers with an exponent', 'k,sku\na,1E5\nb,23e4', 'sku: string (decimal=.)'],
    ['codes, some of digits alone', 'k,hash\na,1234\nb,12e4', 'hash: string (decimal=.)'],
    ['whole numbers that no double is, among fractions', 'k,v\n1,9007199254740993\n2,1.5', undefined],
    [
      'addresses of networks',
      'k,ip\n1,192.168.100.200\n2,192.168.100.201',
      'ip: string (decimal=,&thousands=.)',
    ],
    ['days of either form', 'k,d\n1,01/02/2024\n2,03/04/2024', 'd: string (dates=D/M/YYYY | dates=M/D/YYYY)'],
    [
      'days of either form with hyphens',
      'k,d\n1,01-02-2024\n',
      'd: string (dates=D-M-YYYY | dates=M-D-YYYY)',
    ],
    [
      'days whose year may come first',
      'k,d\n1,13/12/24\n2,14/11/24\n',
      'd: string (dates=D/M/YY | dates=YY/M/D)',
    ],
    [
      'a form of days in one column, another in the next',
      'a,d\n31/12/2024,12/31/2024\n30/11/2024,11/30/2024\n',
      'd: string (dates=M/D/YYYY)',
    ],
    [
      'days of either form next to others',
      'a,d\n31/12/2024,01/02/2024\n30/11/2024,02/03/2024\n',
      'd: string (dates=D/M/YYYY | dates=M/D/YYYY)',
    ],
    [
      'points before three digits',
      'Tag;Umsatz\n1;2.500\n2;13.000\n',
      'Umsatz: string (decimal=,&thousands=. | decimal=.)',
    ],
    ['commas before three digits', 'k;v\n1;2,500\n2;13,000\n', 'v: string (thousands=, | decimal=,)'],
    [
      'commas in quotes before three digits',
      'k,v\n1,"2,500"\n2,"13,000"\n',
      'v: string (thousands=, | decimal=,)',
    ],
    [
      'an amount with three digits',
      'k,v\n1,"$1,234"\n2,"$5,678"\n',
      'v: string (symbols=%24&thousands=, | symbols=%24&decimal=,)',
    ],
    ['a point where others have commas', 'k;price;v\n1;1,5;1.10\n2;2,25;2.0\n', 'v: string (decimal=.)'],
    [
      'groups of one length in a file with decimal commas',
      'k;price;v\n1;1.234,50;2.500\n2;2,25;3.000\n',
      'v: string (decimal=,&thousands=. | decimal=.)',
    ],
    ['a name like a number', 'k,name\n1,Nan\n2,Nan\n', undefined],
    ['texts that begin with a symbol', 'k,v\n1,$HOME\n2,$PATH\n', undefined],
    ['codes with zeros', 'k,v\n1,007\n2,012\n', undefined],
  ])('%s', async (_, text, last) => {
    const { columns, values } = await readAs(text)
    if (last !== undefined) expect(columns.at(-1)).toBe(last)
    else expect(columns.at(-1)).toMatch(/: string$/)
    // Nothing of the file has changed.
    for (const row of values) expect(text).toContain(row.at(-1))
  })
})

describe('dialect=auto reads, because something shows it,', () => {
  test.each([
    ['thousands with a short number', 'k,v\n1,"1,234"\n2,567', 'v: integer', ['1234', '567']],
    ['millions', 'k,v\n1,"1,234,567"\n2,"22,345"', 'v: integer', ['1234567', '22345']],
    ['thousands with decimal places', 'k,v\n1,"1,234.50"\n2,"5,678.25"', 'v: double', ['1234.5', '5678.25']],
    ['amounts in dollars', 'k,v\n1,"$1,234.50"\n2,-$3', 'v: double', ['1234.5', '-3.0']],
    ['German thousands', 'k;v\n1;1.234,50\n2;12.000,00', 'v: double', ['1234.5', '12000.0']],
    [
      'groups with points where another column has decimal commas',
      'a;v\n1,5;2.500\n2,5;13.000',
      'v: integer',
      ['2500', '13000'],
    ],
    [
      'three decimal places where another column has two',
      'a,v\n1.25,2.500\n2.5,13.000',
      'v: double',
      ['2.5', '13.0'],
    ],
    ['three decimal places, some below one', 'k,v\n1,0.125\n2,13.375', 'v: double', ['0.125', '13.375']],
    ['a space between thousands', 'k;v\n1;2 102 650\n2;52 250', 'v: integer', ['2102650', '52250']],
    ['an apostrophe', "k;v\n1;443'037\n2;134'506", 'v: integer', ['443037', '134506']],
    ['a minus sign', 'k,v\n1,"-1,5"\n2,"2,5"', 'v: double', ['-1.5', '2.5']],
    ['decimal commas with semicolons', 'k;v\n1;1,5\n2;22,25', 'v: double', ['1.5', '22.25']],
    ['prices in quotes', 'k,v\n1,"12,50"\n2,"7,05"', 'v: double', ['12.5', '7.05']],
    ['percentages alone', 'k,v\n1,5%\n2,7.5 %', 'v: double', ['5.0', '7.5']],
    ['days, one above 12', 'k,v\n1,01/02/2024\n2,31/12/2024', 'v: date', ['2024-02-01', '2024-12-31']],
    [
      'months first, one day above 12',
      'k,v\n1,01/02/2024\n2,12/31/2024',
      'v: date',
      ['2024-01-02', '2024-12-31'],
    ],
    ['short years above 31', 'k,v\n1,1.2.99\n2,10.4.98', 'v: date', ['1999-02-01', '1998-04-10']],
    ['short years in two digits', 'k,v\n1,31.12.23\n2,01.01.24', 'v: date', ['2023-12-31', '2024-01-01']],
    [
      'points with a year of four digits',
      'k,v\n1,1.2.2024\n2,3.4.2024',
      'v: date',
      ['2024-02-01', '2024-04-03'],
    ],
    ['places that zeros fill', 'k,v\n1,1.90\n2,1.10', 'v: double', ['1.9', '1.1']],
    ['amounts below zero', 'k,v\n1,-1.9\n2,1.10', 'v: double', ['-1.9', '1.1']],
    ['exponents with a sign', 'k,v\n1,1e+05\n2,2e3', 'v: double', ['100000.0', '2000.0']],
    ['exponents after decimal places', 'k,v\n1,1.5e5\n2,2e3', 'v: double', ['150000.0', '2000.0']],
    ['t and f', 'k,v\n1,t\n2,f', 'v: boolean', ['true', 'false']],
  ])('%s', async (_, text, last, values) => {
    const found = await readAs(text)
    expect([found.columns.at(-1), found.values.map((row) => row.at(-1))]).toEqual([last, values])
  })
})

test.each([
  ['id,,,\n1,2,3,4\n5,6,7,8\n', ['1', '2', '3', '4']],
  ['a,,,\nx,y,z,w\np,q,r,s\n', ['x', 'y', 'z', 'w']],
])('dialect=auto takes no first row with few names for a title without evidence: %j', async (text, first) => {
  const { values, chosen } = await readAs(text)
  expect([values.length, values[0], chosen]).toEqual([2, first, ['names=number']])
})

describe('dialect=auto finds the table', () => {
  test.each([
    ['city,pop\nA,1,234\nB,22,345', 'Row 1: it has more fields than the 2 of the header'],
    ['id,name\n1,Doe, Jane\n2,Roe, Rick', 'Row 1: it has more fields than the 2 of the header'],
    ['id,name\n0,Doe, Jane\n1,Roe, Rick', 'Row 1: it has more fields than the 2 of the header'],
    ['Members\nname,city\nAda,London\nBob,Paris\n', 'Row 1: it has more fields than the 1 of the header'],
    ['a,b\n1,2\n3', 'Row 2: it has 1 of the 2 fields of the header'],
    ['name, city\nAda, Rome\n\nBob, Paris, France\n', 'Row 2: it has more fields than the 2 of the header'],
  ])('or says what is wrong: %j', async (text, message) => {
    const refusal = await bench.refusal('csv', text, AUTO)
    expect(refusal).toContain(message)
    expect(refusal).toMatch(/^400 /)
  })

  test.each([
    ['respondent,1,2,3\nA,4,5,3\nB,2,2,1', 'respondent,1,2,3', 2],
    ['2022,2023\n5,6\n7,8', '2022,2023', 2],
    ['1,2,3,1,2,3\n4,4,4,4,4,4\n', '1,2,3,1_2,2_2,3_2', 1],
    ['1,2024-01-31,a\n2,2024-02-29,b\n', 'column1,column2,column3', 2],
    ['Ada,36.5\nBob,40.1\n', 'column1,column2', 2],
    ['address\n1 Main St, Springfield\n2 Oak Ave, Shelbyville\n3 Elm, Ogdenville', 'address', 3],
    ['Report 2024\nname,n\nAda,1\nBob,2\n', 'name,n', 2],
    ['Members\n\nname,city\nAda,London\n', 'name,city', 1],
    ['"a","b"\n"x",1.5,"u"\n"y",2,"v"\n', 'index,a,b', 2],
    [',a\n0,5\n1,6\n', 'index,a', 2],
    ['id,path\n1,x|y|z\n2,u|v|w', 'id,path', 2],
    ['Rates, by city\ncity,year,n\nBonn,2023,3\nKyiv,2024,5\n', 'city,year,n', 2],
    ['Rates, by city, 2024\n\ncity;year;n\nBonn;2023;3,5\nKyiv;2024;5,25\n', 'city,year,n', 2],
    ['Rates, by city, 2024\n\ncity,year,n\nBonn,2023,3\nKyiv,2024,5\n', 'city,year,n', 2],
    ['name, age\n\nAda,36\nBob,40\n', 'name, age', 2],
  ])('%j', async (text, names, rows) => {
    const { shape, values } = await bench.read('csv', text, AUTO)
    expect([shape.map((one) => one.replace(/: \S+$/, '')).join(), values.length]).toEqual([names, rows])
  })

  test.each([
    ['region,n\nNorth,3\nSouth,4\nTotal,7\n', 2, 1],
    ['region,n\nNorth,3\nSouth,4\nTotal,8\n', 3, undefined],
    ['region,n\nNorth,3\nSouth,4\n\nData as of May\n', 2, 1],
    ['region,n\nNorth,3\nSouth,4\nSource: us\nNote: estimated\n', 2, 2],
    ['shop;n\nA;3\nB;4\n;\n;\nSumme;7\n', 2, 3],
    ['shop;n\nA;3\n;\nB;4\nSumme;7\n', 3, 1],
    ['day;n\n01.02.2024;2,5\n13.02.2024;7,5\nSumme;10,0\n', 2, 1],
    ['k,v\n1,"Hello\n\nbye"\n2,"Hi\n\nbye"\n', 2, undefined],
    ['k,v\n1,a\n2,"Source: x\n"\n', 2, undefined],
    ['a,b\n1,2\n3,4\n\nSource: us; retrieved 2024-01-01\n', 2, 1],
    ['a,b,c\n1,2,x\n3,4,y\nSource: us, May\n', 2, 1],
    ['a,b\n1,2\n3,4\nSource: us, retrieved 2024-01-01\n', 2, 1],
    ['a;b\n1,5;2\n3,25;4\n\nPreliminary; to be revised; again\n', 2, 1],
    ['a,b\nx,1\ny,2\nTotal,3\n\nNote: x, y, z\nSource: us, May\n', 2, 3],
    ['kind,n\nNote: x,5\nSource: y,6\n', 2, undefined],
    ['city,year,n\nBonn,2023,3.5\nNote: x,unknown,2.5\n', 2, undefined],
    ['term,meaning\nNote: x,a remark\nSource: y,an origin\n', 2, undefined],
  ])('without notes and totals below it: %j', async (text, rows, footer) => {
    const { values, options } = await bench.read('csv', text, AUTO)
    expect([values.length, options?.footer]).toEqual([rows, footer])
  })

  test('with the rows at the end that are left out by number', async () => {
    const text = 'a,b\n1,2\n3,4\n\nnote\nof two lines\n'
    expect((await bench.read('csv', text, { options: { footer: 2 } })).values).toEqual([
      ['1', '2'],
      ['3', '4'],
    ])
    const { values, warnings } = await bench.read('csv', text, { options: { footer: 4 } })
    expect(values).toEqual([])
    expect(warnings).toEqual([
      expect.stringContaining('counts rows that are not blank: the first that it leaves out is "1,2".'),
    ])
    expect(await bench.read('csv', text, { options: { footer: 2 } })).not.toHaveProperty('warnings')
    expect(await bench.refusal('csv', text, { options: { footer: 5 } })).toBe(
      '400 invalid_upload: The file has fewer rows than the 5 of footer.',
    )
  })
})

test('a comma is not between thousands in one column and before decimal places in another', async () => {
  const { columns, chosen } = await readAs('id;n;x\n1;999;3,5\n2;1,234;4,25\n3;12;0,125')
  expect(columns).toEqual(['id: integer', 'n: string', 'x: double'])
  expect(chosen).toEqual(['delimiter=;', 'decimal=,'])
})

test('the answer has each option that was chosen, and the value that shows it', async () => {
  const text = 'Zeit;Preis;Menge\n01.12.2023;1.234,50;3\n31.01.2024;-;4\n'
  const { why } = await bench.read('csv', text, AUTO)
  expect(why).toEqual([
    { option: 'delimiter', row: 0, value: 'Zeit;Preis;Menge' },
    { option: 'dates', row: 2, value: '31.01.2024' },
    { option: 'decimal', row: 1, value: '1.234,50' },
    { option: 'thousands', row: 1, value: '1.234,50' },
    { option: 'nulls', row: 2, value: '-' },
  ])
})

test('a column of the dataset that holds numbers takes none that may be another', async () => {
  const existing = [column('day', 'date'), column('n', 'double')]
  const text = 'day;n\n2024-02-01;2.500\n2024-02-15;13.000\n'
  expect(await bench.refusal('csv', text, { ...AUTO, existing })).toBe(
    '400 invalid_upload: Row 1, column "n": "2.500" may mean several things. Add decimal=,&thousands=. or decimal=. to say which.',
  )
  const given = { options: { dialect: 'auto', decimal: ',', thousands: '.' } as const, existing }
  expect((await bench.read('csv', text, given)).values.map((row) => row[1])).toEqual(['2500.0', '13000.0'])
  const list = 'day;n\n2024-02-01;1,2\n2024-02-15;3,4\n2024-02-16;2,4\n'
  expect((await bench.read('csv', list, { ...AUTO, existing })).values.map((row) => row[1])).toEqual([
    '1.2',
    '3.4',
    '2.4',
  ])
})

test.each([
  ['k,v\na,+0.3\nb,-0.2\nc,+5\n', 'v: double', ['0.3', '-0.2', '5.0'], 'symbols=+'],
  ['k,v\na,+1\nb,-1\nc,0\n', 'v: integer', ['1', '-1', '0'], 'symbols=+'],
  ['k,v\na,+0.3\nb,+0.2\nc,0\n', 'v: double', ['0.3', '0.2', '0.0'], 'symbols=+'],
  ['k,v\na,+1.5%\nb,-2%\nc,0%\n', 'v: double', ['1.5', '-2.0', '0.0'], 'symbols=%,+'],
  ['k;v\na;+0,3\nb;-0,2\n', 'v: double', ['0.3', '-0.2'], 'symbols=+'],
])('dialect=auto takes a plus before changes: %j', async (text, column, expected, option) => {
  const { columns, values, chosen } = await readAs(text)
  expect(columns[1]).toBe(column)
  expect(values.map((row) => row[1])).toEqual(expected)
  expect(chosen).toContain(option)
})

test.each([
  [['+4915112345', '+4917112345']],
  [['+4915112345', '-1']],
  [['+44', '+49']],
  [['+44 123 456', '+49 123 456']],
  [['+0100', '-0500']],
  [['+1', '-1', '+']],
])('dialect=auto leaves other texts with a plus as they are: %j', async (texts) => {
  const { values } = await readAs(`k,v\n${texts.map((text) => `a,${text}\n`).join('')}`)
  expect(values.map((row) => row[1])).toEqual(texts)
})

test('dialect=auto takes no plus from the telephone numbers beside changes', async () => {
  const { values } = await readAs('v,phone\n+0.5,+4915112345\n-0.5,+1\n')
  expect(values).toEqual([
    ['0.5', '+4915112345'],
    ['-0.5', '+1'],
  ])
})

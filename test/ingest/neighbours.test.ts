import { describe, expect, test } from 'vitest'
import { useBench } from './support/helper.ts'
import { workbook } from './xlsx/workbooks.ts'

const bench = useBench()

/**
 * What becomes of a table: its columns, with the value and the options for why one is text, and its rows; or the error.
 * The column `k`, which numbers the rows, is left out.
 */
async function outcome(format: 'csv' | 'json' | 'xlsx', content: string | Uint8Array): Promise<string> {
  const options = format === 'json' ? {} : ({ dialect: 'auto' } as const)
  const refused = await bench.refusal(format, content, { options })
  if (refused !== 'taken') return refused.replace(/^400 invalid_upload: /, '').replace(/[;.] .*$/, '')
  const { shape, values, reasons = [] } = await bench.read(format, content, { options })
  const shown = shape.map((column, at) => {
    const { value, try: first, or } = reasons[at] ?? {}
    const because = [value, first, or].filter((one) => one !== undefined)
    return because.length > 0 ? `${column} (${because.join(' | ')})` : column
  })
  const isMeant = (_: unknown, at: number) => !/^k:/.test(shape[at]!)
  const rows = values.map((row) =>
    row
      .filter(isMeant)
      .map((value) => value ?? '∅')
      .join('|'),
  )
  return `${shown.filter(isMeant).join(', ')} = ${rows.join(' / ')}`
}

/** Tables by what may be misread in them, each with the outcome that stores nothing but what is meant. */
const TABLES: Readonly<Record<string, [string, string][]>> = {
  'null words': [
    ['k,v\n1,.\n2,3', 'v: integer = ∅ / 3'],
    ['initial,n\n.,1\n–,2', 'initial: string (. | nulls=.), n: integer = .|1 / –|2'],
    ['id,born\n1,–\n2,1.5.1999\n3,24.12.2001', 'id: integer, born: date = 1|∅ / 2|1999-05-01 / 3|2001-12-24'],
    ['id,paid\n1,t\n2,None\n3,f', 'id: integer, paid: boolean = 1|true / 2|∅ / 3|false'],
    ['name,n\nNil,1\nnil,2\nmissing,3', 'name: string (Nil), n: integer = Nil|1 / nil|2 / missing|3'],
    ['id,v\n1,NA\n2,N/A\n3,n/a', 'id: integer, v: string (NA | nulls=NA) = 1|NA / 2|N/A / 3|n/a'],
    ['id,v\n1,5\n2,unknown\n3,6', 'id: integer, v: string (unknown) = 1|5 / 2|unknown / 3|6'],
    ['id,v\n1,2.5\n2,NaN\n3,-inf', 'id: integer, v: double = 1|2.5 / 2|nan / 3|-inf'],
    ['grade,n\n-,1\nA,2\nA-,3', 'grade: string (A), n: integer = -|1 / A|2 / A-|3'],
    ['k;v\n1;k. A.\n2;1,5\n3;22,25', 'v: double = ∅ / 1.5 / 22.25'],
    ['id,z\n1,NULL\n2,2024-01-01T10:00:00Z', 'id: integer, z: timestamptz = 1|∅ / 2|2024-01-01 10:00:00+00'],
    ['a,b\n-,1\n1,-\n2,3', 'a: integer, b: integer = ∅|1 / 1|∅ / 2|3'],
  ],
  'marks of numbers': [
    ['k,v\n1,"1,234,567.89"\n2,0.5', 'v: double = 1234567.89 / 0.5'],
    ['k;v\n1;1.234.567,89\n2;-0,5', 'v: double = 1234567.89 / -0.5'],
    ['k;v\n1;1\u202f234,5\n2;999,25', 'v: double = 1234.5 / 999.25'],
    ["k;v\n1;1'234.50\n2;12.05", 'v: double = 1234.5 / 12.05'],
    ['k\tv\n1\t1 234,5\n2\t12,75', 'v: double = 1234.5 / 12.75'],
    ['k,v\n1,"12,34,567"\n2,"1,00,000"', 'v: string (12,34,567) = 12,34,567 / 1,00,000'],
    ['k,v\n1,"1,23"\n2,"4,56"', 'v: string (1,23 | decimal=,) = 1,23 / 4,56'],
    ['k;v\n1;1.234\n2;56', 'v: string (1.234 | decimal=,&thousands=. | decimal=.) = 1.234 / 56'],
    ['k,v\n1,"1,234"\n2,56.5', 'v: double = 1234.0 / 56.5'],
    ['k,v\n1,1.234.567\n2,3', 'v: integer = 1234567 / 3'],
    ['k,plz\n1,01 234\n2,12 345', 'plz: string (01 234) = 01 234 / 12 345'],
    ['k,v\n1,+1.5\n2,-2', 'v: double = 1.5 / -2.0'],
    ['k,v\n1,1.5-\n2,3', 'v: string (1.5-) = 1.5- / 3'],
    ['k,v\n1,(1.50)\n2,3.00', 'v: string ((1.50)) = (1.50) / 3.00'],
    ['k,v\n1,1e3\n2,-2', 'v: string (1e3 | decimal=.) = 1e3 / -2'],
    ['k,v\n1,1_000\n2,2', 'v: string (1_000) = 1_000 / 2'],
    ['k,v\n1,"1.234,50"\n2,"1,234.50"', 'v: string (1.234,50) = 1.234,50 / 1,234.50'],
    ['k,v\n1,½\n2,1', 'v: string (½) = ½ / 1'],
    ['k,v\n1,12345678901234567890\n2,5', 'v: decimal(38,0) = 12345678901234567890 / 5'],
    ['k,v\n1,12345678901234567890\n2,5.5', 'v: string (5.5) = 12345678901234567890 / 5.5'],
    ['k,v\n1,0.1\n2,.5\n3,5.', 'v: double = 0.1 / 0.5 / 5.0'],
    ['k,v\n1,٣\n2,4', 'v: string (٣) = ٣ / 4'],
    ['k,v\n1, 12 \n2,4', 'v: integer = 12 / 4'],
    ['k,v\n1,"1,5"\n2,"0,25"', 'v: double = 1.5 / 0.25'],
    ['k;v\n1;0,1\n2;1234567890,12', 'v: double = 0.1 / 1234567890.12'],
    ['k;a,b\n1;1,2\n2;4,5', 'a,b: string (1,2 | decimal=,) = 1,2 / 4,5'],
    ['k;a, b\n1;1,2\n2;4,5', 'a, b: double = 1.2 / 4.5'],
    ['k;a,b\n1;1,2\n2;0,05', 'a,b: double = 1.2 / 0.05'],
    ['k,v\n1,1.10\n2,1.20', 'v: double = 1.1 / 1.2'],
    ['k,v\n1,0.1\n2,0.10', 'v: string (0.10 | decimal=.) = 0.1 / 0.10'],
    ['k,v\n1,− 5\n2,6', 'v: string (− 5) = − 5 / 6'],
    ['k,v\n1,−5\n2,6', 'v: integer = -5 / 6'],
  ],
  symbols: [
    ['k,v\n1,5 kr\n2,7 kr', 'v: integer = 5 / 7'],
    ['k,v\n1,$5\n2,5 $', 'v: integer = 5 / 5'],
    ['k,v\n1,5%\n2,5‰', 'v: string (5‰) = 5% / 5‰'],
    ['k,v\n1,€5\n2,5 EUR', 'v: string (5 EUR) = €5 / 5 EUR'],
    ['k,v\n1,$5\n2,NA\n3,$7', 'v: integer = 5 / ∅ / 7'],
    ['k,v\n1,5 kg\n2,7 kg', 'v: string (5 kg) = 5 kg / 7 kg'],
    ['k,v\n1,-5 %\n2,"7,5 %"', 'v: double = -5.0 / 7.5'],
    ['k,v\n1,US$5\n2,CA$5', 'v: string (CA$5) = US$5 / CA$5'],
    ['k,v\n1,$5\n2,(5)', 'v: string ($5) = $5 / (5)'],
  ],
  dates: [
    ['k,d\n1,2024.01.31\n2,2024.02.01', 'd: date = 2024-01-31 / 2024-02-01'],
    ['k,d\n1,31-Dec-2024\n2,1-Jan-2025', 'd: date = 2024-12-31 / 2025-01-01'],
    ['k,d\n1,"Dec 31, 2024"\n2,"Jan 1, 2025"', 'd: date = 2024-12-31 / 2025-01-01'],
    ['k,d\n1,31.02.2024\n2,01.03.2024', 'd: string (31.02.2024) = 31.02.2024 / 01.03.2024'],
    ['k,d\n1,13/13/2024\n2,01/02/2024', 'd: string (13/13/2024) = 13/13/2024 / 01/02/2024'],
    ['k,d\n1,20240131\n2,20240201', 'd: integer = 20240131 / 20240201'],
    ['k,d\n1,2024-1-5\n2,2024-12-31', 'd: date = 2024-01-05 / 2024-12-31'],
    ['k,d\n1,05.06.07\n2,08.09.10', 'd: string (05.06.07 | dates=D.M.YY) = 05.06.07 / 08.09.10'],
    ['k,d\n1,2024/02/30\n2,2024/03/01', 'd: string (2024/02/30) = 2024/02/30 / 2024/03/01'],
    ['k,ratio\n1,1/2\n2,3/4', 'ratio: string (1/2) = 1/2 / 3/4'],
    [
      'k,d\n1,01/31/2024 10:30\n2,02/01/2024 11:00',
      'd: timestamp = 2024-01-31 10:30:00 / 2024-02-01 11:00:00',
    ],
    ['k,t\n1,10:30\n2,9:05', 't: string (9:05) = 10:30 / 9:05'],
    ['k,m\n1,2024-01\n2,2024-02', 'm: string (2024-01) = 2024-01 / 2024-02'],
    ['k,d\n1,31/12/2024\n2,NA\n3,2025-01-15', 'd: date = 2024-12-31 / ∅ / 2025-01-15'],
    ['k,ip\n1,10.0.0.1\n2,10.0.0.2', 'ip: string (10.0.0.1) = 10.0.0.1 / 10.0.0.2'],
    ['k,section\n1,1.2.3\n2,4.5.6', 'section: string (1.2.3) = 1.2.3 / 4.5.6'],
    ['k,d\n1,0000-00-00\n2,2024-01-01', 'd: string (0000-00-00) = 0000-00-00 / 2024-01-01'],
    ['k,d\n1,12/31/69\n2,1/5/70', 'd: string (12/31/69 | dates=M/D/YY) = 12/31/69 / 1/5/70'],
    ['k,born\n1,5/17/45\n2,3/30/75', 'born: string (5/17/45 | dates=M/D/YY) = 5/17/45 / 3/30/75'],
    ['k,born\n1,17-May-71\n2,3-Mar-12', 'born: date = 1971-05-17 / 2012-03-03'],
    ['k,d\n1,31/12/24\n2,30/11/24\n3,1/2/24', 'd: date = 2024-12-31 / 2024-11-30 / 2024-02-01'],
  ],
  headers: [
    [
      'region,2023-01,2023-02\nA,1,2\nB,3,4',
      'region: string (A), 2023-01: integer, 2023-02: integer = A|1|2 / B|3|4',
    ],
    ['id,id\n1,2', 'id: integer, id_2: integer = 1|2'],
    ['a,b,\n1,2,3', 'a: integer, b: integer, column_3: integer = 1|2|3'],
    ['1,2,3\n4,5,6', '1: integer, 2: integer, 3: integer = 4|5|6'],
    ['3,1,2\n4,5,6\n7,8,9', 'column1: integer, column2: integer, column3: integer = 3|1|2 / 4|5|6 / 7|8|9'],
    ['x,1.5\nA,2.5\nB,3.5', 'column1: string (x), column2: double = x|1.5 / A|2.5 / B|3.5'],
    ['name,age\nAda,?\nBob,?', 'name: string (Ada), age: string (? | nulls=%3F) = Ada|? / Bob|?'],
    [
      '2024-01-01,5\n2024-01-02,6\n2024-01-03,7',
      'column1: date, column2: integer = 2024-01-01|5 / 2024-01-02|6 / 2024-01-03|7',
    ],
  ],
  titles: [
    ['Sales\n\nregion,n\nN,1', 'region: string (N), n: integer = N|1'],
    ['a\nb\nc', 'a: string (b) = b / c'],
    [
      'Population, by city\ncity,n\nOslo,5\nBern,7',
      'Population: string (city),  by city: string (n) = city|n / Oslo|5 / Bern|7',
    ],
    ['# made by x\nregion,n\nN,1\nM,2', 'region: string (N), n: integer = N|1 / M|2'],
    ['sep=;\na;b\n1;2', 'a: integer, b: integer = 1|2'],
    ['Ada,Bob\nx,y\nz,w', 'Ada: string (x), Bob: string (y) = x|y / z|w'],
    ['City\nOslo,5\nBern,7', 'Row 1: it has more fields than the 1 of the header'],
    [
      ',,\nname,n,d\nA,1,2024-01-01\nB,2,2024-01-02',
      'name: string (A), n: integer, d: date = A|1|2024-01-01 / B|2|2024-01-02',
    ],
  ],
  footers: [
    ['region,n\nTotal,3\nS,4', 'region: string (Total), n: integer = Total|3 / S|4'],
    ['x,v\nA,1\nB,2\n* estimated', 'x: string (A), v: integer = A|1 / B|2'],
    ['x,v\nA,1\nB,2\nSum,3', 'x: string (A), v: integer = A|1 / B|2'],
    ['x,v\nA,1\nSum,1', 'x: string (A), v: integer = A|1 / Sum|1'],
    ['x,v\n1,x\n2,y\nTotal,', 'x: integer, v: string (x) = 1|x / 2|y'],
    ['x,note\nA,Source: us\nB,x', 'x: string (A), note: string (Source: us) = A|Source: us / B|x'],
    ['x,v\nA,1\nB,2\n\n\n', 'x: string (A), v: integer = A|1 / B|2'],
    ['a,b\nx,1\ny', 'Row 2: it has 1 of the 2 fields of the header: "y"'],
    ['name,n\nB,4\nTotal Wine,3', 'name: string (B), n: integer = B|4 / Total Wine|3'],
    // A company may be called so: nothing is added up.
    ['name,n\nA,0\nB,0\nTotal,0', 'name: string (A), n: integer = A|0 / B|0 / Total|0'],
    ['name,n\nA,5\nB,0\nTotal,5', 'name: string (A), n: integer = A|5 / B|0 / Total|5'],
    ['name,n,m\nA,5,0\nB,2,0\nTotal,7,0', 'name: string (A), n: integer, m: integer = A|5|0 / B|2|0'],
    ['name,n\nA,1\nB,2\nTotal,-', 'name: string (A), n: integer = A|1 / B|2 / Total|∅'],
    ['a,b\nx,1\n,\ny,2', 'a: string (x), b: integer = x|1 / ∅|∅ / y|2'],
  ],
  'row names': [
    ['"","a"\n"1",5\n"2",6', 'index: integer, a: integer = 1|5 / 2|6'],
    ['a,b\n"x",1,2\n"y",3,4', 'index: string (x), a: integer, b: integer = x|1|2 / y|3|4'],
    ['a,b\n"x",1,2\n"x",3,4', 'Row 1: it has more fields than the 2 of the header'],
    ['a,b\nx,1,2\ny,3,4', 'Row 1: it has more fields than the 2 of the header'],
    ['a,b\n1,2,\n3,4,', 'a: integer, b: integer = 1|2 / 3|4'],
    [',a\nx,1\nx,2', 'index: string (x), a: integer = x|1 / x|2'],
  ],
  delimiters: [
    ['a;b\n1,5;2,5\n3,5;4,25', 'a: double, b: double = 1.5|2.5 / 3.5|4.25'],
    ['a|b\n1|x,y\n2|z,w', 'a: integer, b: string (x,y) = 1|x,y / 2|z,w'],
    ['text\nHello, world\nBye, all', 'text: string (Hello, world) = Hello, world / Bye, all'],
    ['a\tb\nx, y\t1\nz, w\t2', 'a: string (x, y), b: integer = x, y|1 / z, w|2'],
    ['name;note\nA;x,y\nB;z,w', 'name: string (A), note: string (x,y) = A|x,y / B|z,w'],
    ['time\n10:30\n11:45', 'time: time = 10:30:00 / 11:45:00'],
    ['a b c\n1 2 3\n4 5 6', 'a b c: string (1 2 3) = 1 2 3 / 4 5 6'],
    ['a,b\n1;2,3;4\n5;6,7;8', 'a: string (1;2), b: string (3;4) = 1;2|3;4 / 5;6|7;8'],
  ],
  quotes: [
    ['k,v\n1,"say ""hi"""\n2,"a,b"', 'v: string (say "hi") = say "hi" / a,b'],
    ['k,v\n1,"5"\n2,"6"', 'v: integer = 5 / 6'],
    ['k,v\n1,"007"\n2,"8"', 'v: string (007) = 007 / 8'],
    ['k,v\n1,"a\nb"\n2,c', 'v: string (a\nb) = a\nb / c'],
    ["k,v\n1,'a,b'\n2,'c'", 'v: string (a,b) = a,b / c'],
    ['k,v\n1,a"b\n2,c', 'v: string (a"b) = a"b / c'],
    ['k,v\n1,"a"b\n2,c', 'Row 1: there is text after the closing quote of field 2'],
    ['k,v\n1,"unclosed\n2,x', 'Row 1: a quoted field is not closed.'],
    ['k,v\n1," 5"\n2,6', 'v: integer = 5 / 6'],
    ['k,v\n1,""\n2,x', 'v: string (x) =  / x'],
    ['k,v\n1,="007"\n2,="8"', 'v: string (="007") = ="007" / ="8"'],
    ['k,v\n1,"$1,234"\n2,"$56"', 'v: integer = 1234 / 56'],
  ],
  codes: [
    ['k,v\n1,12:30\n2,24:00', 'v: string (24:00) = 12:30 / 24:00'],
    ['k,v\n1,TRUE\n2,no', 'v: string (no) = TRUE / no'],
    ['k,v\n1,yes\n2,no', 'v: string (yes) = yes / no'],
    ['k,v\n1,1\n2,true', 'v: string (true) = 1 / true'],
    ['k,v\n1,"1,234 "\n2,12', 'v: integer = 1234 / 12'],
    ['k,v\n1,1.5 2.5\n2,3.5', 'v: string (1.5 2.5) = 1.5 2.5 / 3.5'],
    ['k,v\n1,1..2\n2,3', 'v: string (1..2) = 1..2 / 3'],
    ['k,v\n1,12e\n2,3', 'v: string (12e) = 12e / 3'],
    ['k,v\n1,"1 234"\n2,"5 678"\n3,90', 'v: integer = 1234 / 5678 / 90'],
    ['k,chrom\n1,1\n2,X', 'chrom: string (X) = 1 / X'],
    ['k,isbn\n1,978-3\n2,979-1', 'isbn: string (978-3) = 978-3 / 979-1'],
    ['k,t\n1,+4930123\n2,+4930124', 't: string (+4930123) = +4930123 / +4930124'],
    ['k,score\n1,3-1\n2,2-2', 'score: string (3-1) = 3-1 / 2-2'],
    ['k,plz\n1,1010\n2,01067', 'plz: string (01067) = 1010 / 01067'],
    ['k,lat\n1,"48,137"\n2,"11,575"', 'lat: string (48,137 | thousands=, | decimal=,) = 48,137 / 11,575'],
    ['k;lat\n1;48,1371\n2;11,575', 'lat: double = 48.1371 / 11.575'],
    ['k,range\n1,1-2\n2,3-4', 'range: string (1-2) = 1-2 / 3-4'],
  ],
}

const JSON_ROWS: [string, string][] = [
  ['[{"v":1},{"v":1.5}]', 'v: double = 1.0 / 1.5'],
  ['[{"v":1},{"v":"1"}]', 'v: string (1) = 1 / 1'],
  ['[{"v":true},{"v":1}]', 'v: string (1) = true / 1'],
  ['[{"v":9007199254740993}]', 'v: integer = 9007199254740993'],
  ['[{"v":0.5},{"v":9007199254740993}]', 'v: string (9007199254740993) = 0.5 / 9007199254740993'],
  ['[{"v":1e400}]', 'v: string (1e400) = 1e400'],
  ['[{"v":"01/02/2024"}]', 'v: string = 01/02/2024'],
  ['[{"v":"2024-02-30"}]', 'v: string = 2024-02-30'],
  ['[{"v":"2.500"},{"v":"13.000"}]', 'v: string = 2.500 / 13.000'],
  ['[{"v":"NA"},{"v":1}]', 'v: string (1) = NA / 1'],
  ['[{"v":"007"}]', 'v: string = 007'],
  ['[{"v":[1]},{"v":1}]', 'v: json = [1] / 1'],
  ['[{"a":1,"a":2}]', 'Row 1: the key "a" stands twice.'],
]

const CELLS: [unknown, unknown, string][] = [
  ['2.500', '13.000', 'v: string (2.500) = 2.500 / 13.000'],
  [2.5, '3', 'v: string (3) = 2.5 / 3'],
  ['NA', 1, 'v: integer = ∅ / 1'],
  ['NA', '1', 'v: string (NA | nulls=NA) = NA / 1'],
  [true, 1, 'v: string (1) = true / 1'],
  ['007', 8, 'v: string (007) = 007 / 8'],
  [new Date('2024-01-31'), 5, 'v: string (5) = 2024-01-31 / 5'],
  ['01/02/2024', new Date('2024-02-01'), 'v: string (01/02/2024) = 01/02/2024 / 2024-02-01'],
  [{ error: '#N/A' }, 1, 'v: integer = ∅ / 1'],
  [{ formula: '1+1', result: 2 }, 3, 'v: integer = 2 / 3'],
  [
    { formula: '1/0', result: { error: '#DIV/0!' } },
    1,
    'Row 1, column "v": the formula ended in #DIV/0! (cell B2).',
  ],
  [' 5', 6, 'v: string ( 5) =  5 / 6'],
]

describe.each(
  Object.entries(TABLES),
)('a table is read as it is meant, or stays text with a reason: %s', (_, tables) => {
  test.each(tables)('%j', async (text, expected) => {
    expect(await outcome('csv', text)).toBe(expected)
  })
})

test.each<[string, string]>(JSON_ROWS)('values of JSON keep their types: %s', async (text, expected) => {
  expect(await outcome('json', text)).toBe(expected)
})

test.each<[unknown, unknown, string]>(
  CELLS,
)('cells of a workbook keep their values: %j and %j', async (first, second, expected) => {
  const file = await workbook((sheet) =>
    sheet.addRows([
      ['k', 'v'],
      [1, first],
      [2, second],
    ]),
  )
  expect(await outcome('xlsx', file)).toBe(expected)
})

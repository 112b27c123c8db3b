import { Buffer } from 'node:buffer'
import { deflateRawSync, gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { detectDialect, dialectOptions } from '../../server/console/src/upload/dialect.ts'
import { kindOf } from '../../server/console/src/upload/formats.ts'
import { inferType } from '../../server/console/src/upload/infer.ts'
import { type Preview, PreviewError } from '../../server/console/src/upload/model.ts'
import { previewFile } from '../../server/console/src/upload/preview.ts'
import { sheetNames } from '../../server/console/src/upload/preview-xlsx.ts'

async function preview(name: string, content: string | Uint8Array<ArrayBuffer>): Promise<Preview> {
  const file = new File([content], name)
  return (await previewFile(file, kindOf(name)!))!
}

describe('a preview of a file', () => {
  it('finds types in csv as the service does', async () => {
    const text =
      'day,code,price,ok,seen,note\n2024-01-31,007,1.5,true,2024-01-31 12:00,\n2024-02-01,8,2,false,2024-02-01T00:00:00,x\n'
    const { columns, rows, rowCount } = await preview('a.csv', text)
    expect(columns.map(({ type }) => type)).toEqual([
      'date',
      'string',
      'double',
      'boolean',
      'timestamp',
      'string',
    ])
    expect(rows[0]).toEqual(['2024-01-31', '007', '1.5', 'true', '2024-01-31 12:00', null])
    expect(rowCount).toBe(2)
  })

  it('takes numbers with a point for text where numbers have a comma', async () => {
    const { columns } = await preview('a.csv', 'pieces;price\n1.234;1,5\n2;2,5\n')
    expect(columns.map(({ type }) => type)).toEqual(['string', 'double'])
    const file = new File(['a;b;c;d\n-99.9; 1,5;1.234;+1,5\n1,5;2;1,5;2\n'], 'b.csv')
    const dialect = { ...detectDialect(new Uint8Array(await file.arrayBuffer()), 'csv'), nulls: ['-99.9'] }
    const { columns: typed, rows } = (await previewFile(file, kindOf('b.csv')!, { dialect }))!
    expect(typed.map(({ type }) => type)).toEqual(['double', 'double', 'string', 'string'])
    expect(rows).toEqual([
      [null, '1.5', '1.234', '+1,5'],
      ['1.5', '2', '1,5', '2'],
    ])
  })

  it('shows texts as they are, even if some look like numbers or days', async () => {
    const { columns, rows } = await preview('a.csv', 'size;day;price\n10,5;31.12.2024;1,5\nXL;soon;2,5\n')
    expect(columns.map(({ type }) => type)).toEqual(['string', 'string', 'double'])
    expect(rows).toEqual([
      ['10,5', '31.12.2024', '1.5'],
      ['XL', 'soon', '2.5'],
    ])
  })

  it('reads tsv, ndjson, arrays and rows with declared columns', async () => {
    expect((await preview('a.tsv', 'a\tb\n1\tx\n')).columns.map(({ type }) => type)).toEqual([
      'integer',
      'string',
    ])
    const lines = await preview('a.ndjson', '{"a":1,"b":{"c":[1]}}\n{"a":2.5}\n')
    expect(lines.columns).toEqual([
      { name: 'a', type: 'double' },
      { name: 'b', type: 'json' },
    ])
    expect((await preview('a.json', '[{"a":true},{"a":null}]')).columns).toEqual([
      { name: 'a', type: 'boolean' },
    ])
    const declared = await preview('a.json', '{"columns":[{"name":"n"}],"rows":[[1],[2]]}')
    expect(declared.columns).toEqual([{ name: 'n', type: 'integer' }])
  })

  it('unpacks gzip', async () => {
    const { rowCount } = await preview('a.csv.gz', new Uint8Array(gzipSync('a\n1\n2\n')))
    expect(rowCount).toBe(2)
  })

  it('looks at the beginning of a long file only', async () => {
    const { rowCount, lookedAt } = await preview('a.csv', `a,b\n${'123456789,x\n'.repeat(200_000)}`)
    expect(rowCount).toBeUndefined()
    expect(lookedAt).toBeGreaterThan(80_000)
  })

  it('names the row that does not fit', async () => {
    await expect(preview('a.csv', 'a,b\n1,2\n3\n')).rejects.toThrow(
      'Row 2 has 1 field, but there are 2 columns.',
    )
    await expect(preview('a.ndjson', '{"a":1}\n{"a":}\n')).rejects.toThrow('Row 2 is not JSON.')
    await expect(preview('a.ndjson', new Uint8Array([0x61, 0x0a, 0xff, 0xfe]))).rejects.toThrow('not UTF-8')
    await expect(preview('a.csv', '')).rejects.toThrow(PreviewError)
  })

  it('reads the first sheet of a workbook, dates by their style', async () => {
    const book = zip({
      ...workbook({ Days: 'worksheets/sheet1.xml' }),
      'xl/worksheets/sheet1.xml':
        '<worksheet><sheetData><row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="inlineStr"><is><t>n &amp; m</t></is></c></row>' +
        '<row r="2"><c r="A2" s="1"><v>45322</v></c><c r="B2"><v>1.5</v></c></row></sheetData></worksheet>',
      'xl/sharedStrings.xml': '<sst><si><t>day</t></si></sst>',
      'xl/styles.xml':
        '<styleSheet><cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>',
    })
    const { columns, rows } = await preview('a.xlsx', book)
    expect(columns).toEqual([
      { name: 'day', type: 'date' },
      { name: 'n & m', type: 'double' },
    ])
    expect(rows).toEqual([['2024-01-31', '1.5']])
  })

  it('reads the sheets of a workbook in the order of their tabs, or the one that is chosen', async () => {
    const sheet = (...cells: string[]) =>
      `<worksheet><sheetData>${cells.map((cell) => `<row><c t="str"><v>${cell}</v></c></row>`).join('')}</sheetData></worksheet>`
    const book = zip({
      ...workbook({
        'Prices & more': 'worksheets/sheet2.xml',
        Plot: 'chartsheets/sheet1.xml',
        Costs: '/xl/worksheets/sheet1.xml',
        Empty: 'worksheets/sheet3.xml',
      }),
      'xl/worksheets/sheet1.xml': sheet('cost', '1'),
      'xl/worksheets/sheet2.xml': sheet('price', '2'),
      'xl/worksheets/sheet3.xml': sheet(),
      'xl/chartsheets/sheet1.xml': '<chartsheet/>',
    })
    const file = new File([book], 'a.xlsx')
    expect(await sheetNames(file)).toEqual(['Prices & more', 'Costs', 'Empty'])
    const namesIn = async (wanted?: string) =>
      (await previewFile(file, kindOf('a.xlsx')!, { sheet: wanted }))!.columns.map(({ name }) => name)
    expect(await namesIn()).toEqual(['price'])
    expect(await namesIn('Costs')).toEqual(['cost'])
    await expect(namesIn('Empty')).rejects.toThrow('The sheet “Empty” is empty')
  })

  it('says that a file is not what its name says', async () => {
    await expect(preview('a.parquet', 'a,b\n1,2\n3,4\n')).rejects.toThrow('is not a Parquet file')
    await expect(preview('a.xlsx', 'a,b\n')).rejects.toThrow('is not an Excel workbook')
    await expect(preview('a.csv.gz', 'a,b\n')).rejects.toThrow('is not gzip')
  })

  it.each([
    [['9223372036854775807'], 'integer'],
    [['9223372036854775808'], 'decimal(38,0)'],
    [[`-${'9'.repeat(38)}`], 'decimal(38,0)'],
    [['9'.repeat(39)], 'string'],
    [['1e5', 'NaN', '3'], 'double'],
    [['2024-02-30'], 'string'],
    [['2024-01-31T10:00:00+02:00'], 'timestamptz'],
    [['10:15', '23:59:59.5'], 'time'],
    [[null, null], 'string'],
    [['', '1'], 'string'],
  ])('finds that %j are %s', (values, type) => {
    expect(inferType(values)).toBe(type)
  })
})

/** The entries of a workbook that name its sheets. */
function workbook(targets: Readonly<Record<string, string>>): Record<string, string> {
  const sheets = Object.keys(targets).map(
    (name, at) => `<sheet name="${name.replace('&', '&amp;')}" sheetId="${at + 9}" r:id="rId${at}"/>`,
  )
  const relations = Object.values(targets).map(
    (target, at) =>
      `<Relationship Id="rId${at}" Type="http://x/${target.split('/').at(-2)}" Target="${target}"/>`,
  )
  return {
    'xl/workbook.xml': `<workbook><sheets>${sheets.join('')}</sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': `<Relationships>${relations.join('')}</Relationships>`,
  }
}

/** A zip archive of deflated entries, with as much of the headers as readers need. */
function zip(files: Readonly<Record<string, string>>): Uint8Array<ArrayBuffer> {
  const parts: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const [name, text] of Object.entries(files)) {
    const packed = deflateRawSync(text)
    const local = Buffer.alloc(30)
    local.writeUInt32LE(0x04034b50, 0)
    local.writeUInt16LE(8, 8)
    local.writeUInt32LE(packed.length, 18)
    local.writeUInt16LE(name.length, 26)
    const entry = Buffer.alloc(46)
    entry.writeUInt32LE(0x02014b50, 0)
    entry.writeUInt16LE(8, 10)
    entry.writeUInt32LE(packed.length, 20)
    entry.writeUInt16LE(name.length, 28)
    entry.writeUInt32LE(offset, 42)
    parts.push(local, Buffer.from(name), packed)
    directory.push(entry, Buffer.from(name))
    offset += 30 + name.length + packed.length
  }
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt32LE(Buffer.concat(directory).length, 12)
  end.writeUInt32LE(offset, 16)
  return new Uint8Array(Buffer.concat([...parts, ...directory, end]))
}

describe('how a file of text is written', () => {
  const latin1 = (text: string) => Uint8Array.from(Buffer.from(text, 'latin1'))
  const utf16 = (text: string) => Uint8Array.from(Buffer.from(`\ufeff${text}`, 'utf16le'))
  const utf8 = (text: string) => Uint8Array.from(Buffer.from(text))

  it.each([
    ['plain', utf8('a,b\n1,2.5\n'), {}],
    [
      'semicolons and decimal commas in Latin 1',
      latin1('Stadt;Höhe\nKöln;1,5\nHof;-2,25\n'),
      { delimiter: ';', decimal: ',', encoding: 'latin1' },
    ],
    ['tabs in UTF-16', utf16('a\tb\n1\tx\n'), { delimiter: 'tab', encoding: 'utf-16' }],
    ['bars', utf8('a|b\n1|x, y\n'), { delimiter: '|' }],
    ['no names', utf8('1,x\n2,y\n'), { header: 'absent' }],
    ['years as names', utf8('country,2020,2021\nNO,1,2\n'), {}],
    ['texts alone', utf8('a,b\nx,y\n'), {}],
    ['words for no value', utf8('n,t\n1,a\nNA,NA\n-,b\n'), { nulls: 'NA,-' }],
    ['days before months', utf8('a;am\n1;31.12.2023\n2;1.2.2024\n'), { delimiter: ';', dates: 'D.M.YYYY' }],
    ['slashes, the day first', utf8('a,d\n1,31/01/2024\n2,NA\n'), { dates: 'D/M/YYYY', nulls: 'NA' }],
    ['slashes, the month first, with times', utf8('a,d\n1,1/31/2024 9:05\n'), { dates: 'M/D/YYYY' }],
    ['slashes that could be either', utf8('a,d\n1,01/02/2024\n'), {}],
    ['versions, which are no days', utf8('a,v\n1,31.12.2023\n2,1.2\n'), {}],
    ['a first column without a name', utf8(',x\n0,1.5\n1,2.5\n'), { names: 'index' }],
    ['the same in quotes', utf8('"","x"\n"1",1.5\n'), { names: 'index' }],
    ['quoted delimiters', utf8('a,b\n"x;y;z",1\n"u;v;w",2\n'), {}],
    ['one column', utf8('a\n1\n2\n'), {}],
    ['a header alone', utf8('a;b'), { delimiter: ';' }],
  ])('%s', (_, bytes, options) => {
    expect(dialectOptions(detectDialect(bytes, 'csv'), 'csv')).toEqual(options)
  })

  it('decides types and rows of the preview', async () => {
    const german = await preview('a.csv', latin1('Stadt;Höhe;am\nKöln;1,5;2024-01-31\nHof;NA;\n'))
    expect(german.columns).toEqual([
      { name: 'Stadt', type: 'string' },
      { name: 'Höhe', type: 'double' },
      { name: 'am', type: 'date' },
    ])
    expect(german.rows).toEqual([
      ['Köln', '1.5', '2024-01-31'],
      ['Hof', null, null],
    ])
    const days = await preview('d.csv', ',am\n0,31.12.2023\n1,01.02.2024 10:30\n')
    expect(days.columns).toEqual([
      { name: 'index', type: 'integer' },
      { name: 'am', type: 'timestamp' },
    ])
    expect(days.rows).toEqual([
      ['0', '2023-12-31'],
      ['1', '2024-02-01T10:30'],
    ])
    const nameless = await preview('b.csv', '1,x\n2,y\n')
    expect(nameless.columns.map(({ name }) => name)).toEqual(['column1', 'column2'])
    expect(nameless.rowCount).toBe(2)
  })
})

import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkEncoding, type Dialect } from '../../../engine/export/formats/encoder.ts'
import type { Format } from '../../../engine/types/index.ts'
import { bytesOf, openTestExecutor, statement, type TestExecutor } from '../support.ts'

let executor: TestExecutor
beforeAll(async () => {
  executor = await openTestExecutor()
})
afterAll(() => executor.close())

const TABLE = statement(
  `SELECT n::BIGINT, d::DOUBLE, m, t, b, day FROM (VALUES
     (1, 1.5, 12.50::DECIMAL(9,2), 'plain', true, DATE '2026-11-22'),
     (NULL, NULL, NULL, NULL, NULL, NULL),
     (-7, -0.25, -0.05::DECIMAL(9,2), 'a;b', false, DATE '1999-01-02'),
     (0, 'inf'::DOUBLE, 0::DECIMAL(9,2), '', NULL, NULL)) v(n, d, m, t, b, day)`,
  { n: 'integer', d: 'double', 'money;': 'decimal(9,2)', t: 'string', b: 'boolean', day: 'date' },
)

async function written(dialect: Dialect, format: Format = 'csv', query = TABLE): Promise<string> {
  checkEncoding(format, { dialect })
  return (await bytesOf(executor, query, format, { dialect })).toString()
}

describe('csv', () => {
  it('is written with semicolons and commas where an office expects them', async () => {
    expect(await written({ delimiter: ';', decimal: ',', bom: true })).toBe(
      '\ufeffn;d;"money;";t;b;day\n' +
        '1;1,5;12,50;plain;true;2026-11-22\n' +
        ';;;;;\n' +
        '-7;-0,25;-0,05;"a;b";false;1999-01-02\n' +
        '0;INF;0,00;"";;\n',
    )
  })

  it('has a text for null, and quotes around a value that looks like it', async () => {
    const nulls = (missing: string) => written({ null: missing })
    expect((await nulls('NA')).split('\n')[2]).toBe('NA,NA,NA,NA,NA,NA')
    expect((await nulls('-7')).split('\n').slice(2, 4)).toEqual([
      '-7,-7,-7,-7,-7,-7',
      '"-7",-0.25,-0.05,a;b,false,1999-01-02',
    ])
    expect((await nulls('t')).split('\n')[0]).toBe('n,d,money;,"t",b,day')
    expect((await nulls('true')).split('\n')[1]).toBe('1,1.5,12.50,plain,"true",2026-11-22')
    expect(await nulls('')).toBe(await written({}))
  })

  it('puts an apostrophe before texts that a spreadsheet would calculate, and before such names', async () => {
    const texts = ['=1+1', '+49 30', '-', '@SUM(A1)', '\tx', '\rx', '＝1', 'a=1', ' =1', "'=1", '="a,b"', 'é']
    const query = statement(
      `SELECT unnest([${texts.map((_, index) => `$${index + 1}`).join(', ')}]), -5::BIGINT`,
      { '=name': 'string', n: 'integer' },
      texts,
    )
    const [header, ...lines] = (await written({ formulas: 'escape' }, 'csv', query)).split('\n')
    expect(header).toBe(`"'=name",n`)
    expect(lines.slice(0, -1)).toEqual([
      `"'=1+1",-5`,
      `"'+49 30",-5`,
      `"'-",-5`,
      `"'@SUM(A1)",-5`,
      `"'\tx",-5`,
      `"'\rx",-5`,
      `"'＝1",-5`,
      'a=1,-5',
      ' =1,-5',
      `'=1,-5`,
      `"'=""a,b""",-5`,
      'é,-5',
    ])
    expect(await written({}, 'csv', query)).toContain('\n=1+1,-5\n')
  })

  it('is tsv with tabs', async () => {
    expect((await written({ decimal: ',', null: 'NULL' }, 'tsv')).split('\n').slice(1, 3)).toEqual([
      '1\t1,5\t12,50\tplain\ttrue\t2026-11-22',
      'NULL\tNULL\tNULL\tNULL\tNULL\tNULL',
    ])
  })

  it('is the same from many columns, whose rows other code writes', async () => {
    const names = Array.from({ length: 30 }, (_, index) => [`c${index}`, 'double'] as const)
    const sql = `SELECT ${names.map((_, index) => (index % 3 === 0 ? 'NULL::DOUBLE' : `${index}.5::DOUBLE`)).join(', ')}`
    const text = await written(
      { delimiter: '|', decimal: ',', null: '1,5' },
      'csv',
      statement(sql, Object.fromEntries(names)),
    )
    expect(text.split('\n')[1]).toBe(
      names.map((_, index) => (index % 3 === 0 ? '1,5' : index === 1 ? '"1,5"' : `${index},5`)).join('|'),
    )
  })

  it('keeps every text apart from every other and from null', async () => {
    const delimiter = fc.constantFrom(',', ';', '\t', '|', ' ')
    const dialect = fc.record({
      delimiter,
      null: fc.constantFrom('', 'NA', '-', 'x'),
      formulas: fc.constantFrom(undefined, 'escape' as const),
    })
    const cell = fc.option(
      fc
        .oneof(fc.string(), fc.constantFrom('NA', '-', 'x', '', '"', "'=", '=', 'a\nb', '\r'))
        .map((text) => text.replaceAll('\0', '')),
      { nil: null },
    )
    await fc.assert(
      fc.asyncProperty(dialect, fc.array(cell, { minLength: 1, maxLength: 8 }), async (options, cells) => {
        fc.pre(!(options.formulas && options.null === '-'))
        const values = cells.map((text, index) => `(IF(${text === null}, NULL, $${index + 1}))`)
        const query = statement(
          `SELECT 1::BIGINT, t FROM (VALUES ${values.join(', ')}) v(t)`,
          { n: 'integer', t: 'string' },
          cells.map((text) => text ?? ''),
        )
        const rows = parsed(await written(options, 'csv', query), options)
        const expected = cells.map((text) =>
          text !== null && options.formulas && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text,
        )
        expect(rows.slice(1).map((row) => row[1])).toEqual(expected)
      }),
      { numRuns: 60 },
    )
  })
})

/** A reader of its own: texts without quotes that are the text for null are null. */
function parsed(text: string, { delimiter = ',', null: missing = '' }: Dialect): (string | null)[][] {
  const rows: (string | null)[][] = []
  let row: (string | null)[] = []
  for (let at = 0; at < text.length; at++) {
    let field = ''
    const quoted = text[at] === '"'
    if (quoted) {
      for (at++; text[at] !== '"' || text[at + 1] === '"'; at++) {
        if (text[at] === '"') at++
        field += text[at]
      }
      at++
    } else {
      while (text[at] !== delimiter && text[at] !== '\n') field += text[at++]
    }
    row.push(!quoted && field === missing ? null : field)
    if (text[at] === '\n') {
      rows.push(row)
      row = []
    }
  }
  return rows
}

describe('options that clash', () => {
  it.each<[Format, Dialect, RegExp]>([
    ['json', { bom: true }, /^dialect\.bom is for csv and tsv; the format is json\./],
    ['xlsx', { null: 'NA' }, /^dialect\.null is for csv and tsv/],
    [
      'csv',
      { decimal: ',' },
      /^dialect: \{ decimal: ',' \} needs another sign between the fields: add dialect: \{ delimiter: ';' \}/,
    ],
    ['csv', { decimal: ',', delimiter: ',' }, /^dialect: \{ decimal: ',' \} needs another sign/],
    ['tsv', { delimiter: ';' }, /^dialect\.delimiter is for csv; the format is tsv/],
    ['csv', { delimiter: 'e' }, /^dialect\.delimiter must be one character/],
    ['csv', { delimiter: '-' }, /^dialect\.delimiter must be one character/],
    ['csv', { delimiter: '§' }, /^dialect\.delimiter must be one character/],
    ['csv', { delimiter: '' }, /^dialect\.delimiter must be one character/],
    ['csv', { null: 'a,b' }, /^dialect\.null has at most 64 characters/],
    ['csv', { null: '"' }, /^dialect\.null has/],
    ['tsv', { null: '\t' }, /^dialect\.null has/],
    [
      'csv',
      { null: '-', formulas: 'escape' },
      /^dialect: \{ null: '-' \} is what dialect: \{ formulas: 'escape' \} keeps out/,
    ],
    ['csv', { decimal: '٫' as ',' }, /^dialect\.decimal must be "." or ","/],
    ['csv', { formulas: 'yes' as 'escape' }, /^dialect\.formulas must be "escape"/],
  ])('are refused in a sentence: %s %j', (format, dialect, message) => {
    expect(() => checkEncoding(format, { dialect })).toThrowError(message)
  })

  it('$overlong is for xlsx alone', () => {
    expect(() => checkEncoding('csv', { overlong: 'cut' })).toThrowError(/^overlong is for xlsx/)
    expect(() => checkEncoding('xlsx', { overlong: 'cut' })).not.toThrow()
  })
})

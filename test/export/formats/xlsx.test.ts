import { crc32, inflateRawSync } from 'node:zlib'
import ExcelJS from 'exceljs'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { EngineError } from '../../../engine/errors.ts'
import { combineCrc, deflate, Output } from '../../../engine/export/formats/encoder.ts'
import { requireSheet } from '../../../engine/export/formats/xlsx/limits.ts'
import { sheetName } from '../../../engine/export/formats/xlsx/workbook.ts'
import { ZipWriter } from '../../../engine/export/formats/xlsx/zip.ts'
import { type ColumnType, type Statement, sqlType } from '../../../engine/types/index.ts'
import { bytesOf, openTestExecutor, statement, type TestExecutor } from '../support.ts'

let executor: TestExecutor
beforeAll(async () => {
  executor = await openTestExecutor()
})
afterAll(() => executor.close())

/** What is wrong with a result for a sheet; undefined if nothing is. */
const problemOf = (query: Statement, overlong?: 'cut') =>
  requireSheet(query, overlong, (check) => executor.rows(check)).then(
    () => undefined,
    (error: EngineError) => {
      expect(error.code).toBe('not_representable')
      return error.message
    },
  )

async function workbookOf(query: Statement, name?: string): Promise<ExcelJS.Workbook> {
  const workbook = new ExcelJS.Workbook()
  await workbook.xlsx.load(
    (await bytesOf(executor, query, 'xlsx', { sheetName: name })) as unknown as ArrayBuffer,
  )
  return workbook
}

describe('sheets', () => {
  it('end at 1,048,576 rows; the next begins with the header', { timeout: 120_000 }, async () => {
    const query = statement('SELECT i FROM range(2097160) t(i)', { n: 'integer' })
    const bytes = await bytesOf(executor, query, 'xlsx', { sheetName: 'Rows' })
    // exceljs would take minutes; the sheets are looked at as they stand in the container.
    const sheets = ['sheet1', 'sheet2', 'sheet3'].map((name) => entryText(bytes, `xl/worksheets/${name}.xml`))
    expect(sheets.map((xml) => xml.match(/<row /g)?.length)).toEqual([1_048_576, 1_048_576, 11])
    for (const [index, xml] of sheets.entries()) {
      expect(xml).toContain(
        '<row r="1"><c r="A1" s="8" t="inlineStr"><is><t xml:space="preserve">n</t></is></c></row>',
      )
      expect(xml).toContain(`<row r="2"><c r="A2"><v>${index * 1_048_575}</v></c></row>`)
      const rows = index === 2 ? 11 : 1_048_576
      expect(xml.endsWith(`</row></sheetData><autoFilter ref="A1:A${rows}"/></worksheet>`)).toBe(true)
    }
    expect(sheets[0]).toContain('<row r="1048576"><c r="A1048576"><v>1048574</v></c></row></sheetData>')
    const parts = entryText(bytes, 'xl/workbook.xml')
    const names = parts.match(/sheet name="[^"]*"/g)
    expect(parts.match(/'Rows[^<]*/g)).toEqual([
      "'Rows'!$A$1:$A$1048576",
      "'Rows (2)'!$A$1:$A$1048576",
      "'Rows (3)'!$A$1:$A$11",
    ])
    expect(names).toEqual(['sheet name="Rows"', 'sheet name="Rows (2)"', 'sheet name="Rows (3)"'])
  })

  it('have names that Excel takes', async () => {
    const named = await workbookOf(statement('SELECT 1::BIGINT', { n: 'integer' }), `Q1/Q2: <"a" & b>?`)
    expect(named.worksheets.map((sheet) => sheet.name)).toEqual(['Q1 Q2  <"a" & b>'])
    expect(sheetName(undefined, 0)).toBe('Data')
    expect(sheetName("'History'", 0)).toBe('Data')
    expect(sheetName('x'.repeat(40), 0)).toBe('x'.repeat(31))
    expect(sheetName('x'.repeat(40), 1)).toBe(`${'x'.repeat(27)} (2)`)
    expect(sheetName(`${'x'.repeat(30)}😀`, 0)).toBe('x'.repeat(30))
  })

  it('have a header alone where there are no rows', async () => {
    const workbook = await workbookOf(statement('SELECT 1::BIGINT WHERE false', { 'a & b': 'integer' }))
    expect(workbook.worksheets[0]!.rowCount).toBe(1)
    expect(workbook.worksheets[0]!.getCell('A1').value).toBe('a & b')
  })

  it('have columns past Z', async () => {
    const names = Array.from({ length: 703 }, (_, index) => [`c${index}`, 'integer'] as const)
    const sql = `SELECT ${names.map((_, index) => `${index}::BIGINT`).join(', ')}`
    const sheet = (await workbookOf(statement(sql, Object.fromEntries(names)))).worksheets[0]!
    expect(['Z2', 'AA2', 'ZZ2', 'AAA2'].map((cell) => sheet.getCell(cell).value)).toEqual([25, 26, 701, 702])
  })
})

describe('a sheet looks', () => {
  const sheetOf = async (sql: string, columns: Record<string, ColumnType>, name?: string) =>
    (await workbookOf(statement(sql, columns), name)).worksheets[0]!

  it('as people expect: a bold header that stays in view, with filters', async () => {
    const sheet = await sheetOf('SELECT i, i FROM range(3) t(i)', { a: 'integer', b: 'integer' }, "it's")
    expect([1, 2].map((column) => sheet.getCell(1, column).font?.bold)).toEqual([true, true])
    expect(sheet.getCell(2, 1).font?.bold).toBeFalsy()
    expect(sheet.views[0]).toMatchObject({ state: 'frozen', ySplit: 1, topLeftCell: 'A2' })
    expect(sheet.autoFilter).toBe('A1:B4')
    const empty = await sheetOf('SELECT 1::BIGINT WHERE false', { n: 'integer' })
    expect([empty.autoFilter, empty.views[0]?.state]).toEqual(['A1:A1', 'frozen'])
  })

  it('with columns as wide as their first rows and names', async () => {
    const sheet = await sheetOf(
      `SELECT 'x', repeat('y', 30), repeat('語', 10), repeat('z', 9000), 'a' || chr(10) || 'bcd', true, 1::BIGINT FROM range(9)`,
      {
        t: 'string',
        longer: 'string',
        wide: 'string',
        longest: 'string',
        lines: 'string',
        'a column of a long name': 'boolean',
        n: 'integer',
      },
    )
    expect(sheet.columns.map((column) => column.width)).toEqual([6, 32, 22, 60, 9, 27, 12])
  })

  it('with the widths of the rows where a worker packs them', async () => {
    const query = statement("SELECT i, repeat('y', 30) FROM range(200000) t(i)", {
      n: 'integer',
      t: 'string',
    })
    for (const run of [1, 2]) {
      const xml = entryText(await bytesOf(executor, query, 'xlsx'), 'xl/worksheets/sheet1.xml')
      expect(xml.slice(0, 800), `run ${run}`).toContain('<col min="2" max="2" width="32" customWidth="1"/>')
    }
  })

  it('with all places of decimals, and long whole numbers with all digits', async () => {
    const sheet = await sheetOf(
      'SELECT 12.5::DECIMAL(9,2), 123456789012::BIGINT, 7::BIGINT, 3::DECIMAL(5,0)',
      {
        money: 'decimal(9,2)',
        long: 'integer',
        short: 'integer',
        whole: 'decimal(5,0)',
      },
    )
    expect([1, 2, 3, 4].map((column) => sheet.getCell(2, column).numFmt)).toEqual([
      '0.00',
      '0',
      undefined,
      '0',
    ])
    expect(sheet.getCell('A2').value).toBe(12.5)
  })
})

describe('a column with a value that is only exact as text', () => {
  it.each<[ColumnType, beyond: string, most: string]>([
    ['integer', '1000000000000000', '-999999999999999'],
    ['integer', '-9223372036854775808', '0'],
    ['double', "'NaN'", '1e300'],
    ['double', "'-Infinity'", '-1e-18'],
    ['decimal(18,2)', '-9007199254740993.25', '9999999999999.99'],
    ['decimal(38,0)', '10000000000000001', '-100000000000000000000000'],
    ['decimal(38,38)', '0.1234567890123456', '0.00000000000000000000000999999999999999'],
    ['date', "'1900-02-28'", "'1900-03-01'"],
    ['date', "'10000-01-01'", "'9999-12-31'"],
    ['timestamp', "'1900-02-28T23:59:59.999999'", "'1900-03-01'"],
    ['timestamp', "'10000-01-01'", "'9999-12-31T23:59:59'"],
    ['timestamptz', "'1900-02-28T23:59:59Z'", "'9999-12-31T23:59:59Z'"],
  ])('is text in all rows, and otherwise in none: %s with %s', async (type, beyond, most) => {
    const query = (...values: string[]) => {
      const casts = values.map((value) => `CAST(${value} AS ${sqlType(type)})`)
      return statement(`SELECT unnest([${casts.join(', ')}]), 5::BIGINT`, { a: type, n: 'integer' })
    }
    const textIn = (...values: string[]) =>
      requireSheet(query(...values), undefined, (check) => executor.rows(check))
    expect(await textIn(most, 'NULL', beyond)).toEqual(new Set([0]))
    expect(await textIn(most, 'NULL')).toEqual(new Set())
    expect(await textIn('NULL')).toEqual(new Set())
    const cells = async (textColumns: ReadonlySet<number>, ...values: string[]) => {
      const bytes = await bytesOf(executor, query(...values), 'xlsx', { textColumns })
      const xml = entryText(bytes, 'xl/worksheets/sheet1.xml')
      return [...xml.matchAll(/<c r="A[^1]\d*"[^>]*?(t="inlineStr")?>/g)].map((match) => match[1] ?? 'number')
    }
    expect(await cells(new Set([0]), most, beyond)).toEqual(['t="inlineStr"', 't="inlineStr"'])
    // What the check finds is what the encoder can't write as a number.
    expect(await cells(new Set(), most, beyond)).toEqual(['number', 't="inlineStr"'])
  })
})

describe('moments', () => {
  const numbersIn = (xml: string) => [...xml.matchAll(/<v>([^<]*)<\/v>/g)].map((match) => match[1]!)

  it('of whole seconds are the double that is nearest to them', async () => {
    const query = statement("SELECT TIME '00:00:00' + to_seconds(i) FROM range(86400) t(i)", { t: 'time' })
    const numbers = numbersIn(entryText(await bytesOf(executor, query, 'xlsx'), 'xl/worksheets/sheet1.xml'))
    expect(numbers).toHaveLength(86_400)
    expect(numbers.findIndex((text, second) => Number(text) !== second / 86_400)).toBe(-1)
    expect(numbers[7_200]).toMatch(/^0\.0833333333333333333/)
    expect(numbers[43_200]).toBe('0.5')
  })

  it('of days and seconds lie within a millionth of a second of the true one, and never a second before', async () => {
    const query = statement(`SELECT TIMESTAMP '2026-11-22 00:00:00' + to_seconds(i) FROM range(86400) t(i)`, {
      t: 'timestamp',
    })
    const numbers = numbersIn(entryText(await bytesOf(executor, query, 'xlsx'), 'xl/worksheets/sheet1.xml'))
    const day = 46_348
    expect(numbers[0]).toBe(String(day))
    const nearest = (second: number) => day + second / 86_400
    expect(numbers.findIndex((text, second) => Math.abs(Number(text) - nearest(second)) > 7.3e-12)).toBe(-1)
    const digits = numbers[7_200]!.split('.')[1]!
    expect(digits).toBe('083333333333333')
  })

  it('keep microseconds', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 86_399_999_999 }), { minLength: 1 }),
        async (micros) => {
          const list = micros.map((one) => `(${one}::BIGINT)`).join(', ')
          const sql = `SELECT TIME '00:00:00' + to_microseconds(m) FROM (VALUES ${list}) v(m)`
          const bytes = await bytesOf(executor, statement(sql, { t: 'time' }), 'xlsx')
          const numbers = numbersIn(entryText(bytes, 'xl/worksheets/sheet1.xml'))
          expect(numbers.map((text) => Math.round(Number(text) * 86_400_000_000))).toEqual(micros)
        },
      ),
      { numRuns: 30 },
    )
  })
})

describe('texts', () => {
  it('that are too long are cut where that is asked for, and say so', async () => {
    const sql = `SELECT CASE i WHEN 1 THEN repeat('é', 40000) WHEN 2 THEN repeat('<', 32768) ELSE repeat('é', 32767) END,
      repeat('x', 30000)::BLOB FROM range(3) t(i)`
    const query = statement(sql, { t: 'string', b: 'binary' })
    const workbook = new ExcelJS.Workbook()
    await workbook.xlsx.load(
      (await bytesOf(executor, query, 'xlsx', { overlong: 'cut' })) as unknown as ArrayBuffer,
    )
    const [whole, cut, escaped] = [2, 3, 4].map((row) =>
      String(workbook.worksheets[0]!.getCell(row, 1).value),
    )
    expect(whole).toBe('é'.repeat(32_767))
    expect(cut).toBe(`${'é'.repeat(32_741)}… [cut: 40,000 characters]`)
    expect(escaped).toBe(`${'<'.repeat(32_741)}… [cut: 32,768 characters]`)
    const base64 = Buffer.from('x'.repeat(30_000)).toString('base64')
    expect(workbook.worksheets[0]!.getCell('B2').value).toBe(
      `${base64.slice(0, 32_741)}… [cut: 40,000 characters]`,
    )
    expect(await problemOf(query, 'cut')).toBeUndefined()
  })

  it('are never formulas, and keep every character', async () => {
    const texts = [
      '=1+1',
      '+1',
      '@x',
      ' blanks ',
      'a\nb',
      '<&>"\'',
      'é😀\u{10ffff}',
      '\ue000\uff01',
      'a_b_x_y_',
    ]
    const sql = `SELECT unnest([${texts.map((_, index) => `$${index + 1}`).join(', ')}])`
    const sheet = (await workbookOf(statement(sql, { t: 'string' }, texts))).worksheets[0]!
    expect(texts.map((_, index) => sheet.getCell(index + 2, 1).value)).toEqual(texts)
  })

  it('have what XML can not hold escaped', async () => {
    const texts = ['\u0001', 'a\rb', '_x0041_', '\ufffe\uffff', '_x00zz_', '_x00aa\rb', '_x00bb\uffff_']
    const sql = `SELECT unnest([${texts.map((_, index) => `$${index + 1}`).join(', ')}])`
    const xml = entryText(
      await bytesOf(executor, statement(sql, { t: 'string' }, texts), 'xlsx'),
      'xl/worksheets/sheet1.xml',
    )
    expect([...xml.matchAll(/<t>([^<]*)<\/t>/g)].map((match) => match[1])).toEqual([
      'a_x000D_b',
      '_x005F_x0041_',
      '_xFFFE__xFFFF_',
      '_x00zz_',
      // What is escaped begins with an underscore, which would end the escape before it.
      '_x005F_x00aa_x000D_b',
      '_x005F_x00bb_xFFFF__',
    ])
    expect(xml).toContain('<t xml:space="preserve">_x0001_</t>')
  })

  it('that a cell can not hold are found before the first byte', async () => {
    const lengths = [32_767, 40_000]
    const sql = `SELECT i, CASE i WHEN 70000 THEN repeat('é', 40000) WHEN 60000 THEN repeat('é', 32767) END FROM range(100000) t(i)`
    const query = statement(sql, { n: 'integer', text: 'string' })
    expect(await problemOf(query)).toMatch(
      /holds 32,767 characters, but row 70,001, column 'text' has 40,000/,
    )
    expect(lengths[0]).toBe(32_767)
    const astral = (count: number) => statement(`SELECT repeat('😀', ${count})`, { t: 'string' })
    expect(await problemOf(astral(16_383))).toBeUndefined()
    expect(await problemOf(astral(16_384))).toMatch(/row 1, column 't' has 32,768/)
    const binary = (count: number) => statement(`SELECT repeat('x', ${count})::BLOB`, { b: 'binary' })
    expect(await problemOf(binary(24_573))).toBeUndefined()
    expect(await problemOf(binary(24_574))).toMatch(/column 'b' has 32,768/)
    await expect(bytesOf(executor, query, 'xlsx')).rejects.toMatchObject({ code: 'not_representable' })
  })

  it('that are too many columns likewise', async () => {
    const names = Array.from({ length: 16_385 }, (_, index) => [`c${index}`, 'integer'] as const)
    const query = statement('SELECT 1', Object.fromEntries(names))
    expect(await problemOf(query)).toMatch(/room for 16,384 columns, the result has 16,385/)
    await expect(executor.bytes(query, 'xlsx')).rejects.toMatchObject({ code: 'not_representable' })
  })
})

describe('the container', () => {
  it('joins checksums of parts', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.uint8Array({ maxLength: 300 }), (a, b) => {
        expect(combineCrc(crc32(a), crc32(b), b.length)).toBe(crc32(Buffer.concat([a, b])))
      }),
    )
  })

  it('has entries in parts, as one stream each', () => {
    const out = new Output(64)
    const zip = new ZipWriter()
    zip.beginEntry('ä.txt', out)
    zip.part(deflate(Buffer.from('one, '), false), out)
    zip.part(deflate(Buffer.from('two'), true), out)
    zip.endEntry(out)
    zip.file('b.txt', '', out)
    zip.end(out)
    expect(entryText(Buffer.from(out.written()), 'ä.txt')).toBe('one, two')
    expect(entryText(Buffer.from(out.written()), 'b.txt')).toBe('')
  })

  it('takes the zip64 form past 4 GiB', () => {
    const out = new Output(64)
    const zip = new ZipWriter()
    const huge = 5 * 2 ** 32 + 7
    zip.beginEntry('huge', out)
    zip.part({ bytes: new Uint8Array(3), crc: 1, length: huge }, out)
    zip.endEntry(out)
    zip.end(out)
    const bytes = Buffer.from(out.written())
    const entry = bytes.indexOf(Buffer.from([0x50, 0x4b, 1, 2]))
    expect(bytes.readUInt32LE(entry + 24)).toBe(0xffffffff)
    const extra = entry + 46 + 'huge'.length
    expect([bytes.readUInt16LE(extra), bytes.readUInt16LE(extra + 2)]).toEqual([1, 8])
    expect(bytes.readBigUInt64LE(extra + 4)).toBe(BigInt(huge))
    const descriptor = bytes.indexOf(Buffer.from([0x50, 0x4b, 7, 8]))
    expect(bytes.readBigUInt64LE(descriptor + 8)).toBe(3n)
    expect(bytes.readBigUInt64LE(descriptor + 16)).toBe(BigInt(huge))
  })
})

/** An entry's text, found through the directory. */
function entryText(zip: Buffer, name: string): string {
  const end = zip.lastIndexOf(Buffer.from([0x50, 0x4b, 5, 6]))
  let at = zip.readUInt32LE(end + 16)
  for (let left = zip.readUInt16LE(end + 10); left > 0; left--) {
    const [nameLength, extra] = [zip.readUInt16LE(at + 28), zip.readUInt16LE(at + 30)]
    const found = zip.toString('utf8', at + 46, at + 46 + nameLength)
    if (found === name) {
      const local = zip.readUInt32LE(at + 42)
      const start = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28)
      const data = inflateRawSync(zip.subarray(start, start + zip.readUInt32LE(at + 20)))
      expect(crc32(data)).toBe(zip.readUInt32LE(at + 16))
      expect(data.length).toBe(zip.readUInt32LE(at + 24))
      return data.toString()
    }
    at += 46 + nameLength + extra
  }
  throw new Error(`${name} is not in the container`)
}

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { EngineError } from '../../engine/errors.ts'
import { column, useBench } from './support/helper.ts'
import { zipOf } from './support/zips.ts'
import { workbook } from './xlsx/workbooks.ts'

const bench = useBench()
const CSV = 'a,b\n1,x\n2,y\n'
const BOOK = () =>
  workbook((sheet) => {
    sheet.addRow(['n'])
    sheet.addRow([7])
  })

describe('a zip archive with one table', () => {
  test('is read as that table, whatever lies beside it', async () => {
    const file = await zipOf({
      'readme.md': '# no',
      '__MACOSX/._t.csv': 'x',
      'data/.t.csv': 'x',
      't.csv': CSV,
    })
    const { shape, values, entry, entries } = await bench.read('zip', file)
    expect(shape).toEqual(['a: integer', 'b: string'])
    expect(values).toEqual([
      ['1', 'x'],
      ['2', 'y'],
    ])
    expect([entry, entries]).toEqual(['t.csv', ['t.csv']])
  })

  test('may hold a workbook, Parquet or packed text', async () => {
    const { part } = await bench.read('csv', CSV)
    const book = await BOOK()
    expect((await bench.read('zip', await zipOf({ 'b.xlsx': book }))).values).toEqual([['7']])
    expect((await bench.read('zip', await zipOf({ 'b.csv.gz': gzipSync(CSV) }))).rows).toBe(2)
    const inside = await bench.read('zip', await zipOf({ 'b.parquet': readFileSync(part) }))
    expect(inside.rows).toBe(2)
  })

  test('has its format by its first bytes where its name does not show it', async () => {
    expect((await bench.read('zip', await zipOf({ 'EXPORT.DAT': CSV }))).rows).toBe(2)
    expect((await bench.read('zip', await zipOf({ export: await BOOK() }))).values).toEqual([['7']])
  })

  test('takes the options of its format, and no others', async () => {
    const file = await zipOf({ 't.csv': 'a;b\n1;2\n' })
    expect((await bench.read('zip', file, { options: { delimiter: ';' } })).shape).toHaveLength(2)
    const { options } = await bench.read('zip', file, { options: { dialect: 'auto', entry: 't.csv' } })
    expect(options).toEqual({ delimiter: ';', entry: 't.csv' })
    expect(await bench.refusal('zip', file, { options: { sheet: 'a' } })).toBe(
      '400 invalid_option: sheet is for xlsx, xls, xlsb and ods; the format is csv.',
    )
    const { part } = await bench.read('csv', CSV)
    const parquet = await zipOf({ 'b.parquet': readFileSync(part) })
    expect((await bench.read('zip', parquet, { options: { dialect: 'auto' } })).rows).toBe(2)
  })
})

describe('a zip archive with several tables', () => {
  const files = { 'a.csv': CSV, 'sub/b.json': '[{"n":1}]', 'notes.txt': 'no table' }

  test('is read by the name of one', async () => {
    const { values, entry } = await bench.read('zip', await zipOf(files), {
      options: { entry: 'sub/b.json' },
    })
    expect([values, entry]).toEqual([[['1']], 'sub/b.json'])
    const plain = await bench.read('zip', await zipOf(files), { options: { entry: 'notes.txt' } })
    expect(plain.shape).toEqual(['no table: string'])
  })

  test('is refused with their names', async () => {
    const file = bench.file(await zipOf(files))
    const error = await bench.readFile('zip', file).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(EngineError)
    expect(error).toMatchObject({
      code: 'invalid_upload',
      message:
        'The archive holds several tables: name one of "a.csv", "sub/b.json" with entry=, or read all of them with entry=*.',
      details: { option: 'entry', entries: ['a.csv', 'sub/b.json'] },
    })
    expect(await bench.refusal('zip', await zipOf(files), { options: { entry: 'c.csv' } })).toBe(
      '400 invalid_upload: The archive has no file "c.csv"; it has "a.csv", "sub/b.json".',
    )
  })
})

describe('all tables of an archive', () => {
  const all = (options = {}) => ({ options: { entry: '*', ...options } })

  test('are read one after the other, in the types of the first', async () => {
    const file = await zipOf({
      'b.csv': 'n,t\n2,x\n1,y\n',
      'readme.md': '# no',
      'a.ndjson': '{"t":"z","n":3}',
    })
    const { shape, values, rows, entries, entry } = await bench.read('zip', file, all())
    expect(shape).toEqual(['n: integer', 't: string'])
    expect(values).toEqual([
      ['2', 'x'],
      ['1', 'y'],
      ['3', 'z'],
    ])
    expect({ rows, entries, entry }).toEqual({ rows: 3, entries: ['b.csv', 'a.ndjson'], entry: undefined })
  })

  test('may add columns where these may be added, and lack some where that is allowed', async () => {
    const file = await zipOf({ 'a.csv': 'n\n1\n', 'b.csv': 'n,t\n2,x\n', 'c.csv': 't,n\ny,3\n' })
    const existing = [column('n', 'integer')]
    expect(await bench.refusal('zip', file, all())).toContain('"b.csv": The upload has a column "t"')
    const { shape, values } = await bench.read('zip', file, { ...all(), existing, addColumns: true })
    expect(shape).toEqual(['n: integer', 't: string'])
    expect(values).toEqual([
      ['1', null],
      ['2', 'x'],
      ['3', 'y'],
    ])
    const fewer = await zipOf({ 'a.csv': 'n,t\n1,x\n', 'b.csv': 'n\n2\n' })
    expect(await bench.refusal('zip', fewer, all())).toContain('"b.csv": The upload lacks the column "t"')
    expect((await bench.read('zip', fewer, { ...all(), missing: 'null' })).values).toEqual([
      ['1', 'x'],
      ['2', null],
    ])
    expect(await bench.refusal('zip', fewer, { ...all(), existing, missing: 'keep' })).toBe(
      '400 invalid_option: An upsert of several files needs missing=null.',
    )
  })

  test('are one with the fault of the file that has it, and nothing is left', async () => {
    const file = await zipOf({ 'a.csv': 'n\n1\n', 'b.csv': 'n\nx\n' })
    expect(await bench.refusal('zip', file, all())).toBe(
      '400 invalid_upload: "b.csv": Row 1, column "n": "x" is not an integer. The columns are those of "a.csv", unless they are declared before.',
    )
    expect(await bench.refusal('zip', gzipSync('a\n1\n'), all())).toContain('no archive of several')
  })

  test('are read with the options that fit to their formats', async () => {
    const file = await zipOf({ 'a.csv': 'n;t\n1,5;x\n', 'b.xlsx': await BOOK() })
    const given = { ...all({ dialect: 'auto' }), missing: 'null' } as const
    expect((await bench.read('zip', file, given)).values).toEqual([
      ['1.5', 'x'],
      ['7.0', null],
    ])
    const alike = await zipOf({ 'a.csv': 'n;t\n1,5;x\n', 'b.csv': 'n;t\n2,25;y\n' })
    expect((await bench.read('zip', alike, all({ dialect: 'auto' }))).options).toEqual({
      decimal: ',',
      delimiter: ';',
      entry: '*',
    })
  })

  test('are at most five thousand', async () => {
    const names = Array.from({ length: 5_001 }, (_, at) => `${at}.csv`)
    const file = await zipOf(Object.fromEntries(names.map((name) => [name, 'n\n1\n'])))
    expect(await bench.refusal('zip', file, all())).toBe(
      '400 invalid_upload: The archive holds 5001 tables, and at most 5000 are read as one. Send them in several archives.',
    )
  })

  test('can have their names in a column', async () => {
    const file = await zipOf({ 'a.csv': 'n\n1\n', 'sub/b.csv': 'n\n2\n' })
    const { shape, values } = await bench.read('zip', file, { ...all(), fileColumn: { column: 'file' } })
    expect(shape).toEqual(['n: integer', 'file: string'])
    expect(values).toEqual([
      ['1', 'a.csv'],
      ['2', 'sub/b.csv'],
    ])
  })
})

test('a workbook and an archive are told apart by what they hold', async () => {
  expect((await bench.read('zip', await BOOK())).sheet).toBe('first')
  expect((await bench.read('xlsx', await zipOf({ 't.csv': CSV }))).entry).toBe('t.csv')
  expect(await bench.refusal('csv', await zipOf({ 't.csv': CSV }))).toBe(
    '400 invalid_upload: The file is a zip archive: send it as zip.',
  )
})

describe('a zip archive is refused', () => {
  test('where it unpacks to more than the limit', async () => {
    const file = await zipOf({ 't.csv': `a\n${'0\n'.repeat(100_000)}` })
    expect(await bench.refusal('zip', file, { limits: { unpackedBytes: 50_000 } })).toBe(
      '413 upload_too_large: The upload unpacks to more than 50000 bytes.',
    )
  })

  test('where it holds nothing or another archive', async () => {
    expect(await bench.refusal('zip', await zipOf({}))).toContain('The archive holds no file.')
    expect(await bench.refusal('zip', await zipOf({ 'a.zip': await zipOf({ 't.csv': CSV }) }))).toContain(
      '"a.zip" is packed itself: unpack the outer file.',
    )
  })

  test('where it is damaged, cut off or encrypted', async () => {
    const file = await zipOf({ 't.csv': CSV })
    const message = 'The file is not a zip archive, or is cut off.'
    expect(await bench.refusal('zip', file.subarray(0, -9))).toContain(message)
    expect(await bench.refusal('zip', CSV)).toContain(message)
    const locked = Buffer.from(file)
    const directory = locked.indexOf('PK\x01\x02')
    locked[directory + 8]! |= 1
    expect(await bench.refusal('zip', locked)).toContain('The archive is encrypted.')
    const damaged = Buffer.from(file)
    damaged[35 + 't.csv'.length]! ^= 0xff
    expect(await bench.refusal('zip', damaged)).toMatch(/400 invalid_upload: The archive is damaged: t\.csv /)
  })
})

describe('a file that is compressed alone', () => {
  test.each([
    ['gzip', gzipSync],
    ['zstd', zstdCompressSync],
  ])('with %s is read as what it holds', async (_, compress) => {
    const text = await bench.read('zip', compress('a;b\n1,5;x\n'), { options: { dialect: 'auto' } })
    expect([text.shape, text.values, text.entries]).toEqual([
      ['a: double', 'b: string'],
      [['1.5', 'x']],
      undefined,
    ])
    const book = compress(readFileSync(join(import.meta.dirname, 'fixtures', 'pandas.ods')))
    expect((await bench.read('zip', book)).rows).toBe(7)
    expect((await bench.read('zip', compress('{"a":1}\n{"a":2}\n'))).values).toEqual([['1'], ['2']])
  })

  test('is refused where it is cut off, expands too far, or is compressed twice', async () => {
    const packed = zstdCompressSync(Buffer.from('a,b\n'.repeat(9999)))
    expect(await bench.refusal('zip', packed.subarray(0, -9))).toBe(
      '400 invalid_upload: The zstd data are damaged or cut off.',
    )
    const bomb = zstdCompressSync(Buffer.alloc(150 << 20, 'a'))
    expect(await bench.refusal('zip', bomb)).toContain(
      '413 upload_too_large: The upload unpacks to more than',
    )
    expect(await bench.refusal('zip', gzipSync(gzipSync('a\n1\n')))).toContain(
      'is packed itself: unpack the outer',
    )
    expect(await bench.refusal('zip', gzipSync('a\n1\n'), { options: { entry: 'a' } })).toContain(
      'no archive of several',
    )
    expect(await bench.refusal('csv', packed)).toContain('compressed with zstd: send it as zip')
  })
})

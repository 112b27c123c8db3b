import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { foreignNamed } from '../../engine/ingest/upload-format.ts'
import { useBench } from './support/helper.ts'

const bench = useBench()
const LFS = `version https://git-lfs.github.com/spec/v1\noid sha256:${'4d'.repeat(32)}\nsize 12345\n`
const PARQUET = Buffer.from('PAR1\x15\x04\x15\x10', 'latin1')
const SQLITE = Buffer.from('SQLite format 3\0\x10\0\x01\x01', 'latin1')

/** A compound file whose directory, in the second sector of 512 bytes, has one stream. */
function compound(stream: string): Buffer {
  const file = Buffer.alloc(1536)
  file.set(Buffer.from('d0cf11e0a1b11ae1', 'hex'))
  file.writeUInt16LE(9, 30)
  file.writeUInt32LE(1, 48)
  file.write(stream, 1152, 'utf16le')
  return file
}

describe('a file of another kind is named before any column is made:', () => {
  test.each<[string, string | Buffer, RegExp]>([
    ['an error as JSON', '{"error":"not found"}', /^.*The file is JSON: send it as json/],
    ['JSON over many lines', '\ufeff{\n  "a": 1,\n  "b": 2\n}\n', /The file is JSON: /],
    ['a list of objects', `[{"a": 1}, ${'{"a": 2}, '.repeat(2000)}{"a": 3}]`, /The file is JSON: /],
    ['a list of lists', '[[1,2],[3,4]]', /The file is JSON: /],
    ['objects with commas between lines', '{"a":1},\n{"a":2},\n', /The file is JSON: /],
    ['ndjson', '{"a":1}\n{"a":2}\n', /JSON with one value per line: send it as ndjson/],
    ['HTML', '<!DOCTYPE html>\n<html lang="en"><body>Sign in</body></html>', /a web page \(HTML\)/],
    ['HTML without its type', '<html>\n<head><title>404</title></head></html>', /a web page \(HTML\)/],
    [
      'a table',
      '<table border=1>\n<tr><td>a</td></tr></table>',
      /a web page \(HTML\) with a table, perhaps .*: send it as html/,
    ],
    [
      'a table in a page',
      '<html><body><TABLE><tr><td>a</td></tr></TABLE></body></html>',
      /HTML\) with a table/,
    ],
    ['HTML behind a comment', '<!-- x -->\n<html xmlns="http://x">Sorry, no</html>', /a web page \(HTML\)/],
    ['XML', '<?xml version="1.0"?>\n<Error><Code>NoSuchKey</Code></Error>', /The file is XML/],
    ['XML without a declaration', '<feed xmlns="http://www.w3.org/2005/Atom"><id>1</id></feed>', /is XML/],
    ['a PDF', '%PDF-1.7\n%\xe2\xe3\n1 0 obj\n', /a PDF document: send the table itself/],
    ['a pointer of Git LFS', LFS, /a pointer of Git LFS, not its content: get the file with git lfs pull/],
    ['Parquet', PARQUET, /The file is Parquet: send it as parquet/],
    ['SQLite', SQLITE, /an SQLite database: send it as sqlite/],
    ['DuckDB', Buffer.from('\0\0\0\0\0\0\0\0DUCK'), /a DuckDB database: send it as duckdb/],
    ['SPSS', '$FL2@(#) SPSS DATA FILE', /an SPSS file \(sav\): send it as sav/],
    ['Stata', '<stata_dta><header>', /a Stata file \(dta\): convert it.*read_stata/],
    ['Stata 12', Buffer.from('s\x02\x01\0'), /a Stata file/],
    ['SAS', Buffer.from('000000000000000000000000c2ea8160', 'hex'), /a SAS file .*read_sas7bdat/],
    ['SAS transport', 'HEADER RECORD*******LIBRARY', /a SAS transport file .*read_xport/],
    ['R', Buffer.from('X\n\0\0\0\x03\0'), /a file of R: convert it in R/],
    ['gzip', gzipSync('a,b\n1,2\n'), /compressed with gzip: unpack it/],
    ['xz', Buffer.from('fd377a585a000004', 'hex'), /compressed with xz: unpack it with unxz/],
    ['bzip2', Buffer.from('BZh91AY&SY'), /compressed with bzip2: unpack it with bunzip2/],
    ['UTF-16 JSON', Buffer.from('\ufeff{"error":"not found"}', 'utf16le'), /The file is JSON: /],
  ])('%s', async (_, file, says) => {
    for (const format of ['csv', 'tsv'] as const) {
      for (const options of [{}, { dialect: 'auto' }, { header: 'absent' }] as const) {
        expect(await bench.refusal(format, file, { options })).toMatch(says)
      }
    }
  })

  test.each(['parquet', 'arrow', 'xlsx', 'json', 'ndjson'] as const)('as %s too', async (format) => {
    expect(await bench.refusal(format, LFS)).toContain('a pointer of Git LFS')
    expect(await bench.refusal(format, '<html><body>Sign in</body></html>')).toContain('a web page')
    expect(await bench.refusal(format, SQLITE)).toContain('an SQLite database')
    const says = format === 'xlsx' ? 'The workbook is damaged' : 'of the old format xls: send it as xls'
    expect(await bench.refusal(format, compound('Workbook'))).toContain(says)
    const locked = await bench.refusal(format, compound('EncryptedPackage'))
    expect(locked).toContain('protected by a password: remove the password and save it as xlsx')
  })
})

test.each([
  ['a.DTA', 'it is a Stata file (dta): convert it, for example with pandas: pandas.read_stata('],
  [
    'a.sas7bdat',
    'it is a SAS file (sas7bdat): convert it, for example with pyreadstat: pyreadstat.read_sas7bdat(',
  ],
  ['a.RData', 'it is a file of R: convert it in R: arrow::write_parquet(readRDS('],
  ['a.doc', undefined],
  ['constructor', undefined],
])('the name %s says how to convert a file of a program for statistics', (name, sentence) => {
  if (sentence === undefined) expect(foreignNamed(name)).toBeUndefined()
  else expect(foreignNamed(name)).toContain(sentence)
})

describe('csv that begins like another kind is read:', () => {
  test.each<[string, string]>([
    ['ranges', '<5,5-10,>10\n1,2,3\n'],
    ['braces', '{id},name\n1,x\n'],
    ['brackets', '[id],[name]\n1,x\n'],
    ['empty brackets', '[],{}\n1,2\n'],
    ['an object as the first of two fields', '{"a":1},n\nx,2\n'],
    ['JSON in quotes behind a header', 'doc\n"{""a"":1}"\n"{""a"":2}"\n'],
    ['plain JSON behind a header', 'doc\n{"a":1}\n{"a":2}\n'],
    ['a quoted JSON header', '"{""a"":1}"\n1\n'],
    ['the word PDF', '%PDF price\n1\n'],
    ['a version', 'version https\n1\n'],
    ['the address of LFS', 'version https://git-lfs.github.com/spec/v1,n\n1,2\n'],
    ['tags', '<html>,<body>\n1,2\n'],
    ['one tag', '<head>\n1\n'],
    ['the word body', '<body mass index>,n\n1,2\n'],
    ['a tag of another kind', '<b>n</b>,x\n1,2\n'],
    ['error in a comparison', '<error>,n\n<html></html>,2\n'],
    ['PAR1', 'PAR1,PAR2\n1,2\n'],
    ['SQLite', 'SQLite format 3,n\n1,2\n'],
  ])('%s', async (_, file) => {
    for (const options of [{}, { dialect: 'auto' }] as const) {
      const { columns } = await bench.read('csv', file, { options })
      expect(columns.length).toBeGreaterThan(0)
    }
  })
})

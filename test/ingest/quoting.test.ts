import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Requoter, requoted } from '../../engine/ingest/csv/quoting.ts'
import type { UploadOptions } from '../../engine/ingest/request.ts'
import { useBench } from './support/helper.ts'

const bench = useBench()

const read = async (text: string, options: UploadOptions, format: 'csv' | 'tsv' = 'csv') => {
  const { values, options: chosen, why } = await bench.read(format, text, { options })
  return { values, chosen, why }
}

const SPARK = 'a,b\n1,"x \\"y\\" z"\n2,"p, \\\\"\n3,C:\\temp\n'
const SPARK_VALUES = [
  ['1', 'x "y" z'],
  ['2', 'p, \\'],
  ['3', 'C:\\temp'],
]
const POSTGRES = 'a\tb\tc\n1\t\\N\tx\\ty\\\\z\\nw\n2\tN\t\n'
const POSTGRES_VALUES = [
  ['1', null, 'x\ty\\z\nw'],
  ['2', 'N', ''],
]
const MYSQL = 'a,b\n1,\\N\n2,x\\,y\n3,"q \\"r\\""\n'
const MYSQL_VALUES = [
  ['1', null],
  ['2', 'x,y'],
  ['3', 'q "r"'],
]
const SINGLE = "a,b\n1,'x, y'\n2,'it''s'\n3,\"z\"\n"
const SINGLE_VALUES = [
  ['1', 'x, y'],
  ['2', "it's"],
  ['3', '"z"'],
]

describe('quotes and escapes of other programs', () => {
  test.each([
    ['Spark', 'csv', SPARK, { escape: '\\' }, SPARK_VALUES],
    ['PostgreSQL', 'tsv', POSTGRES, { escape: 'backslash' }, POSTGRES_VALUES],
    ['MySQL', 'csv', MYSQL, { escape: 'backslash' }, MYSQL_VALUES],
    ['single quotes', 'csv', SINGLE, { quotes: "'" }, SINGLE_VALUES],
  ] as const)('of %s are read with their options, and found by dialect=auto', async (_, format, text, options, values) => {
    expect((await read(text, options, format)).values).toEqual(values)
    const auto = await read(text, { dialect: 'auto' }, format)
    expect([auto.values, auto.chosen]).toEqual([values, options])
    expect(auto.why).toEqual([{ option: Object.keys(options)[0], row: 0, value: expect.any(String) }])
  })

  test('are found with other delimiters', async () => {
    const { values, chosen } = await read(SINGLE.replaceAll(',', ';'), { dialect: 'auto' })
    expect(chosen).toEqual({ quotes: "'", delimiter: ';' })
    expect(values[0]).toEqual(['1', 'x; y'])
  })

  test.each([
    ['paths of Windows beside words for nothing', 'a,b\n1,\\N\n2,C:\\new\\table\n', 'C:\\new\\table'],
    ['apostrophes', "a,b\n1,x\n2,'tis\n", "'tis"],
    ['a backslash at the end of a field in quotes', 'a,b\n1,x\n2,"C:\\"\n', 'C:\\'],
  ])('are not found in %s', async (_, text, value) => {
    const { values, chosen } = await read(text, { dialect: 'auto' })
    expect(values[1]?.[1]).toBe(value)
    expect(chosen).not.toHaveProperty('escape')
    expect(chosen).not.toHaveProperty('quotes')
  })

  test('that are not closed are errors, and so is text behind them', async () => {
    expect(await bench.refusal('csv', "a\n'x\n", { options: { quotes: "'" } })).toContain(
      'a quoted field is not closed',
    )
    expect(await bench.refusal('csv', "a,b\n'x'y,1\n", { options: { quotes: "'" } })).toContain(
      'text after the closing quote of field 1',
    )
  })

  test('are for delimiters of one byte', async () => {
    expect(await bench.refusal('csv', 'a§b\n1§2\n', { options: { quotes: "'", delimiter: '§' } })).toBe(
      '400 invalid_option: quotes and escape are for delimiters of ASCII.',
    )
  })
})

describe('lines that end with CR', () => {
  test.each([{}, { dialect: 'auto' }, { delimiter: ',' }] as const)('are read: %j', async (options) => {
    expect((await read('\ufeffa,b\r1,"x\ry"\r2,z\r', options)).values).toEqual([
      ['1', 'x\ry'],
      ['2', 'z'],
    ])
  })

  test('are not, where others end with LF', async () => {
    expect(await bench.refusal('csv', 'a,b\r1,2\n3,4\n')).toContain('carriage return')
  })
})

/** Fields as programs write them with each of the options. */
const WRITERS: Readonly<Record<string, readonly [UploadOptions, (text: string) => string]>> = {
  spark: [{ escape: '\\' }, (text) => `"${text.replace(/["\\]/g, '\\$&')}"`],
  postgres: [
    { escape: 'backslash' },
    (text) =>
      text
        .replace(/[\\,"']/g, '\\$&')
        .replaceAll('\n', '\\n')
        .replaceAll('\r', '\\r'),
  ],
  single: [{ quotes: "'" }, (text) => `'${text.replaceAll("'", "''")}'`],
}

test.each(Object.entries(WRITERS))('any text is the same in RFC 4180, in pieces of any length: %s', (_, [
  options,
  write,
]) => {
  const text = fc.array(fc.constantFrom('a', 'é', '"', "'", ',', '\\', '\n', '\r', 'N', 'n'), {
    maxLength: 8,
  })
  const table = fc.array(fc.tuple(text, text), { minLength: 1, maxLength: 5 })
  fc.assert(
    fc.property(table, fc.integer({ min: 1, max: 7 }), (rows, length) => {
      const fields = rows.map((row) => row.map((characters) => characters.join('')))
      const written = Buffer.from(fields.map((row) => `${row.map(write).join(',')}\n`).join(''))
      const requoter = new Requoter(options, ',')
      const pieces = Array.from({ length: Math.ceil(written.length / length) }, (_, at) =>
        Buffer.from(requoter.push(written.subarray(at * length, (at + 1) * length), false)),
      )
      pieces.push(Buffer.from(requoter.push(Buffer.alloc(0), true)))
      const found = Buffer.concat(pieces).toString()
      const plain = (text: string) => `"${text.replaceAll('"', '""')}"`
      const unquoted = (csv: string) =>
        csv.replace(/("(?:[^"]|"")*")|([^",\n][^,\n]*)/g, (_, quoted, bare) => quoted ?? plain(bare))
      expect(unquoted(found)).toBe(fields.map((row) => `${row.map(plain).join(',')}\n`).join(''))
    }),
    { numRuns: 500 },
  )
})

test('a file of RFC 4180 stays as it is', () => {
  for (const text of ['a,b\n1,2\n', 'a,"b ""c"""\r\n1,"x\r\ny"\n', 'a\n\n1', ''])
    expect(requoted(text, {}, ',')).toBe(text.replace(/(?<!x)\r\n/g, '\n'))
})

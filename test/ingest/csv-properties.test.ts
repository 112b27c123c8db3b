import fc from 'fast-check'
import { expect, test } from 'vitest'
import { CsvScan } from '../../engine/ingest/csv/scan.ts'
import { Tokenizer } from '../../engine/ingest/csv/tokenizer.ts'
import { useBench } from './support/helper.ts'

const bench = useBench()
const runs = Number(process.env['PARQUETRY_PROPERTY_RUNS'] ?? 150)

/** Texts made of what csv readers stumble over. */
const text = fc
  .array(
    fc.constantFrom(
      'a',
      '7',
      '-',
      '.',
      ' ',
      '"',
      ',',
      '\n',
      '\r\n',
      '\r',
      '\t',
      'é',
      '😀',
      'true',
      '\u0000',
      '#',
      '\\',
    ),
    {
      maxLength: 6,
    },
  )
  .map((parts) => parts.join(''))
const cell = fc.oneof({ weight: 4, arbitrary: text }, { weight: 1, arbitrary: fc.constant(null) })
const table = fc
  .integer({ min: 1, max: 4 })
  .chain((width) =>
    fc.array(fc.array(cell, { minLength: width, maxLength: width }), { minLength: 1, maxLength: 12 }),
  )

/** RFC 4180; `always` puts quotes around every text. */
function written(value: string | null, always: boolean): string {
  if (value === null) return ''
  return always || value === '' || /["\r\n,]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value
}

test('every table that is written as csv is read as it was', async () => {
  await fc.assert(
    fc.asyncProperty(
      table,
      fc.constantFrom('\n', '\r\n'),
      fc.boolean(),
      fc.boolean(),
      async (rows, end, always, open) => {
        const names = rows[0]!.map((_, index) => `n${index}`)
        const lines = [
          names.join(','),
          ...rows.map((row) => row.map((value) => written(value, always)).join(',')),
        ]
        // A null alone on the last line is not to be told from no line.
        const last = open && lines.at(-1) !== '' ? '' : end
        const existing = names.map(
          (name) => ({ name, type: 'string', nullable: true, description: '' }) as const,
        )
        const { values } = await bench.read('csv', lines.join(end) + last, { existing })
        expect(values).toEqual(rows)
      },
    ),
    { numRuns: runs },
  )
})

test('it makes no difference where a file is cut into buffers', () => {
  fc.assert(
    fc.property(
      table,
      fc.constantFrom('\n', '\r\n'),
      fc.boolean(),
      fc.integer({ min: 1, max: 40 }),
      (rows, end, always, size) => {
        const lines = rows.map((row) => row.map((value) => written(value, always)).join(','))
        const bytes = Buffer.from(lines.join(end) + end)
        const fields = rows[0]!.map((_, index) => ({ name: `n${index}`, type: undefined, nullable: true }))
        const whole = new CsvScan(fields, ',', 'none')
        whole.feed(Buffer.concat([bytes, Buffer.alloc(1)]), bytes.length, true)
        const pieces = new CsvScan(fields, ',', 'none')
        let held = Buffer.alloc(0)
        for (let at = 0; ; at += size) {
          const final = at >= bytes.length
          const piece = Buffer.concat([held, bytes.subarray(at, at + size), Buffer.alloc(1)])
          const used = pieces.feed(piece, piece.length - 1, final)
          held = Buffer.from(piece.subarray(used, piece.length - 1))
          if (final) break
        }
        expect(held.length).toBe(0)
        expect(pieces.findings).toEqual(whole.findings)
        expect(pieces.mixedNewlines).toBe(whole.mixedNewlines)
      },
    ),
    { numRuns: 20 * runs },
  )
})

/** The records of csv that arrives in pieces of this many bytes, or the message about what is wrong with it. */
function recordsIn(bytes: Buffer, delimiter: string, size: number): unknown {
  const tokenizer = new Tokenizer(delimiter, (what, field) => new Error(`${field}: ${what}`))
  const records: unknown[] = []
  let held = Buffer.alloc(0)
  try {
    for (let at = 0; ; at += size) {
      const piece = Buffer.concat([held, bytes.subarray(at, at + size), Buffer.alloc(1)])
      const [end, final] = [piece.length - 1, at + size >= bytes.length]
      let from = 0
      for (let next: number; (next = tokenizer.read(piece, from, end, final)) > from; from = next) {
        const { count, newline, kinds } = tokenizer
        records.push([tokenizer.fields(piece), newline, [...kinds.subarray(0, count)]])
      }
      held = Buffer.from(piece.subarray(from, end))
      if (final) return [records, held.length]
    }
  } catch (error) {
    return [records, String(error)]
  }
}

test('records of any bytes, even malformed ones, are the same wherever they are cut', () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof(text, fc.constantFrom('§', '\u00a6', '""', ',')), { maxLength: 8 }),
      fc.boolean(),
      fc.constantFrom(',', '§', '\t'),
      (parts, isCut, delimiter) => {
        const bytes = Buffer.from(parts.join('')).subarray(0, isCut ? -1 : undefined)
        const whole = recordsIn(bytes, delimiter, 1000)
        for (let size = 1; size < bytes.length; size++) {
          expect(recordsIn(bytes, delimiter, size)).toEqual(whole)
        }
      },
    ),
    { numRuns: 5 * runs },
  )
})

test('quoted line ends survive wherever they stand in a large file', async () => {
  const rows = Array.from({ length: 120_000 }, (_, index) =>
    index % 3 === 0 ? [`a "${index}"\n`, ',\r\n"'] : [String(index), 'x'.repeat(index % 150)],
  )
  const csv = rows.map((row) => row.map((value) => written(value, false)).join(',')).join('\n')
  const { rows: count, part } = await bench.ingest('csv', bench.file(`p,q\n${csv}\n`))
  expect(count).toBe(rows.length)
  const sums = await bench.query(
    `SELECT count(*) FILTER (c0 = 'a "' || file_row_number || '"' || chr(10) AND c1 = ',' || chr(13) || chr(10) || '"'),
      count(*) FILTER (c0 = file_row_number::VARCHAR AND c1 = repeat('x', file_row_number % 150)) FROM '${part}'`,
  )
  expect(sums).toEqual([[40_000n, 80_000n]])
})
